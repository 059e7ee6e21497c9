/** The error codes that OpenAI's interfaces share, and the servers that imitate them. Source: contract 3.3 and the API's error guide. */
import type { ErrorType } from '../errors.ts'
import { isObject } from '../lib/json.ts'

const CODES: Readonly<Record<string, ErrorType>> = {
  context_length_exceeded: 'context_length_exceeded',
  string_above_max_length: 'string_too_long',
  rate_limit_exceeded: 'rate_limit_exceeded',
  rate_limit_error: 'rate_limit_exceeded',
  slow_down: 'provider_overloaded',
  engine_overloaded: 'provider_overloaded',
  server_is_overloaded: 'provider_overloaded',
  overloaded_error: 'provider_overloaded',
  // The account that ran dry, or is not let in, is ours.
  insufficient_quota: 'provider_unavailable',
  billing_hard_limit_reached: 'provider_unavailable',
  billing_not_active: 'provider_unavailable',
  account_deactivated: 'provider_unavailable',
  invalid_api_key: 'provider_unavailable',
  data_residency_mismatch: 'provider_unavailable',
  unsupported_country_region_territory: 'provider_unavailable',
  model_not_found: 'not_found',
  invalid_prompt: 'invalid_prompt',
  invalid_encrypted_content: 'invalid_prompt',
  content_policy_violation: 'content_policy_violation',
  image_content_policy_violation: 'content_policy_violation',
  content_filter: 'content_policy_violation',
  bio_policy: 'content_policy_violation',
  invalid_image: 'invalid_image',
  image_parse_error: 'invalid_image',
  invalid_base64_image: 'invalid_image',
  empty_image_file: 'invalid_image',
  invalid_image_url: 'image_not_found',
  image_file_not_found: 'image_not_found',
  invalid_image_format: 'unsupported_image_format',
  invalid_image_mode: 'unsupported_image_format',
  unsupported_image_media_type: 'unsupported_image_format',
  image_too_large: 'image_too_large',
  image_file_too_large: 'image_too_large',
  image_too_small: 'image_too_small',
  failed_to_download_image: 'image_download_failed',
  vector_store_timeout: 'timeout',
  server_error: 'server',
}

/** The type that a code, or the sentence beside it, speaks for; null where the status has to. */
export const typeOfOpenaiCode = (code: string | null, message: string | null, status: number): ErrorType | null => {
  // A prompt that a filter flagged comes under the code of a malformed one.
  if (code === 'invalid_prompt' && message !== null && /usage polic|flagged/i.test(message)) return 'content_policy_violation'
  const known = code !== null && Object.hasOwn(CODES, code) ? CODES[code] : undefined
  if (known !== undefined) return known
  // Vendors without codes say it in words.
  if (status === 400 && message !== null && /context (?:length|window)|maximum context|too many tokens/i.test(message))
    return 'context_length_exceeded'
  return null
}

/** An object with a code and a sentence, or, from smaller servers, the sentence alone. */
export const holdsError = ({ error }: Readonly<Record<string, unknown>>): boolean =>
  isObject(error) || (typeof error === 'string' && error !== '')
