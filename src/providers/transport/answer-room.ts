/**
 * The bytes of whole answers of providers that this process reads and translates at once. Each answer has a limit of its own, but many of
 * the largest size, or ones that a provider begins and does not end, would fill the memory together
 * (docs/contract/operating.md#admission).
 */
import { GatewayError } from '../../errors.ts'
import { createFairPlaces } from '../../lib/fair-places.ts'

export interface AnswerRoom {
  /** Opens the space of one attempt at this provider. */
  enter(provider: string): AnswerSpace
  /** The bytes that are taken. */
  readonly bytes: number
}

export interface AnswerSpace {
  /** Takes room for this many more bytes of the answer and returns null, or returns the failure of the attempt, with nothing taken. */
  take(bytes: number): GatewayError | null
  /** Gives back everything that was taken. */
  free(): void
}

/** The most bytes of a model's whole answer, which may contain pictures and sound. */
export const WHOLE_BODY_MAX = 64 * 1024 * 1024

/** The first bytes of each answer are not counted: an answer of words always finds room. */
const UNCOUNTED = 1024 * 1024

/** The part of the room that one provider alone may take, so that a hostile one leaves some for the others. */
const PROVIDER_SHARE = 0.8

/** `mostBytes` is read at each piece, since the configuration may be reloaded. */
export const createAnswerRoom = (mostBytes: () => number): AnswerRoom => {
  const room = createFairPlaces(() => ({ most: mostBytes(), share: PROVIDER_SHARE, always: WHOLE_BODY_MAX }))
  return {
    enter(provider) {
      let read = 0
      let taken = 0
      return {
        take(bytes) {
          const more = Math.max(0, read + bytes - UNCOUNTED) - taken
          if (more > 0) {
            if (room.obstacle(provider, more) !== null) return noAnswerRoom(mostBytes())
            room.take(provider, more)
            taken += more
          }
          read += bytes
          return null
        },
        free() {
          room.take(provider, -taken)
          taken = 0
        },
      }
    },
    get bytes() {
      return room.taken
    },
  }
}

/** True for a failure that says nothing about the provider: there was no room here for its answer. */
export const isAnswerRoomLack = (error: GatewayError): boolean => error.cause instanceof NoAnswerRoom

const noAnswerRoom = (maxBytes: number): GatewayError =>
  new GatewayError(
    'provider_overloaded',
    `The large answers that this service is reading fill the ${maxBytes} bytes that are reserved for them. Try again shortly.`,
    { retryAfterSeconds: 2, metadata: { reason: 'answer_bytes_in_flight', max_bytes: maxBytes }, cause: new NoAnswerRoom() },
  )

class NoAnswerRoom extends Error {
  override readonly name = 'NoAnswerRoom'
}
