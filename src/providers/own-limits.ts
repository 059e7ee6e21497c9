/** Failures to connect that are this machine's own: it gives no more files, ports or buffers. No provider is at fault, and none has heard of the request. */
import { GatewayError } from '../errors.ts'

const OWN_LIMIT = /^(?:EMFILE|ENFILE|ENOBUFS|EADDRNOTAVAIL)$/

/** `code`: of a system error. */
export const isOwnLimit = (code: unknown): boolean => typeof code === 'string' && OWN_LIMIT.test(code)

export const noConnectionLeft = (cause: unknown): GatewayError =>
  new GatewayError('provider_overloaded', 'This service has no connection left to ask a provider with. Try again shortly.', {
    retryAfterSeconds: 1,
    cause: new NoConnectionLeft(cause),
  })

export const isConnectionLack = (thrown: unknown): boolean => thrown instanceof GatewayError && thrown.cause instanceof NoConnectionLeft

class NoConnectionLeft extends Error {
  override readonly name = 'NoConnectionLeft'
  constructor(cause: unknown) {
    super('The process or its machine is at a limit: raise that of open files (LimitNOFILE, ulimit -n), or lower limits.in_flight.', {
      cause,
    })
  }
}
