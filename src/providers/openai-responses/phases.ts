/**
 * Phases of the assistant's messages. From gpt-5.3-codex on OpenAI wants them on all messages of a history: without them a model may
 * take a comment for its answer, and stop early. Clients of other dialects have no word for them, but the calls beside the words tell.
 */
import type { JsonObject } from '../../lib/json.ts'

/** An item of the input, and the message of the request that it comes from. */
export interface Item {
  readonly at: string
  readonly json: JsonObject
}

/** The phase that a message has already is the client's own, and stays. */
export const withPhases = (items: readonly Item[]): Item[] => {
  const phased: Item[] = []
  /** The turn goes on behind the item, with a call or with what it returned. */
  let goesOn = false
  for (const item of items.toReversed()) {
    const { type, role, phase } = item.json
    if (type === 'message' && role === 'assistant' && phase === undefined)
      phased.push({ ...item, json: { ...item.json, phase: goesOn ? 'commentary' : 'final_answer' } })
    else phased.push(item)
    if (type === 'message' && role !== 'assistant') goesOn = false
    else if (type !== 'message' && type !== 'reasoning') goesOn = true
  }
  return phased.reverse()
}
