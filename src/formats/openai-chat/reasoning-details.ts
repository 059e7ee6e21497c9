/**
 * Writes `reasoning_details`: the thinking of an answer in the form in which clients of this dialect send it back. In a stream
 * each entry is a piece: clients join the texts of the pieces with the same `index`, and take `signature` and `format` from the
 * piece that has them. That is the last one, since the format is not known earlier. Thinking after text or calls has its place in
 * the ids of its pieces (decisions/0121), in all of them, since some clients keep the first id and some the last.
 */
import { type ModelEvent, PARAGRAPH_BREAK } from '../../canonical/event.ts'
import { type PlaceOfThought, placedId } from '../../canonical/place-of-thought.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { ServerCall, ServerOutcome } from '../../canonical/server-tools.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { SERVER_TOOL_DETAIL } from './read-server-tool-detail.ts'

export interface ReasoningDetails {
  /** Returns the pieces that an event adds; most events add none. */
  pieces(event: ModelEvent): readonly JsonObject[]
}

interface OpenDetail {
  readonly index: number
  readonly summary: boolean
  readonly place: PlaceOfThought
}

export const createReasoningDetails = (): ReasoningDetails => {
  let count = 0
  let text = 0
  let calls = 0
  let open: OpenDetail | null = null

  const begin = (summary: boolean): OpenDetail => {
    open = { index: count, summary, place: { text, calls } }
    count += 1
    return open
  }

  const proven = ({ format, data, id, kind }: ReasoningProof): JsonObject => {
    const detail = open ?? begin(false)
    open = null
    const rest = { ...named(detail, id), format, index: detail.index }
    return kind === 'encrypted'
      ? { type: 'reasoning.encrypted', data, ...rest }
      : { type: 'reasoning.text', text: '', signature: data, ...rest }
  }

  /** Closes thinking without a proof: clients take text without a format for Claude's, and drop it because it has no signature. */
  const unproven = (): readonly JsonObject[] => {
    if (open === null) return NONE
    const detail = open
    open = null
    return detail.summary ? NONE : [{ type: 'reasoning.text', text: '', ...named(detail), format: 'unknown', index: detail.index }]
  }

  /** The proof of a call, of any kind, is recognised by the call's id, which only this type of detail carries. */
  const proofOfCall = (proof: ReasoningProof | undefined, id: string): readonly JsonObject[] =>
    proof === undefined ? NONE : [{ type: 'reasoning.encrypted', data: proof.data, id, format: proof.format, index: count++ }]

  return {
    pieces(event) {
      switch (event.type) {
        case 'reasoning': {
          if (event.text === '') return NONE
          const summary = event.summary === true
          const before = open?.summary === !summary ? unproven() : NONE
          const detail = open ?? begin(summary)
          const rest = { ...named(detail), index: detail.index }
          return [
            ...before,
            summary ? { type: 'reasoning.summary', summary: event.text, ...rest } : { type: 'reasoning.text', text: event.text, ...rest },
          ]
        }
        case 'reasoning-end':
          return event.proof === null ? unproven() : [proven(event.proof)]
        case 'tool-call': {
          calls += 1
          return [...unproven(), ...proofOfCall(event.proof, event.id)]
        }
        case 'text':
          text += event.text.length
          return event.text === '' ? NONE : unproven()
        case 'text-break':
          text += PARAGRAPH_BREAK.length
          return NONE
        case 'refusal':
          return event.text === '' ? NONE : unproven()
        case 'server-tool-end':
          return [
            ...unproven(),
            ...proofOfCall(event.call.proof, event.call.callId),
            serverCall(event.call, event.outcome, { index: count++, place: { text, calls } }),
          ]
        case 'image':
        case 'finish':
        case 'server-tool-start':
          return unproven()
        case 'start':
        case 'server-tool-progress':
        case 'citation':
        case 'file-text':
        case 'tool-arguments':
        case 'logprobs':
        case 'own-members':
        case 'unknown':
        case 'usage':
          return NONE
      }
    },
  }
}

const NONE: readonly JsonObject[] = []

/** The id of a piece, with its place unless nothing precedes it. */
const named = ({ index, place }: Pick<OpenDetail, 'index' | 'place'>, id?: string): JsonObject => {
  if (place.text > 0 || place.calls > 0) return { id: placedId(id, index, place) }
  return id === undefined ? {} : { id }
}

/** A call that the service ran and its result, for clients that send them back with the conversation. */
const serverCall = (
  { askedAs, arguments: json, callId, id, name, tool, catalog }: ServerCall,
  { text }: ServerOutcome,
  at: Pick<OpenDetail, 'index' | 'place'>,
): JsonObject => ({
  type: SERVER_TOOL_DETAIL,
  tool_name: askedAs,
  arguments: json,
  result: text.length <= RESULT_MAX ? text : `${cutText(text, RESULT_MAX)}…[truncated]`,
  tool_call_id: callId,
  ...(name === `service_${tool}` ? {} : { instance_name: name }),
  ...named(at, id),
  ...(catalog === undefined ? {} : { catalog }),
  format: 'unknown',
  index: at.index,
})

/** UTF-16 units of a result; it is limited because clients of this dialect resend every result in each later request. */
const RESULT_MAX = 32 * 1024

/** Joins the pieces of a stream into the details of a whole answer. */
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
  const first = before[key]
  const second = piece[key]
  return typeof first === 'string' && typeof second === 'string' ? { [key]: first + second } : {}
}
