/** The only place where a failure that reached the entry becomes a response, in the form of the route's interface. */
import { type GatewayError, MANAGEMENT_MESSAGES, MANAGEMENT_TYPES } from '../errors.ts'
import type { Formats } from '../formats/formats.ts'
import { isObject, type JsonObject } from '../lib/json/json.ts'
import { jsonResponse, jsonText } from './response/json-response.ts'
import type { Surface } from './route.ts'

export const errorResponse = (error: GatewayError, surface: Surface, formats: Formats): Response => {
  const headers = errorHeaders(error)
  if (surface === 'management') {
    return jsonResponse(managementError(error), { status: error.status, headers })
  }
  return jsonText(formats[surface].renderError(error, null, null).body, { status: error.status, headers })
}

export const errorHeaders = (error: GatewayError): Record<string, string> => ({
  ...rateLimitHeaders(error.metadata['rate_limit']),
  ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
  ...(error.preset === null ? {} : { 'x-preset': error.preset }),
  ...(error.status === 405 && Array.isArray(error.metadata['allow']) ? { allow: error.metadata['allow'].join(', ') } : {}),
  // RFC 9110 requires the answer to name the protocol to upgrade to.
  ...(error.status === 426 ? { upgrade: 'HTTP/1.1' } : {}),
  ...(error.unread ? { connection: 'close' } : {}),
})

/**
 * Headers for our own limits: how many per minute, how many are left, and when the whole limit is
 * available again (an instant in milliseconds).
 */
const rateLimitHeaders = (reported: unknown): Record<string, string> =>
  isObject(reported)
    ? {
        'x-ratelimit-limit': String(reported['limit']),
        'x-ratelimit-remaining': String(reported['remaining']),
        'x-ratelimit-reset': String(reported['reset']),
      }
    : {}

/** A fixed message for each status; the reason for this particular case is in the metadata (docs/contract/errors.md#management-errors). */
export const managementError = (error: GatewayError): JsonObject => {
  const { status } = error
  const type = MANAGEMENT_TYPES[status]
  const fixed = MANAGEMENT_MESSAGES[status]
  const reason = fixed === undefined || fixed === error.publicMessage ? {} : { reason: error.publicMessage }
  return {
    error: {
      code: status,
      message: fixed ?? error.publicMessage,
      metadata: { ...reason, ...error.publicMetadata, ...(type === undefined ? {} : { error_type: type }) },
    },
  }
}
