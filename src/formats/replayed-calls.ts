/**
 * Calls of server tools in an answer that a client brings back: each is a call with its result again, in the place where it
 * was made, so that nothing runs twice (docs/contract/tools.md#server-tools).
 */
import type { Message, Part } from '../canonical/prompt.ts'
import type { ServerTool } from '../canonical/server-tools.ts'

/** A call as one of the dialects tells it. */
export interface ReplayedCall {
  readonly id: string
  readonly tool: ServerTool
  /** The name that the model called, where it is not the tool's usual name. */
  readonly instance: string | null
  /** JSON text. */
  readonly arguments: string
  readonly turn: number
  /** For a search over withheld tools: the catalogue that was searched. */
  readonly catalog: string | null
}

export const replayedCall = ({ id, tool, instance, arguments: json, turn, catalog }: ReplayedCall): Part => ({
  type: 'tool-call',
  id,
  // Other services of this dialect have a prefix of their own.
  name: instance !== null && /^(?:service|openrouter)_/.test(instance) ? instance.replace(/^openrouter_/, 'service_') : `service_${tool}`,
  arguments: json,
  ranInTurn: turn,
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
 * Answers that hold results become the turns that they were: the assistant's calls, their results, and what the assistant
 * said of these. Results that end an answer go in front of what the user says next.
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

const ranHere = (part: Part): boolean => part.type === 'tool-call' && part.ranInTurn !== undefined

const isResult = ({ type }: Part): boolean => type === 'tool-result'

const turnsOf = (message: Message): readonly Message[] => {
  const turns: Message[] = []
  let said: Part[] = []
  let results: Part[] = []
  let turn: number | undefined
  const end = (): void => {
    if (said.length > 0) turns.push({ ...message, parts: said })
    if (results.length > 0) turns.push({ role: 'user', parts: results, ...(message.at === undefined ? {} : { at: message.at }) })
    said = []
    results = []
  }
  for (const part of message.parts) {
    if (isResult(part)) {
      results.push(part)
      continue
    }
    const ranInTurn = part.type === 'tool-call' ? part.ranInTurn : undefined
    if (results.length > 0 && (ranInTurn === undefined || ranInTurn !== turn)) end()
    if (ranInTurn !== undefined) turn = ranInTurn
    said.push(part)
  }
  end()
  return turns
}
