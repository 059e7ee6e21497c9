/** The error types and their names on each interface, copied by hand from docs/contract/errors.md, to check the service against. */
interface Rule {
  readonly status: number
  /** `error.code` on Responses; null if the failure is an answer with finish reason length. */
  readonly responses: string | null
  /** `error.type` on Messages. */
  readonly messages: string
}

const rule = (status: number, responses: string | null, messages: string): Rule => ({ status, responses, messages })

export const ERROR_RULES = {
  context_length_exceeded: rule(400, null, 'invalid_request_error'),
  max_tokens_exceeded: rule(400, null, 'invalid_request_error'),
  token_limit_exceeded: rule(400, null, 'invalid_request_error'),
  string_too_long: rule(400, null, 'invalid_request_error'),
  authentication: rule(401, 'server_error', 'authentication_error'),
  permission_denied: rule(403, 'server_error', 'permission_error'),
  payment_required: rule(402, 'server_error', 'billing_error'),
  rate_limit_exceeded: rule(429, 'rate_limit_exceeded', 'rate_limit_error'),
  provider_overloaded: rule(503, 'server_error', 'overloaded_error'),
  provider_unavailable: rule(502, 'server_error', 'api_error'),
  invalid_request: rule(400, 'invalid_prompt', 'invalid_request_error'),
  invalid_prompt: rule(400, 'server_error', 'invalid_request_error'),
  not_found: rule(404, 'server_error', 'not_found_error'),
  precondition_failed: rule(412, 'server_error', 'invalid_request_error'),
  payload_too_large: rule(413, 'server_error', 'invalid_request_error'),
  unprocessable: rule(422, 'server_error', 'invalid_request_error'),
  content_policy_violation: rule(403, 'image_content_policy_violation', 'invalid_request_error'),
  refusal: rule(403, 'invalid_prompt', 'invalid_request_error'),
  invalid_image: rule(400, 'server_error', 'invalid_request_error'),
  image_too_large: rule(400, 'server_error', 'invalid_request_error'),
  image_too_small: rule(400, 'server_error', 'invalid_request_error'),
  unsupported_image_format: rule(400, 'server_error', 'invalid_request_error'),
  image_not_found: rule(404, 'server_error', 'not_found_error'),
  image_download_failed: rule(400, 'server_error', 'invalid_request_error'),
  server: rule(500, 'server_error', 'api_error'),
  timeout: rule(504, 'server_error', 'overloaded_error'),
  unmapped: rule(500, 'server_error', 'api_error'),
} as const satisfies Record<string, Rule>

export type RuledType = keyof typeof ERROR_RULES
export const RULED_TYPES = Object.keys(ERROR_RULES) as RuledType[]
