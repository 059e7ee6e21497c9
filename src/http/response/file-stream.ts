/** A file as the body of an answer, at the pace of its reader: never more than a few pieces of it are in memory. */
import type { Clock } from '../../lib/clock.ts'
import { type UnreadWatch, watchUnread } from './unread-watch.ts'

export interface FileStreamParts {
  readonly clock: Clock
  /** A client that reads nothing for this long is disconnected. */
  readonly unreadMs: number
  /** A failure breaks the connection, so that the beginning is not mistaken for the whole. */
  readonly onError: (thrown: unknown) => void
}

export const fileStream = (
  pieces: AsyncGenerator<Uint8Array>,
  { clock, unreadMs, onError }: FileStreamParts,
): ReadableStream<Uint8Array> => {
  let isOver = false
  let watch: UnreadWatch | null = null

  const end = (): void => {
    isOver = true
    watch?.stop()
  }
  const leave = async (): Promise<void> => {
    end()
    await pieces.return(undefined)
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        watch = watchUnread(clock, unreadMs, () => {
          controller.error(new DOMException('The answer was not read.', 'AbortError'))
          leave().catch(onError)
        })
      },
      async pull(controller) {
        watch?.taken()
        try {
          const { done, value } = await pieces.next()
          if (isOver) return
          if (done !== true) return controller.enqueue(value)
          end()
          controller.close()
        } catch (thrown) {
          end()
          onError(thrown)
          controller.error(thrown)
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
}
