/**
 * One run as a server-sent event stream. The reader's pace is the upstream's pace: where it is behind, nothing more is
 * read. The stream ends with its terminal event and `[DONE]`, or, where it cannot, with a broken connection: never cleanly
 * in the middle (docs/contract/streams.md#ends).
 */
import type { TakeFrames } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import type { AnswerTail, StreamRenderer } from '../formats/format.ts'
import { KEEP_ALIVE_FRAME } from '../lib/sse.ts'
import type { Clock } from '../lib/clock.ts'
import type { KeepAlive } from './keep-alive.ts'
import { openResponseWriter } from './response-writer.ts'

export interface EventStreamParts {
  /** Called when the first frames or the failure are there to be rendered. */
  readonly openRenderer: () => StreamRenderer
  readonly tail: () => AnswerTail
  /** The client is gone: the upstream must be closed. */
  readonly leave: () => void
  readonly onInternalError: (thrown: unknown) => void
  /** Called with what the client leaves unread, and has read again. */
  readonly onUnread: (change: number) => void
  readonly clock: Clock
  /** A client that takes nothing for this long is disconnected; the rest of its answer is discarded. */
  readonly unreadMs: number
}

export interface EventStream {
  readonly body: ReadableStream<Uint8Array>
  /** Throws GatewayError for frames that this dialect cannot express. */
  readonly take: TakeFrames
  /** A comment: headers leave the service with the first bytes behind them. */
  open(): void
  /** The answer is complete, and settled. */
  finish(): void
  /** The answer ends with this failure, behind whatever came of it. */
  fail(error: GatewayError): void
}

export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

export const openEventStream = (parts: EventStreamParts, keepAlive: KeepAlive, openWriter = openResponseWriter): EventStream => {
  const { clock } = parts
  let renderer: StreamRenderer | null = null
  let ended = false
  let takenMs = clock.monotonicMs()

  const end = (): void => {
    ended = true
    silence.stop()
  }

  const gone = (): void => {
    end()
    parts.leave()
  }

  const writer = openWriter(gone, parts.onUnread)

  const silence = keepAlive.watch(() => {
    if (ended) return
    if (!writer.full) void writer.write(KEEP_ALIVE_FRAME)
    else if (clock.monotonicMs() - takenMs >= parts.unreadMs) {
      writer.cut()
      gone()
    }
  })

  /** A fault of our own rendering: no honest end can be written any more, so the connection breaks. */
  const rendered = (render: (renderer: StreamRenderer) => string): string | null => {
    try {
      return render((renderer ??= parts.openRenderer()))
    } catch (thrown) {
      return broken(thrown)
    }
  }

  const broken = (thrown: unknown): null => {
    parts.onInternalError(thrown)
    writer.cut()
    gone()
    return null
  }

  const conclude = (render: (renderer: StreamRenderer) => string): void => {
    if (ended) return
    const text = rendered(render)
    if (text === null) return
    end()
    writer.end(text)
  }

  return {
    body: writer.body,
    take(frames) {
      // The client has left; what still comes is read for its usage alone.
      if (ended) return undefined
      let text: string
      try {
        text = (renderer ??= parts.openRenderer()).frames(frames)
      } catch (thrown) {
        // An answer that the client's dialect cannot express is the provider's fault: the run ends with it, and the answer by `fail`.
        if (thrown instanceof GatewayError) throw thrown
        broken(thrown)
        return undefined
      }
      silence.touch()
      const behind = writer.write(text)
      if (behind === undefined) takenMs = clock.monotonicMs()
      return behind
    },
    open: () => void writer.write(KEEP_ALIVE_FRAME),
    finish: () => conclude((opened) => opened.finish(parts.tail())),
    fail: (error) => conclude((opened) => opened.fail(error, parts.tail())),
  }
}
