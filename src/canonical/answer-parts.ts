/** Splits a large answer that arrived whole into stream frames, so that it is read and written one part at a time. */
import { LARGE_BYTES } from '../lib/steps.ts'
import type { Frame, ModelEvent } from './event.ts'

/** Filters take some hundred nanoseconds per character and a few microseconds per event. */
const PART_CHARACTERS = 16 * 1024
const PART_EVENTS = 500

/**
 * The maximum number of calls, blocks, items and sources in an answer (decisions/0102): some of the work on an answer that is
 * passed on unchanged is not split into steps. No model writes this many within its output limit.
 */
export const PARTS_MAX = 10_000

/** Yields the same events with their texts cut into pieces; the upstream's own JSON (`native`) is dropped. */
export function* partsOfAnswer(frames: readonly Frame[]): Generator<Frame, void, undefined> {
  let events: ModelEvent[] = []
  let characters = 0
  for (const frame of frames) {
    for (const event of frame.events) {
      for (const piece of piecesOfEvent(event)) {
        events.push(piece)
        characters += textOf(piece)?.length ?? 0
        if (characters < PART_CHARACTERS && events.length < PART_EVENTS) continue
        yield { events }
        events = []
        characters = 0
      }
    }
  }
  if (events.length > 0) yield { events }
}

/** Returns true if processing the whole answer takes longer than one step. */
export const isLargeAnswer = ({ events, native }: Frame): boolean => {
  let size = native?.json.length ?? 0
  for (const event of events) size += EVENT_SIZE + (event.type === 'image' ? event.url.length : (textOf(event)?.length ?? 0))
  return size > LARGE_BYTES
}

/** The work per event, expressed in characters. */
const EVENT_SIZE = 100

function* piecesOfEvent(event: ModelEvent): Generator<ModelEvent, void, undefined> {
  const text = textOf(event)
  if (text === null || text.length <= PART_CHARACTERS) {
    yield event
    return
  }
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + PART_CHARACTERS, text.length)
    // Half of a surrogate pair is not valid text, so the pair is kept together.
    if (text.codePointAt(to - 1) !== text.charCodeAt(to - 1)) to += 1
    yield withText(event, text.slice(from, to))
    from = to
  }
}

const textOf = (event: ModelEvent): string | null => {
  if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') return event.text
  return event.type === 'tool-arguments' ? event.json : null
}

const withText = (event: ModelEvent, text: string): ModelEvent => {
  if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') return { ...event, text }
  return event.type === 'tool-arguments' ? { ...event, json: text } : event
}
