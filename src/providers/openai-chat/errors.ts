/** Failures of Chat Completions upstreams, also of those that are routers themselves, as typed errors. */
import { ERROR_TYPES, type ErrorType, type GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { failureError, readErrorBody, typeOfStatus, type ProviderFailure } from '../classify-failure.ts'
import type { Target } from '../provider.ts'

/** `status` is that of the response, or 200 for an error inside a body or a stream. */
export const chatFailure = (status: number, bodyText: string, target: Target, retryAfterSeconds?: number): GatewayError => {
  const body = parseOrNull(bodyText)
  const { code, message } = readErrorBody(body)
  const told = Number(isObject(body) && isObject(body['error']) ? body['error']['code'] : Number.NaN)
  const effective = status === 200 ? (Number.isInteger(told) && told >= 400 && told < 600 ? told : 502) : status
  const failure: ProviderFailure = { status: effective, code, message, raw: bodyText, retryAfterSeconds }
  return failureError(failure, routerType(body) ?? typeOfCode(code, message, effective) ?? typeOfStatus(effective), target)
}

/** An upstream of our own kind has typed its error already. */
const routerType = (body: unknown): ErrorType | null => {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {}
  const told = isObject(error['metadata']) ? error['metadata']['error_type'] : undefined
  const type = ERROR_TYPES.find((known) => known === told)
  // What it says of a credential or of credits is about ours with it, not about the client's with us.
  return type === undefined || type === 'authentication' || type === 'payment_required' || type === 'permission_denied' ? null : type
}

const CODES: Readonly<Record<string, ErrorType>> = {
  context_length_exceeded: 'context_length_exceeded',
  string_above_max_length: 'string_too_long',
  rate_limit_exceeded: 'rate_limit_exceeded',
  // The account that ran dry is ours.
  insufficient_quota: 'provider_unavailable',
  invalid_api_key: 'provider_unavailable',
  model_not_found: 'not_found',
  content_policy_violation: 'content_policy_violation',
  content_filter: 'content_policy_violation',
  invalid_image: 'invalid_image',
  image_parse_error: 'invalid_image',
  invalid_base64_image: 'invalid_image',
  invalid_image_url: 'image_not_found',
  invalid_image_format: 'unsupported_image_format',
  unsupported_image_media_type: 'unsupported_image_format',
  image_too_large: 'image_too_large',
  image_file_too_large: 'image_too_large',
  image_too_small: 'image_too_small',
  failed_to_download_image: 'image_download_failed',
  image_file_not_found: 'image_not_found',
  server_error: 'server',
  overloaded_error: 'provider_overloaded',
}

const typeOfCode = (code: string | null, message: string | null, status: number): ErrorType | null => {
  const known = code === null ? undefined : CODES[code]
  if (known !== undefined) return known
  // Vendors without codes say it in words.
  if (status === 400 && message !== null && /context (?:length|window)|maximum context|too many tokens/i.test(message))
    return 'context_length_exceeded'
  return null
}

const parseOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null // an HTML page, or nothing: the status speaks
  }
}
