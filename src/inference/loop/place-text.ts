/**
 * Fits the text of one turn into the text of the whole answer: turns are separated by a break, and the positions of citations count from
 * the start of the whole.
 */
import { type ModelEvent, PARAGRAPH_BREAK, type TakeFrames } from '../../canonical/event.ts'
import type { LoopReport } from './loop-report.ts'
import type { ModelTurn } from './model-turn.ts'

export const placingText = (turn: ModelTurn, report: LoopReport, take: TakeFrames): TakeFrames => {
  let before = report.textLength
  return (frames) => {
    const passed = turn.take(frames)
    if (passed.length === 0) return undefined
    const breaks = report.saidText && !report.brokeText && passed.some(({ events }) => events.some(({ type }) => type === 'text'))
    if (breaks) {
      report.brokeText = true
      before += PARAGRAPH_BREAK.length
      report.textLength += PARAGRAPH_BREAK.length
    }
    for (const { events } of passed) for (const event of events) if (event.type === 'text') report.textLength += event.text.length
    const placed =
      before === 0 ? passed : passed.map((frame) => ({ ...frame, events: frame.events.map((event) => placedBehind(event, before)) }))
    return take(breaks ? [{ events: [{ type: 'text-break' }] }, ...placed] : placed)
  }
}

/** A provider counts positions from the start of its turn's text. */
const placedBehind = (event: ModelEvent, before: number): ModelEvent => {
  if (event.type !== 'citation' || event.citation.start === null || event.citation.end === null) return event
  const { start, end } = event.citation
  return { ...event, citation: { ...event.citation, start: start + before, end: end + before } }
}
