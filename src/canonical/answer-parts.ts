/** Cuts a large answer that came whole into the frames of a stream, so that its words are read and written a part at a time. */
import { LARGE_BYTES } from '../lib/steps.ts'
import type { Frame, ModelEvent } from './event.ts'

/** Filters take some hundred nanoseconds for a character, and a few microseconds for an event. */
const PART_CHARACTERS = 16 * 1024
const PART_EVENTS = 500

/**
 * The most calls, blocks, items and sources of an answer (decisions/0102): some steps of the work on one that is passed on as it came
 * are not cut. No model writes so many within its limit of output.
 */
export const PARTS_MAX = 10_000

/** The same events, texts cut into pieces. What an upstream wrote itself is not among them. */
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

/** Says whether the work on all of an answer takes longer than a step does. */
export const isLargeAnswer = ({ events, native }: Frame): boolean => {
  let size = native?.json.length ?? 0
  for (const event of events) size += EVENT_SIZE + (event.type === 'image' ? event.url.length : (textOf(event)?.length ?? 0))
  return size > LARGE_BYTES
}

/** An event takes as long as so many characters. */
const EVENT_SIZE = 100

function* piecesOfEvent(event: ModelEvent): Generator<ModelEvent, void, undefined> {
  const text = textOf(event)
  if (text === null || text.length <= PART_CHARACTERS) {
    yield event
    return
  }
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + PART_CHARACTERS, text.length)
    // Either half of a character alone is no text.
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
