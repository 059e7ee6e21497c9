/**
 * Reads chunks of one stream that carry a single piece of text, of thinking or of a call's arguments: nearly all chunks, which differ only
 * in that piece. They are read by pattern, without a parser, because this is the hottest path of the service.
 */
import type { Frame, ModelEvent, NativePattern } from '../../canonical/event.ts'
import { fillerOf, type Filling, type JsonPattern, learnPattern } from '../../lib/json/json-pattern.ts'
import { isObject } from '../../lib/json/json.ts'
import type { SseEvent } from '../../lib/network/sse.ts'
import { LARGE_BYTES } from '../../lib/steps.ts'
import { chatText } from './vendor-text.ts'

export interface PieceReader {
  /** The frame of a chunk that differs from the learned one only in its piece; null for any other. */
  read(event: SseEvent): Frame | null
  /** Takes note of a parsed chunk and its frame. */
  learn(event: SseEvent, frame: Frame): void
}

interface Piece {
  readonly pattern: JsonPattern
  readonly event: (text: string) => ModelEvent
  /** How a chunk is passed on; null if it is not. */
  readonly native: { readonly pattern: NativePattern; readonly json: (filling: Filling, data: string) => string } | null
}

/** The most patterns per stream: one for an upstream that changes its envelope in every chunk would be wasted. */
const PATTERNS = 8

/** `native`: a chunk can be passed on as it is. */
export const createPieceReader = (native: boolean): PieceReader => {
  let known: Piece | null = null
  let left = PATTERNS
  return {
    read({ event, data }) {
      const filling = event === null && known !== null ? known.pattern.match(data) : null
      if (known === null || filling === null || filling.value === '') return null
      const events = [known.event(filling.value)]
      if (known.native === null) return { events }
      const { pattern, json } = known.native
      return { events, native: { dialect: 'chat', json: json(filling, data), filled: { pattern, filling } } }
    },
    learn({ event, data }, frame) {
      // Searching such a chunk for its piece takes longer than a step, and no other chunk is like it.
      if (data.length > LARGE_BYTES) return
      const [said, ...others] = frame.events
      // Another call may come under the same index as the one before it.
      if (frame.events.some(({ type }) => type === 'tool-call')) known = null
      if (left === 0 || event !== null || said === undefined || others.length > 0) return
      const learned = pieceOf(data, said, native && frame.native !== undefined)
      if (learned === null) return
      left -= 1
      known = learned
    },
  }
}

const pieceOf = (data: string, said: ModelEvent, native: boolean): Piece | null => {
  const event = sayer(said)
  const pattern = event === null ? null : learnPattern(data, event.said, stringIn)
  if (event === null || pattern === null) return null
  if (!native) return { pattern, event: event.say, native: null }
  const skeleton = isObject(pattern.parsed) ? chatText(pattern.parsed, pattern.skeleton) : null
  const fill = skeleton === null ? null : fillerOf(skeleton)
  if (skeleton === null || fill === null) return null
  const json = skeleton === pattern.skeleton ? (_: Filling, text: string) => text : fill
  return { pattern, event: event.say, native: { pattern: { skeleton }, json } }
}

/** The piece of an event, and a function that makes the same event with another piece; null for an event without a piece. */
const sayer = (event: ModelEvent): { readonly said: string; readonly say: (text: string) => ModelEvent } | null => {
  if (event.type === 'text' || event.type === 'reasoning') return { said: event.text, say: (text) => ({ ...event, text }) }
  return event.type === 'tool-arguments' ? { said: event.json, say: (json) => ({ ...event, json }) } : null
}

/** The one string of a chunk's delta that is a piece. */
const stringIn = (chunk: unknown): unknown => {
  const choices = isObject(chunk) && Array.isArray(chunk['choices']) ? (chunk['choices'] as unknown[]) : []
  const [choice] = choices
  const delta = isObject(choice) && isObject(choice['delta']) ? choice['delta'] : {}
  const [call] = Array.isArray(delta['tool_calls']) ? (delta['tool_calls'] as unknown[]) : []
  const called = isObject(call) && isObject(call['function']) ? call['function']['arguments'] : null
  return [delta['content'], delta['reasoning'], delta['reasoning_content'], called].find((said) => typeof said === 'string' && said !== '')
}
