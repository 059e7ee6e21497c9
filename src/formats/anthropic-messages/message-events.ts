/** The first event of a stream of this dialect, and the last one of a failed stream. */
import { carriesContent, type Frame } from '../../canonical/event.ts'
import type { Usage } from '../../canonical/usage.ts'
import type { GatewayError } from '../../errors.ts'
import { DONE_FRAME, eventFrame } from '../../lib/network/sse.ts'
import { dialectId } from '../answer-parts.ts'
import { watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { errorBody } from './render-error.ts'
import { besideDelta, ownUsage } from './stop.ts'
import { startUsage } from './usage.ts'

/**
 * `frames` are those that are rendered next; they may already contain the usage. Frames up to the first content arrive together,
 * however the network splits the upstream's bytes; later usage must not be considered, or the output would depend on timing.
 */
export const messageStart = (head: AnswerHead, frames: readonly Frame[]): string => {
  const ending = watchEnding()
  for (const event of frames[0]?.events ?? []) ending.see(event)
  const message = {
    id: dialectId('msg', head),
    type: 'message',
    role: 'assistant',
    model: head.model,
    provider: head.provider,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    ...besideDelta(ending),
    usage: startUsage(lastUsage(frames), head, ownUsage(ending)),
  }
  return eventFrame('message_start', JSON.stringify({ type: 'message_start', message }))
}

export const failedStream = (error: GatewayError, tail: AnswerTail | null): string =>
  eventFrame('error', JSON.stringify(errorBody(error, tail))) + DONE_FRAME

const lastUsage = (frames: readonly Frame[]): Usage | null => {
  let usage: Usage | null = null
  for (const { events } of frames) {
    for (const event of events) if (event.type === 'usage') usage = event.usage
    if (events.some(carriesContent)) return usage
  }
  return usage
}
