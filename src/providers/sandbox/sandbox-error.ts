/** How a provider would say each of the typed errors. service.md, "Provider errors" and "Typed error codes". */
import { type ErrorMetadata, ERRORS, type ErrorType, GatewayError } from '../../errors.ts'

export const sandboxError = (type: ErrorType): GatewayError => {
  const { code, message = ERRORS[type].message, retryAfterSeconds, metadata = {} } = SAYINGS[type]
  const raw = JSON.stringify({ error: { type, code, message } })
  return new GatewayError(type, message, {
    metadata: { provider_name: 'Sandbox', provider_code: code, raw, ...metadata },
    retryAfterSeconds,
  })
}

interface Saying {
  /** The provider's own code. */
  readonly code: string
  readonly message?: string
  readonly retryAfterSeconds?: number
  readonly metadata?: ErrorMetadata
}

const SAYINGS: Readonly<Record<ErrorType, Saying>> = {
  context_length_exceeded: { code: 'context_length_exceeded' },
  max_tokens_exceeded: { code: 'max_tokens' },
  token_limit_exceeded: { code: 'token_limit' },
  string_too_long: { code: 'string_above_max_length' },
  authentication: { code: 'invalid_api_key', message: 'The provider refused the API key it was given.' },
  permission_denied: { code: 'permission_error', message: 'The provider does not let this account use the model.' },
  payment_required: { code: 'insufficient_quota', message: 'The account at the provider has no credits left.' },
  rate_limit_exceeded: { code: 'rate_limit_error', retryAfterSeconds: 2 },
  provider_overloaded: { code: 'overloaded_error', retryAfterSeconds: 1 },
  provider_unavailable: { code: 'bad_gateway' },
  invalid_request: { code: 'invalid_value' },
  invalid_prompt: { code: 'invalid_prompt' },
  not_found: { code: 'model_not_found' },
  precondition_failed: { code: 'precondition_failed' },
  payload_too_large: { code: 'request_too_large' },
  unprocessable: { code: 'unprocessable_entity' },
  content_policy_violation: {
    code: 'content_filter',
    metadata: {
      reasons: ['sandbox'],
      flagged_input: 'An example of a flagged input.',
      model_slug: 'sandbox/error/content_policy_violation',
    },
  },
  refusal: { code: 'refusal', message: 'The model declined: it cannot help with this request.' },
  invalid_image: { code: 'invalid_image' },
  image_too_large: { code: 'image_too_large' },
  image_too_small: { code: 'image_too_small' },
  unsupported_image_format: { code: 'invalid_image_format' },
  image_not_found: { code: 'image_file_not_found' },
  image_download_failed: { code: 'failed_to_download_image' },
  server: { code: 'internal_error' },
  timeout: { code: 'deadline_exceeded' },
  unmapped: { code: 'E_SANDBOX_4711' },
}
