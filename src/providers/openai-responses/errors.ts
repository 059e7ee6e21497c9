/** Failures of Responses upstreams, as statuses, bodies and events, also of those that are routers themselves, as typed errors. */
import type { ErrorType, GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { failureError, parseOrNull, readErrorBody, typeOfRouter, typeOfStatus } from '../classify-failure.ts'
import { typeOfOpenaiCode } from '../openai-error-codes.ts'
import type { Target } from '../provider.ts'

type Json = Record<string, unknown>

/** A response whose status is not 200. */
export const responsesFailure = (status: number, bodyText: string, target: Target, retryAfterSeconds?: number): GatewayError => {
  const body = parseOrNull(bodyText)
  return failure(status, isObject(body) ? body : {}, bodyText, target, retryAfterSeconds)
}

/**
 * A failure told inside a 200: an `error` or `response.error` event, flat or nested; the response of `response.failed`;
 * a whole body that failed or holds nothing but an error. `raw` is its text.
 */
export const inBandFailure = (body: Json, raw: string, target: Target): GatewayError => {
  const error = isObject(body['error']) ? body['error'] : body
  return failure(statusTold(error), body, raw, target)
}

const failure = (status: number, body: Json, raw: string, target: Target, retryAfterSeconds?: number): GatewayError => {
  const { code, message } = readErrorBody(isEvent(body) ? { ...body, type: null } : body)
  const type = routerType(body) ?? typeOfOpenaiCode(code, message, status) ?? typeOfStatus(status)
  return failureError({ status, code, message, raw, retryAfterSeconds }, type, target)
}

/** The `type` of an event names the event, not the error. */
const isEvent = (body: Json): boolean => body['type'] === 'error' || body['type'] === 'response.error'

/** What the error's number, or its kind, would have been as a status. One without either is the provider's own. */
const statusTold = (error: Json): number => {
  const told = Number(error['code'] ?? error['status'])
  if (Number.isInteger(told) && told >= 400 && told < 600) return told
  const kind = error['type']
  return typeof kind === 'string' && Object.hasOwn(KINDS, kind) ? (KINDS[kind] ?? 502) : 502
}

const KINDS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  rate_limit_error: 429,
  server_error: 500,
  overloaded_error: 503,
}

/** A router types its error beside a failed response, or in the metadata of an error. */
const routerType = (body: Json): ErrorType | null => {
  const error = isObject(body['error']) ? body['error'] : {}
  const metadata = isObject(error['metadata']) ? error['metadata'] : {}
  return typeOfRouter(body['error_type'] ?? error['error_type'] ?? metadata['error_type'])
}
