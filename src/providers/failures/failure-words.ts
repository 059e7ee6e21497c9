/**
 * Maps the names that vendors of the OpenAI dialects give faults to error types (docs/contract/errors.md#types). Sources: OpenAI's and
 * Azure's error guides, and the pages on errors of Groq, Mistral, DeepSeek, xAI, Cerebras, Moonshot, Alibaba, Zhipu, Volcengine, MiniMax,
 * Baidu, Novita, GitHub Models, Hugging Face, LiteLLM, Portkey and llama.cpp.
 */
import { isObject } from '../../lib/json/json.ts'
import type { FailureKind } from './failure-sentences.ts'
import { errorSentence, failedBase, groqError } from './reported-error.ts'

/** Codes that settle the type, whatever else the error says. */
const CODES: Readonly<Record<string, FailureKind>> = {
  context_length_exceeded: 'context_length_exceeded',
  exceed_context_size_error: 'context_length_exceeded',
  // Perplexity
  too_many_prompt_tokens: 'context_length_exceeded',
  // Baidu
  tokens_too_long: 'context_length_exceeded',
  characters_too_long: 'context_length_exceeded',
  // Zhipu numbers its faults; no other vendor uses these numbers.
  1113: 'our_account',
  1211: 'not_found',
  1261: 'context_length_exceeded',
  1301: 'content_policy_violation',
  1302: 'rate_limit_exceeded',
  1303: 'rate_limit_exceeded',
  1304: 'rate_limit_exceeded',
  1305: 'provider_overloaded',
  1308: 'rate_limit_exceeded',
  1309: 'our_account',
  1310: 'rate_limit_exceeded',
  1312: 'provider_overloaded',
  // GitHub Models
  tokens_limit_reached: 'context_length_exceeded',
  string_above_max_length: 'string_too_long',
  max_tokens_exceeded: 'max_tokens_exceeded',
  rate_limit_exceeded: 'rate_limit_exceeded',
  rate_limit_error: 'rate_limit_exceeded',
  rate_limit_reached_error: 'rate_limit_exceeded',
  request_quota_exceeded: 'rate_limit_exceeded',
  token_quota_exceeded: 'rate_limit_exceeded',
  slow_down: 'provider_overloaded',
  engine_overloaded: 'provider_overloaded',
  engine_overloaded_error: 'provider_overloaded',
  server_is_overloaded: 'provider_overloaded',
  serveroverloaded: 'provider_overloaded',
  overloaded_error: 'provider_overloaded',
  queue_exceeded: 'provider_overloaded',
  capacity_exceeded: 'provider_overloaded',
  service_tier_capacity_exceeded: 'provider_overloaded',
  3505: 'provider_overloaded',
  // The account without credits or rights is this service's.
  insufficient_quota: 'our_account',
  insufficient_user_quota: 'our_account',
  exceeded_current_quota_error: 'our_account',
  arrearage: 'our_account',
  insufficient_balance_error: 'our_account',
  billing_insufficient_balance: 'our_account',
  not_enough_balance: 'our_account',
  accountoverdueerror: 'our_account',
  'allocationquota.freetieronly': 'our_account',
  billing_hard_limit_reached: 'our_account',
  billing_not_active: 'our_account',
  account_deactivated: 'our_account',
  // LiteLLM
  budget_exceeded: 'our_account',
  // MiniMax numbers its faults too. Those of its numbers that Zhipu uses with another meaning are told apart by their sentences.
  1004: 'our_account',
  2049: 'our_account',
  1041: 'rate_limit_exceeded',
  2045: 'rate_limit_exceeded',
  2056: 'rate_limit_exceeded',
  1013: 'server',
  1024: 'server',
  1033: 'server',
  invalid_api_key: 'our_account',
  incorrect_api_key_error: 'our_account',
  wrong_api_key: 'our_account',
  data_residency_mismatch: 'our_account',
  unsupported_country_region_territory: 'our_account',
  model_not_found: 'not_found',
  unknown_model: 'not_found',
  unavailable_model: 'not_found',
  // Hugging Face's router
  model_not_supported: 'not_found',
  model_decommissioned: 'not_found',
  invalid_model: 'not_found',
  modelnotopen: 'not_found',
  modelnotfound: 'not_found',
  'invalidendpoint.closedendpoint': 'not_found',
  deploymentnotfound: 'not_found',
  resource_not_found_error: 'not_found',
  invalid_encrypted_content: 'invalid_prompt',
  content_policy_violation: 'content_policy_violation',
  image_content_policy_violation: 'content_policy_violation',
  responsibleaipolicyviolation: 'content_policy_violation',
  content_filter: 'content_policy_violation',
  data_inspection_failed: 'content_policy_violation',
  datainspectionfailed: 'content_policy_violation',
  unsafe_request: 'content_policy_violation',
  moderation_blocked: 'content_policy_violation',
  // Portkey
  hooks_failed: 'content_policy_violation',
  bio_policy: 'content_policy_violation',
  cyber_policy: 'content_policy_violation',
  misalignment_policy_violation: 'content_policy_violation',
  refusal: 'refusal',
  model_refusal: 'refusal',
  invalid_image: 'invalid_image',
  image_parse_error: 'invalid_image',
  invalid_base64_image: 'invalid_image',
  empty_image_file: 'invalid_image',
  image_file_not_found: 'image_not_found',
  invalid_image_format: 'unsupported_image_format',
  invalid_image_mode: 'unsupported_image_format',
  unsupported_image_media_type: 'unsupported_image_format',
  image_too_large: 'image_too_large',
  image_file_too_large: 'image_too_large',
  image_too_small: 'image_too_small',
  failed_to_download_image: 'image_download_failed',
  vector_store_timeout: 'timeout',
  request_timeout: 'timeout',
  requesttimeout: 'timeout',
}

/** Codes that the sentence beside them may narrow: for example, a flagged prompt comes under the code of a malformed one. */
const BROAD_CODES: Readonly<Record<string, FailureKind>> = {
  invalid_prompt: 'invalid_prompt',
  invalid_image_url: 'image_not_found',
  server_error: 'server',
  internal_server_error: 'server',
}

const find = (table: Readonly<Record<string, FailureKind>>, words: readonly string[]): FailureKind | null => {
  for (const word of words) {
    const key = word.toLowerCase()
    const kind = Object.hasOwn(table, key) ? table[key] : undefined
    if (kind !== undefined) return kind
  }
  return null
}

/** Volcengine names the place of what was found, and may add its kind: `InputTextSensitiveContentDetected.Violence`. */
const DETECTED = /^(?:(?:input|output)(?:text|image|video|audio))?(?:sensitivecontentdetected|riskdetection)(?:\.|$)/i

export const kindOfCode = (words: readonly string[]): FailureKind | null =>
  find(CODES, words) ?? (words.some((word) => DETECTED.test(word)) ? 'content_policy_violation' : null)

export const kindOfBroadCode = (words: readonly string[]): FailureKind | null => find(BROAD_CODES, words)

/** The status that a kind of error would have had, for errors inside a body or a stream of status 200. */
const STATUS_OF_KIND: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  badrequesterror: 400,
  bad_request: 400,
  authentication_error: 401,
  invalid_authentication_error: 401,
  insufficient_balance: 402,
  permission_error: 403,
  permission_denied_error: 403,
  not_found_error: 404,
  notfounderror: 404,
  timeout: 504,
  timeout_error: 504,
  gateway_timeout: 504,
  too_many_requests: 429,
  too_many_requests_error: 429,
  api_error: 500,
  internalservererror: 500,
  bad_gateway: 502,
  unavailable_error: 503,
  service_unavailable: 503,
  service_unavailable_error: 503,
}

export const statusOfKind = (words: readonly string[]): number | null => {
  for (const word of words) {
    const key = word.toLowerCase()
    if (Object.hasOwn(STATUS_OF_KIND, key)) return STATUS_OF_KIND[key] ?? null
  }
  return null
}

/**
 * Recognises an error: an object with a code and a sentence, a sentence alone (from smaller servers), or the member in which MiniMax and
 * Groq report that an answer failed.
 */
export const holdsError = (body: Readonly<Record<string, unknown>>): boolean => {
  const { error, base_resp, x_groq } = body
  return (
    isObject(error) ||
    (typeof error === 'string' && error !== '') ||
    failedBase(base_resp) !== null ||
    groqError(x_groq) !== null ||
    isBareError(body)
  )
}

/**
 * Recognises an error that has no member of its own: vLLM's and SGLang's older `{object: 'error', message}`, the native form of Alibaba,
 * Zhipu and SiliconFlow (`{code, message}`), that of Cloudflare (`{success: false, errors}`), the findings of FastAPI's validation, and a
 * sentence under a name that only an error has (SambaNova, Baidu).
 */
const isBareError = (body: Readonly<Record<string, unknown>>): boolean => {
  const { object, choices, success, code, message, detail } = body
  if (object === 'error') return true
  if (choices !== undefined) return false
  return success === false || Array.isArray(detail) || (typeof message === 'string' && isCodeOfError(code)) || errorSentence(body) !== ''
}

/** Servers whose answers all have a code send 0 or 200 with those that succeed. */
const isCodeOfError = (code: unknown): boolean =>
  (typeof code === 'number' || (typeof code === 'string' && code !== '')) && Number(code) !== 0 && Number(code) !== 200
