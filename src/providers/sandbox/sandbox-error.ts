/** Makes each of the typed errors as a provider would report it (docs/contract/errors.md#types). */
import { type ErrorMetadata, ERRORS, type ErrorType, GatewayError } from '../../errors.ts'

/** `model`: our id of the sandbox model that fails. */
export const sandboxError = (type: ErrorType, model: string): GatewayError => {
  const { code, message, param = null, retryAfterSeconds, metadata = {} } = SAYINGS[type]
  const raw = JSON.stringify({ error: { message, type: KIND_OF_STATUS[ERRORS[type].status] ?? 'invalid_request_error', param, code } })
  return new GatewayError(type, `Sandbox: ${message}`, {
    metadata: {
      provider_name: 'Sandbox',
      provider_code: code,
      raw,
      ...metadata,
      ...(type === 'content_policy_violation' ? { model_slug: model } : {}),
    },
    retryAfterSeconds,
  })
}

interface Saying {
  /** The provider's own code. */
  readonly code: string
  readonly message: string
  readonly param?: string
  readonly retryAfterSeconds?: number
  readonly metadata?: ErrorMetadata
}

const KIND_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'server_error',
  502: 'server_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

const SAYINGS: Readonly<Record<ErrorType, Saying>> = {
  context_length_exceeded: {
    code: 'context_length_exceeded',
    message: "This model's maximum context length is 8192 tokens, and your messages and the answer need 9216.",
    param: 'messages',
  },
  max_tokens_exceeded: {
    code: 'max_tokens_exceeded',
    message: 'The message could not be finished because max_tokens or the output limit of the model was reached.',
  },
  token_limit_exceeded: { code: 'token_limit_exceeded', message: 'This request would exceed the token budget of 1000000 tokens a day.' },
  string_too_long: {
    code: 'string_above_max_length',
    message: "Invalid 'messages[0].content': at most 10485760 characters, and this string has 10485761.",
    param: 'messages[0].content',
  },
  authentication: { code: 'invalid_api_key', message: 'Incorrect API key provided.' },
  permission_denied: { code: 'model_access_denied', message: 'This account may not use this model.' },
  payment_required: { code: 'insufficient_quota', message: 'The account has no credits left.' },
  rate_limit_exceeded: {
    code: 'rate_limit_exceeded',
    message: 'Rate limit reached for requests. Please try again in 2s.',
    retryAfterSeconds: 2,
  },
  provider_overloaded: { code: 'overloaded_error', message: 'The model is overloaded. Please try again.', retryAfterSeconds: 1 },
  provider_unavailable: { code: 'bad_gateway', message: 'The model server broke off without an answer.' },
  invalid_request: { code: 'invalid_value', message: "Invalid 'temperature': must be from 0 to 2.", param: 'temperature' },
  invalid_prompt: { code: 'invalid_value', message: "Invalid 'messages[1].role': 'robot' is not a role.", param: 'messages[1].role' },
  not_found: { code: 'model_not_found', message: 'This model does not exist here, or was retired.', param: 'model' },
  precondition_failed: { code: 'precondition_failed', message: 'The header If-Match names another version.' },
  payload_too_large: { code: 'request_too_large', message: 'The request is larger than 20971520 bytes.' },
  unprocessable: { code: 'unprocessable_entity', message: 'The tool results name no call that was made.' },
  content_policy_violation: {
    code: 'content_filter',
    message: 'The prompt was flagged by the content filter.',
    metadata: { reasons: ['violence', 'self-harm'] },
  },
  refusal: { code: 'refusal', message: 'The model declined: it cannot help with this request.' },
  invalid_image: { code: 'invalid_image', message: 'The image data does not represent a valid image.', param: 'messages[0].content[1]' },
  image_too_large: { code: 'image_too_large', message: 'The image exceeds 20 MB.', param: 'messages[0].content[1]' },
  image_too_small: { code: 'image_too_small', message: 'The image must be at least 10 by 10 pixels.', param: 'messages[0].content[1]' },
  unsupported_image_format: {
    code: 'invalid_image_format',
    message: 'The image is not a PNG, JPEG, GIF or WebP.',
    param: 'messages[0].content[1]',
  },
  image_not_found: { code: 'image_file_not_found', message: 'There is no file file-sandbox.', param: 'messages[0].content[1]' },
  image_download_failed: {
    code: 'failed_to_download_image',
    message: 'The image could not be downloaded: its server answered with status 403.',
    param: 'messages[0].content[1]',
  },
  server: { code: 'internal_error', message: 'The server had an error while processing the request.' },
  timeout: { code: 'deadline_exceeded', message: 'The model did not answer in time.' },
  unmapped: { code: 'E_SANDBOX_4711', message: 'A fault that no catalogue lists.' },
}
