/**
 * The bytes of request bodies and of unread answers that this process holds at once. While it is answered, a body costs several times its
 * length, so memory is bounded by their sum, whatever the number of requests (docs/contract/operating.md#admission).
 */
import { GatewayError } from '../errors.ts'
import { createFairPlaces } from '../lib/fair-places.ts'

export interface BodyRoomSettings {
  /** The limit for all bodies together. */
  readonly mostBytes: number
  /** A key may always have this many bytes while they are free: one body of the maximum size. */
  readonly bodyBytes: number
  /** The share that a single key may use; 0 means all of it. */
  readonly keyShare: number
}

export interface BodyRoom {
  /** Opens the space of one request of this key. */
  enter(key: string): BodySpace
  /**
   * Counts bytes of streams that clients have not read yet: they are in memory too and cannot be refused. Negative when clients have read.
   */
  unread(change: number): void
  /** The bytes that are taken by request bodies. */
  readonly bytes: number
  readonly unreadBytes: number
}

export interface BodySpace {
  /**
   * Returns null if there was room for this many more bytes; otherwise a refusal with `Retry-After`, with nothing taken: 503, or 429 if the
   * remaining room is for other keys.
   */
  take(bytes: number): GatewayError | null
  /** The same as `take`, but takes nothing. */
  refusal(bytes: number): GatewayError | null
  /** Takes room for an answer even if there is none; a negative change gives back what was read. */
  holdAnswer(change: number): void
  /** Gives back everything that `take` took. Further calls do nothing. */
  free(): void
}

/** `settings` is read at each request, since the configuration may be reloaded. */
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
    `The bodies of running requests and answers that clients have not read yet fill the ${maxBytes} bytes that are reserved for them. Try again shortly.`,
    { status: 503, retryAfterSeconds: 2, metadata: { reason: 'body_bytes_in_flight', max_bytes: maxBytes } },
  )

const shareTaken = (): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    "The bodies of this key's running requests and the answers that its clients have not read yet fill the key's share of the memory for them. Try again shortly.",
    { retryAfterSeconds: 2, metadata: { reason: 'body_bytes_in_flight' } },
  )
