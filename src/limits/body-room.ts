/**
 * The bytes of request bodies and of unread answers that this process holds at once. A body costs several times its length while it is answered,
 * so the sum of them is what bounds memory, whatever the number of requests (docs/contract/operating.md#admission).
 */
import { GatewayError } from '../errors.ts'
import { createFairPlaces } from '../lib/fair-places.ts'

export interface BodyRoomSettings {
  /** All bodies together. */
  readonly mostBytes: number
  /** A key may always have so many, while they are free: one body of the largest size. */
  readonly bodyBytes: number
  /** The part that one key alone may take; 0: all of it. */
  readonly keyShare: number
}

export interface BodyRoom {
  /** The place of one request of this key. */
  enter(key: string): BodySpace
  /** Counts what clients have not read of their streams yet: it is in memory too, and cannot be refused. Negative where they have. */
  unread(change: number): void
  /** Bytes that are taken. */
  readonly bytes: number
  readonly unreadBytes: number
}

export interface BodySpace {
  /** Null where there was room for so many more bytes; else a refusal with `Retry-After`, and nothing was taken: 503, or 429 where the room is for other keys. */
  take(bytes: number): GatewayError | null
  /** As `take`, and takes nothing. */
  refusal(bytes: number): GatewayError | null
  /** Takes room for an answer whether there is any or not; negative gives back what was read. */
  holdAnswer(change: number): void
  /** Gives back all that was taken. Further calls do nothing. */
  free(): void
}

/** `settings`: read at each request, since they may be reloaded. */
export const createBodyRoom = (settings: () => BodyRoomSettings): BodyRoom => {
  let unread = 0
  let answers = 0
  const room = createFairPlaces(() => {
    const { mostBytes, bodyBytes, keyShare } = settings()
    return { most: mostBytes - unread, share: keyShare || 1, always: bodyBytes }
  })
  return {
    enter(key) {
      let taken = 0
      const refusal = (bytes: number): GatewayError | null => {
        const obstacle = bytes > 0 ? room.obstacle(key, bytes) : null
        if (obstacle === null) return null
        return obstacle === 'full' ? full(settings().mostBytes) : shareTaken()
      }
      return {
        refusal,
        take(bytes) {
          const refused = refusal(bytes)
          if (refused !== null) return refused
          room.take(key, bytes)
          taken += bytes
          return null
        },
        holdAnswer(change) {
          room.take(key, change)
          answers += change
        },
        free() {
          room.take(key, -taken)
          taken = 0
        },
      }
    },
    unread(change) {
      unread += change
    },
    get bytes() {
      return room.taken - answers
    },
    get unreadBytes() {
      return unread + answers
    },
  }
}

const full = (maxBytes: number): GatewayError =>
  new GatewayError(
    'provider_overloaded',
    `The bodies of running requests, and answers that nobody has read yet, fill the ${maxBytes} bytes that are reserved for them. Try again shortly.`,
    { status: 503, retryAfterSeconds: 2, metadata: { reason: 'body_bytes_in_flight', max_bytes: maxBytes } },
  )

const shareTaken = (): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    'The bodies of running requests of this key, and answers of it that nobody has read yet, fill its share of the memory for them; the rest is for others. Try again shortly.',
    { retryAfterSeconds: 2, metadata: { reason: 'body_bytes_in_flight' } },
  )
