/**
 * Restores calls of server tools in an answer that a client sends back: each becomes a call with its result again, in the place
 * where it was made, so that nothing runs twice (docs/contract/tools.md#server-tools).
 */
import type { PlaceOfCall } from '../canonical/place-of-call.ts'
import type { Message, Part } from '../canonical/prompt.ts'
import type { ServerTool } from '../canonical/server-tools.ts'

/** A call as a dialect writes it. */
export interface ReplayedCall {
  readonly id: string
  readonly tool: ServerTool
  /** The name that the model called, if it differs from the tool's usual name. */
  readonly instance: string | null
  /** JSON text. */
  readonly arguments: string
  readonly place: PlaceOfCall
  /** For a search over withheld tools: the hash of the catalogue that was searched. */
  readonly catalog: string | null
}

export const replayedCall = ({ id, tool, instance, arguments: json, place, catalog }: ReplayedCall): Part => ({
  type: 'tool-call',
  id,
  // Other services of this dialect use a prefix of their own.
  name: instance !== null && /^(?:service|openrouter)_/.test(instance) ? instance.replace(/^openrouter_/, 'service_') : `service_${tool}`,
  arguments: json,
  ran: place,
  ...(catalog === null ? {} : { catalog }),
})

export interface ReplayedResult {
  readonly callId: string
  readonly text: string
  readonly failed: boolean
  readonly sealed: string | null
}

export const replayedResult = ({ callId, text, failed, sealed }: ReplayedResult): Part => ({
  type: 'tool-result',
  callId,
  text,
  ...(failed ? { isError: true } : {}),
  ...(sealed === null || sealed === '' ? {} : { sealed }),
})

/**
 * Splits answers that contain results into the original turns: the assistant's calls, their results, and the assistant's text
 * after them. Results that end an answer are put before the user's next message.
 */
export const withReplayedTurns = (messages: readonly Message[]): Message[] => {
  const turns: Message[] = []
  let endsInResults = false
  for (const message of messages) {
    const before = turns.at(-1)
    if (message.role === 'user' && endsInResults && before !== undefined) {
      turns[turns.length - 1] = { ...message, parts: [...before.parts, ...message.parts] }
    } else if (message.role === 'assistant' && message.parts.some(ranHere)) turns.push(...turnsOf(message))
    else turns.push(message)
    endsInResults = message.role === 'assistant' && turns.at(-1)?.role === 'user'
  }
  return turns
}

const ranHere = (part: Part): boolean => part.type === 'tool-call' && part.ran !== undefined

const isResult = ({ type }: Part): boolean => type === 'tool-result'

const turnsOf = (message: Message): readonly Message[] => {
  const turns: Message[] = []
  let said: Part[] = []
  let results: Part[] = []
  let place: PlaceOfCall | undefined
  const end = (): void => {
    if (said.length > 0) turns.push({ ...message, parts: inModelsOrder(said) })
    if (results.length > 0)
      turns.push({
        role: 'user',
        parts: inOrderOf(turns.at(-1)?.parts ?? [], results),
        ...(message.at === undefined ? {} : { at: message.at }),
      })
    said = []
    results = []
  }
  for (const part of message.parts) {
    if (isResult(part)) {
      results.push(part)
      continue
    }
    const ran = part.type === 'tool-call' ? part.ran : undefined
    // In a turn that also has calls of the client, those calls follow the results, and then the answer ends.
    const isSameTurn = ran === undefined ? place?.besideCalls === true : ran.turn === place?.turn
    if (results.length > 0 && !isSameTurn) end()
    place = ran ?? place
    said.push(part)
  }
  end()
  return turns
}

type CallPart = Extract<Part, { type: 'tool-call' }>

/** Restores the model's order of calls: clients got each call when it could be sent, for example after results. */
const inModelsOrder = (said: readonly Part[]): readonly Part[] => {
  const calls = said.filter((part): part is CallPart => part.type === 'tool-call')
  if (calls.length < 2) return said
  const placed = new Map<number, CallPart>()
  for (const call of calls) {
    const position = call.ran?.position ?? null
    if (position !== null && position < calls.length && !placed.has(position)) placed.set(position, call)
  }
  const known = new Set(placed.values())
  const others = calls.filter((call) => !known.has(call)).values()
  const ordered = calls.flatMap((_, position) => placed.get(position) ?? others.next().value ?? []).values()
  return said.map((part) => (part.type === 'tool-call' ? (ordered.next().value ?? part) : part))
}

/** Sorts results by their calls: results of tools that ran in parallel were sent in the order in which they ended. */
const inOrderOf = (said: readonly Part[], results: readonly Part[]): readonly Part[] => {
  const positions = new Map(said.flatMap((part, position) => (part.type === 'tool-call' ? [[part.id, position] as const] : [])))
  const positionOf = (part: Part): number => (part.type === 'tool-result' ? (positions.get(part.callId) ?? 0) : 0)
  return results.toSorted((a, b) => positionOf(a) - positionOf(b))
}
