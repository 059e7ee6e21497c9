/**
 * One run as a server-sent event stream. The reader's pace is the upstream's pace: nothing is read that was not asked
 * for. The stream ends with its terminal event and `[DONE]`, or, where it cannot, with a broken connection: never
 * cleanly in the middle (reliability.md 0.1).
 */
import type { AnswerTail, StreamRenderer } from '../formats/format.ts'
import type { Frame } from '../canonical/event.ts'
import { asGatewayError, type GatewayError } from '../errors.ts'
import { KEEP_ALIVE_FRAME } from '../lib/sse.ts'
import type { Clock } from '../lib/clock.ts'
import type { KeepAlive } from './keep-alive.ts'

export interface EventSource {
  /** The first batch, perhaps still on its way; then the rest. */
  readonly first: Promise<IteratorResult<readonly Frame[], void>>
  /** Nothing has come yet: a comment opens the stream, for headers leave the service with the first bytes behind them. */
  readonly silent: boolean
  readonly rest: AsyncGenerator<readonly Frame[], void, undefined>
  readonly openRenderer: () => StreamRenderer
  readonly tail: () => AnswerTail
  /** The client left: the upstream must be closed. */
  readonly leave: () => void
  readonly onInternalError: (thrown: unknown) => void
  readonly clock: Clock
  /** A client that takes nothing for this long is given up, and has the rest of its answer no more. */
  readonly unreadMs: number
}

export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

const encoder = new TextEncoder()

export const eventStream = (source: EventSource, keepAlive: KeepAlive): ReadableStream<Uint8Array> => {
  let renderer: StreamRenderer | null = null
  let next: Promise<IteratorResult<readonly Frame[], void>> | null = source.first
  let ended = false
  let left = false
  let writtenMs = source.clock.monotonicMs()
  let silence: ReturnType<KeepAlive['watch']> | null = null

  const render = (outcome: IteratorResult<readonly Frame[], void>): string => {
    renderer ??= source.openRenderer()
    if (outcome.done === true) {
      ended = true
      return renderer.finish(source.tail())
    }
    const error = errorIn(outcome.value)
    if (error === null) return renderer.frames(outcome.value)
    ended = true
    const before = outcome.value.filter(({ events }) => !events.some(({ type }) => type === 'error'))
    return renderer.frames(before) + renderer.fail(error, source.tail())
  }

  const renderFailure = (thrown: unknown): string => {
    renderer ??= source.openRenderer()
    ended = true
    return renderer.fail(asGatewayError(thrown), source.tail())
  }

  const giveUp = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    ended = true
    left = true
    silence?.stop()
    source.leave()
    controller.error(new Error('The client reads nothing.'))
    void source.rest.return()
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (source.silent) controller.enqueue(encoder.encode(KEEP_ALIVE_FRAME))
        silence = keepAlive.watch(() => {
          if (ended) return
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(KEEP_ALIVE_FRAME))
          // What waits here waits behind all that the socket holds already.
          else if (source.clock.monotonicMs() - writtenMs >= source.unreadMs) giveUp(controller)
        })
      },
      async pull(controller) {
        try {
          let text = ''
          while (text === '' && !ended) {
            const pending: Promise<IteratorResult<readonly Frame[], void>> = next ?? source.rest.next()
            next = null
            const outcome = await pending.catch((thrown: unknown) => new Failure(thrown))
            // The client left while this was on its way: there is nobody to render it for.
            if (left) return
            text = outcome instanceof Failure ? renderFailure(outcome.thrown) : render(outcome)
          }
          silence?.touch()
          if (text !== '') controller.enqueue(encoder.encode(text))
          writtenMs = source.clock.monotonicMs()
          if (ended) {
            silence?.stop()
            controller.close()
            // The generator settles the run when it returns; after an error event it has something left to do.
            await source.rest.return()
          }
        } catch (thrown) {
          // A fault of our own rendering: no honest end can be written any more, so the connection breaks.
          ended = true
          silence?.stop()
          source.onInternalError(thrown)
          source.leave()
          controller.error(thrown)
          await source.rest.return()
        }
      },
      async cancel() {
        ended = true
        left = true
        silence?.stop()
        source.leave()
        await source.rest.return()
      },
    },
    { highWaterMark: 1 },
  )
}

class Failure {
  readonly thrown: unknown
  constructor(thrown: unknown) {
    this.thrown = thrown
  }
}

const errorIn = (frames: readonly Frame[]): GatewayError | null => {
  for (const { events } of frames) for (const event of events) if (event.type === 'error') return event.error
  return null
}
