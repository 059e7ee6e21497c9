/**
 * Connection failures that are this machine's own: it has no more files, ports or buffers. No provider is at fault, and none received the
 * request.
 */
import { GatewayError } from '../../errors.ts'
import { lackOfFiles } from '../../lib/spare-files.ts'

const OWN_LIMIT = /^(?:EMFILE|ENFILE|ENOBUFS|EADDRNOTAVAIL)$/

/** Codes by which a lack of files shows while a host's name is looked up or its addresses are tried. */
const MASKED =
  /^(?:(?:DNS_)?E(?:NOTFOUND|NODATA|NONAME|NOMEM|SERVFAIL|REFUSED|TIMEOUT|BADRESP|AI_\w+|DNS\w*)|E(?:CONN|NET|HOST)(?:REFUSED|UNREACH)|ConnectionRefused|FailedToOpenSocket)$/

/** `code`: of the system error with which a connection has just failed. */
export const isOwnLimit = (code: unknown): boolean =>
  typeof code === 'string' && (OWN_LIMIT.test(code) || (MASKED.test(code) && filesAreOut()))

/** Looking up a name takes files of the resolver, in addition to the connection's own. */
const FILES_OF_A_CONNECTION = 4

const filesAreOut = (): boolean => OWN_LIMIT.test(lackOfFiles(FILES_OF_A_CONNECTION)?.code ?? '')

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
