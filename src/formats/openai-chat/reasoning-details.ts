/**
 * `reasoning_details`: the thinking of an answer in the form in which this dialect wants it back. In a stream each is a
 * piece: clients join the texts of the pieces of one `index`, and take `signature` and `format` from the piece that has
 * them, which is the last one, as the format is not known before.
 */
import type { ModelEvent } from '../../canonical/event.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { ServerCall, ServerOutcome } from '../../canonical/server-tools.ts'
import { beginning } from '../../lib/beginning.ts'
import type { JsonObject } from '../../lib/json.ts'
import { SERVER_TOOL_DETAIL } from './read-server-tool-detail.ts'

export interface ReasoningDetails {
  /** The pieces that an event adds; most add none. */
  pieces(event: ModelEvent): readonly JsonObject[]
}

export const createReasoningDetails = (): ReasoningDetails => {
  let count = 0
  let open: { readonly index: number; readonly summary: boolean } | null = null

  const begin = (summary: boolean): { readonly index: number; readonly summary: boolean } => {
    open = { index: count, summary }
    count += 1
    return open
  }

  const proven = (proof: ReasoningProof): JsonObject => {
    const { index } = open ?? begin(false)
    open = null
    const { format, data, id } = proof
    const named = id === undefined ? {} : { id }
    if (proof.kind === 'encrypted') return { type: 'reasoning.encrypted', data, ...named, format, index }
    return { type: 'reasoning.text', text: '', signature: data, ...named, format, index }
  }

  /** Clients take a text without a format for Claude's, and drop it for want of a signature. */
  const unproven = (): readonly JsonObject[] => {
    if (open === null) return NONE
    const { index, summary } = open
    open = null
    return summary ? NONE : [{ type: 'reasoning.text', text: '', format: 'unknown', index }]
  }

  return {
    pieces(event) {
      switch (event.type) {
        case 'reasoning': {
          if (event.text === '') return NONE
          const summary = event.summary === true
          const before = open?.summary === !summary ? unproven() : NONE
          const { index } = open ?? begin(summary)
          return [
            ...before,
            summary ? { type: 'reasoning.summary', summary: event.text, index } : { type: 'reasoning.text', text: event.text, index },
          ]
        }
        case 'reasoning-end':
          return event.proof === null ? unproven() : [proven(event.proof)]
        case 'tool-call': {
          const before = unproven()
          // The proof of a call, of any kind, is recognised by the call's id, which only this type of detail carries.
          return event.proof === undefined ? before : [...before, proven({ ...event.proof, kind: 'encrypted', id: event.id })]
        }
        case 'text':
        case 'refusal':
          return event.text === '' ? NONE : unproven()
        case 'server-tool-end':
          return [...unproven(), serverCall(event.call, event.outcome, count++)]
        case 'image':
        case 'finish':
        case 'server-tool-start':
          return unproven()
        case 'start':
        case 'server-tool-progress':
        case 'text-break':
        case 'citation':
        case 'file-text':
        case 'tool-arguments':
        case 'logprobs':
        case 'unknown':
        case 'usage':
          return NONE
      }
    },
  }
}

const NONE: readonly JsonObject[] = []

/** A call that the service ran and what it returned, for clients that send it back with the conversation. */
const serverCall = (
  { askedAs, arguments: json, callId, id, name, tool, catalog }: ServerCall,
  { text }: ServerOutcome,
  index: number,
): JsonObject => ({
  type: SERVER_TOOL_DETAIL,
  tool_name: askedAs,
  arguments: json,
  result: text.length <= RESULT_MAX ? text : `${beginning(text, RESULT_MAX)}…[truncated]`,
  tool_call_id: callId,
  ...(name === `service_${tool}` ? {} : { instance_name: name }),
  id,
  ...(catalog === undefined ? {} : { catalog }),
  format: 'unknown',
  index,
})

/** UTF-16 units: clients of this dialect carry every result in each of their following requests. */
const RESULT_MAX = 32 * 1024

/** The pieces of a stream as the details of a whole answer. */
export const joinDetails = (pieces: readonly JsonObject[]): readonly JsonObject[] => {
  const whole: JsonObject[] = []
  for (const piece of pieces) {
    const last = whole.at(-1)
    if (last === undefined || last['index'] !== piece['index'] || last['type'] !== piece['type']) whole.push(piece)
    else whole[whole.length - 1] = { ...last, ...piece, ...joined(last, piece, 'text'), ...joined(last, piece, 'summary') }
  }
  return whole
}

const joined = (before: JsonObject, piece: JsonObject, key: 'text' | 'summary'): JsonObject => {
  const [first, second] = [before[key], piece[key]]
  return typeof first === 'string' && typeof second === 'string' ? { [key]: first + second } : {}
}
