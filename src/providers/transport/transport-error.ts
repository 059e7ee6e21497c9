/** A connection that failed, as an error that names what went wrong. */
import { GatewayError } from '../../errors.ts'
import { isOwnLimit, noConnectionLeft } from './own-limits.ts'
import { Unreached } from './reachability.ts'

/**
 * The error for a failed connection: the reason of the service if it ended the connection itself, else that the provider could not be
 * reached or that the connection broke off.
 */
export const transportError = (thrown: unknown, signal: AbortSignal): GatewayError => {
  if (thrown instanceof GatewayError) return thrown
  if (signal.aborted && signal.reason instanceof GatewayError) return signal.reason
  const code = codeOf(thrown)
  if (isOwnLimit(code)) return noConnectionLeft(thrown)
  const detail = code === null ? '' : ` (${code})`
  if (code !== null && UNREACHED.test(code))
    return new GatewayError('provider_unavailable', `The provider could not be reached${detail}.`, { cause: new Unreached(thrown) })
  return new GatewayError('provider_unavailable', `The connection to the provider failed${detail}.`, { cause: thrown })
}

export const codeOf = (thrown: unknown): string | null => {
  const code = (thrown as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : null
}

/** Failures of name lookup, connecting or the certificate, all of which come before the first byte of a request. */
const UNREACHED =
  /^(?:ENOTFOUND|EAI_\w+|EDNS\w*|E(?:CONN|NET|HOST)(?:REFUSED|UNREACH|DOWN)|ConnectionRefused|FailedToOpenSocket|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|\w*(?:CERT|SIGNATURE|ISSUER|CRL|SELF_SIGNED)\w*)$/

/** Says whether a request failed before any of it was sent. */
export const nothingSent = (error: GatewayError): boolean => error.cause instanceof Unreached
