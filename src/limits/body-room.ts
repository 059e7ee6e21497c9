/**
 * The bytes of request bodies that this process holds at once. A body costs several times its length while it is answered,
 * so the sum of them is what bounds memory, whatever the number of requests (docs/contract/operating.md#admission).
 */
import { GatewayError } from '../errors.ts'

export interface BodyRoom {
  /** The place of one request. */
  enter(): BodySpace
  /** Bytes that are taken. */
  readonly bytes: number
}

export interface BodySpace {
  /** Null where there was room for so many more bytes; else `provider_overloaded` as 503 with `Retry-After`, and nothing was taken. */
  take(bytes: number): GatewayError | null
  /** Gives back all that was taken. Further calls do nothing. */
  free(): void
}

/** `maxBytes`: read at each request, since it may be reloaded. */
export const createBodyRoom = (maxBytes: () => number): BodyRoom => {
  let inUse = 0
  return {
    enter() {
      let taken = 0
      return {
        take(bytes) {
          if (bytes > 0 && inUse + bytes > maxBytes()) return full(maxBytes())
          inUse += bytes
          taken += bytes
          return null
        },
        free() {
          inUse -= taken
          taken = 0
        },
      }
    },
    get bytes() {
      return inUse
    },
  }
}

const full = (maxBytes: number): GatewayError =>
  new GatewayError(
    'provider_overloaded',
    `The bodies of running requests fill the ${maxBytes} bytes that are reserved for them. Try again shortly.`,
    { status: 503, retryAfterSeconds: 2, metadata: { reason: 'body_bytes_in_flight', max_bytes: maxBytes } },
  )
