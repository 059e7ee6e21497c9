/**
 * Sets the phases of the assistant's messages. From gpt-5.3-codex on, OpenAI wants them on all messages of a history: without them a model
 * may take a commentary for its answer, and stop early. Other dialects have no phases, but the calls beside a message show which it has.
 */
import type { JsonObject } from '../../lib/json/json.ts'

/** An item of the input, and the path of the message that it comes from. */
export interface Item {
  readonly at: string
  readonly json: JsonObject
}

/** A message that already has a phase got it from the client, and keeps it. */
export const withPhases = (items: readonly Item[]): Item[] => {
  const phased: Item[] = []
  /** The turn continues after the item, with a call or with its result. */
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
