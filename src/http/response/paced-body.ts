/**
 * The body of a long answer, written at the pace of its reader. Otherwise the runtime would hold all of it until the client has read it,
 * uncounted by us and for as long as the client likes (docs/contract/operating.md#admission).
 */
import type { Clock } from '../../lib/clock.ts'
import { endOfPiece } from '../../lib/text/text-pieces.ts'
import { type UnreadWatch, watchUnread } from './unread-watch.ts'

export interface PacedBodyParts {
  readonly clock: Clock
  /** A client that reads nothing for this long is disconnected. */
  readonly unreadMs: number
  /** Called with the number of characters that are kept, and with the same negative number when they are written or no longer needed. */
  readonly onUnread: (change: number) => void
}

/** The characters that are passed to the runtime at once. */
const PIECE = 64 * 1024

/** `pieces` is JSON cut between two of its characters. */
export const pacedBody = (pieces: readonly string[], { clock, unreadMs, onUnread }: PacedBodyParts): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  let unread = pieces.reduce((length, piece) => length + piece.length, 0)
  const nextOf = piecesOf(pieces)
  let isOver = false
  let watch: UnreadWatch | null = null

  const end = (): void => {
    if (isOver) return
    isOver = true
    watch?.stop()
    onUnread(-unread)
  }

  onUnread(unread)
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        watch = watchUnread(clock, unreadMs, () => {
          end()
          controller.error(new DOMException('The answer was not read.', 'AbortError'))
        })
      },
      async pull(controller) {
        watch?.taken()
        const text = nextOf()
        controller.enqueue(encoder.encode(text))
        onUnread(-text.length)
        unread -= text.length
        if (unread > 0) return
        end()
        controller.close()
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}

/** Returns the next characters on each call: about PIECE of them, whatever the sizes of the pieces. */
const piecesOf = (pieces: readonly string[]): (() => string) => {
  let at = 0
  let from = 0
  return () => {
    let text = ''
    for (let piece = pieces[at]; piece !== undefined && text.length < PIECE; piece = pieces[at]) {
      const until = endOfPiece(piece, from + PIECE - text.length)
      text += piece.slice(from, until)
      from = until
      if (from < piece.length) continue
      at += 1
      from = 0
    }
    return text
  }
}
