/**
 * One run as a server-sent event stream. Back-pressure from the reader reaches the upstream: while the reader is behind,
 * nothing more is read. The stream ends with its terminal event and `[DONE]` or, if that is impossible, with a broken
 * connection: never cleanly in the middle (docs/contract/streams.md#ends).
 */
import type { TakeFrames } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import type { AnswerTail, StreamRenderer, Written } from '../../formats/format.ts'
import { escapeForeignLineEnds, KEEP_ALIVE_FRAME } from '../../lib/network/sse.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Turn } from '../../lib/steps.ts'
import { textPieces } from '../../lib/text/text-pieces.ts'
import type { KeepAlive } from './keep-alive.ts'
import { openResponseWriter } from './response-writer.ts'

export interface EventStreamParts {
  /** Called when the first frames, or the failure, are ready to be rendered. */
  readonly openRenderer: () => StreamRenderer<Written>
  readonly tail: () => AnswerTail
  /** Called when the client is gone: the upstream must be closed. */
  readonly leave: () => void
  readonly onInternalError: (thrown: unknown) => void
  /** Called with the number of characters that the client leaves unread, and with a negative number when it has read them. */
  readonly onUnread: (change: number) => void
  readonly clock: Clock
  /** Lets other requests have their turn between two parts of a long text. */
  readonly turn: Turn
  /** A client that reads nothing for this long is disconnected; the rest of its answer is discarded. */
  readonly unreadMs: number
}

export interface EventStream {
  readonly body: ReadableStream<Uint8Array>
  /** Throws GatewayError for frames that this dialect cannot express. */
  readonly take: TakeFrames
  /** Writes a comment, since headers leave the service only with the first bytes of the body. */
  open(): void
  /** The answer is complete and settled. */
  finish(): void
  /** Ends the answer with this failure, after whatever was sent of it. */
  fail(error: GatewayError): void
}

export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** Encoding this many characters and passing them to the socket takes a millisecond. */
const WRITTEN_AT_ONCE = 1024 * 1024

export const openEventStream = (parts: EventStreamParts, keepAlive: KeepAlive, openWriter = openResponseWriter): EventStream => {
  const { clock, turn } = parts
  let renderer: StreamRenderer<Written> | null = null
  let ended = false
  let concluding = false
  /** A long text is being written: no other text may be put between its events. */
  let underway: Promise<void> | null = null
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
    if (!writer.full) {
      if (underway === null) void writer.write(KEEP_ALIVE_FRAME)
    } else if (clock.monotonicMs() - takenMs >= parts.unreadMs) {
      writer.cut()
      gone()
    }
  })

  /** A fault of our own rendering: no honest end can be written any more, so the connection is broken. */
  const broken = (thrown: unknown): void => {
    parts.onInternalError(thrown)
    writer.cut()
    gone()
  }

  const written = (text: string): ReturnType<TakeFrames> => {
    const behind = writer.write(escapeForeignLineEnds(text))
    if (behind === undefined) takenMs = clock.monotonicMs()
    return behind
  }

  const writeParts = async (pieces: Iterable<string>): Promise<void> => {
    for (const piece of pieces) {
      // An empty piece is the end of a step of the work on the next one.
      if (piece === '') await turn()
      if (ended) return
      for (const part of textPieces(piece, WRITTEN_AT_ONCE)) {
        await turn()
        if (ended) return
        await written(part)
      }
    }
  }

  const writeInTurns = (pieces: Iterable<string>): Promise<void> => {
    underway = writeParts(pieces)
      .catch((thrown: unknown) => {
        if (thrown instanceof GatewayError) throw thrown
        broken(thrown)
      })
      .finally(() => {
        underway = null
      })
    return underway
  }

  const conclude = (render: (renderer: StreamRenderer<Written>) => Written): void => {
    if (ended || concluding) return
    concluding = true
    const last = (): void => {
      try {
        const text = render((renderer ??= parts.openRenderer()))
        if (typeof text === 'string') endWith(text)
        else void writeInTurns(text).then(() => endWith(''), broken)
      } catch (thrown) {
        broken(thrown)
      }
    }
    if (underway === null) last()
    else void underway.then(last, broken)
  }

  const endWith = (text: string): void => {
    if (ended) return
    end()
    writer.end(escapeForeignLineEnds(text))
  }

  return {
    body: writer.body,
    take(frames) {
      // The client has left; what still comes is read only for its usage.
      if (ended) return undefined
      let text: Written
      try {
        text = (renderer ??= parts.openRenderer()).frames(frames)
      } catch (thrown) {
        // An answer that the client's dialect cannot express is the provider's fault: the run ends with it, and `fail` ends the answer.
        if (thrown instanceof GatewayError) throw thrown
        broken(thrown)
        return undefined
      }
      silence.touch()
      if (typeof text !== 'string') return writeInTurns(text)
      return text.length <= WRITTEN_AT_ONCE ? written(text) : writeInTurns([text])
    },
    open: () => void writer.write(KEEP_ALIVE_FRAME),
    finish: () => conclude((opened) => opened.finish(parts.tail())),
    fail: (error) => conclude((opened) => opened.fail(error, parts.tail())),
  }
}
