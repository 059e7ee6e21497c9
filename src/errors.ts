/**
 * The one table of errors. Every failure that a client can see is a row here: its HTTP status, whether another provider may be tried, the
 * text shown if nothing more specific is known, and its name in each client dialect.
 *
 * The names on each interface are those of the contract (docs/contract/errors.md#types).
 */

/** `elsewhere`: another provider or model may succeed; `never`: the request itself is at fault. */
export type Failover = 'elsewhere' | 'never'

interface ErrorRow {
  readonly status: number
  readonly failover: Failover
  /** Shown if the code that throws gives no better sentence. */
  readonly message: string
  /** `error.code` on the Responses interface. */
  readonly responsesCode: string
  /** `error.type` on the Messages interface. */
  readonly messagesType: string
  /**
   * The Responses interface reports these as a response that is incomplete because of its length, not as a failure
   * (docs/contract/errors.md#length-errors).
   */
  readonly length?: true
}

const row = (
  status: number,
  failover: Failover,
  messagesType: string,
  message: string,
  more: { responsesCode?: string; length?: true } = {},
): ErrorRow => ({ status, failover, messagesType, message, responsesCode: 'server_error', ...more })

export const ERRORS = {
  context_length_exceeded: row(400, 'elsewhere', 'invalid_request_error', 'Input and output exceed the context window of the model.', {
    responsesCode: 'invalid_prompt',
    length: true,
  }),
  max_tokens_exceeded: row(400, 'never', 'invalid_request_error', 'The generation stopped at its maximum number of tokens.', {
    length: true,
  }),
  token_limit_exceeded: row(400, 'never', 'invalid_request_error', 'A token budget of this service was exceeded.', { length: true }),
  string_too_long: row(400, 'never', 'invalid_request_error', 'A string is longer than the provider accepts.', { length: true }),
  authentication: row(401, 'never', 'authentication_error', 'The API key is missing, invalid or revoked.'),
  permission_denied: row(403, 'never', 'permission_error', 'This key may not perform this operation.'),
  payment_required: row(402, 'never', 'billing_error', 'Insufficient credits.'),
  rate_limit_exceeded: row(429, 'elsewhere', 'rate_limit_error', 'Rate limit exceeded.', { responsesCode: 'rate_limit_exceeded' }),
  provider_overloaded: row(503, 'elsewhere', 'overloaded_error', 'The provider is overloaded.'),
  provider_unavailable: row(502, 'elsewhere', 'api_error', 'The provider returned an invalid or empty response.'),
  invalid_request: row(400, 'never', 'invalid_request_error', 'A parameter is malformed or missing.', { responsesCode: 'invalid_prompt' }),
  invalid_prompt: row(400, 'never', 'invalid_request_error', 'A message of the prompt is invalid.'),
  not_found: row(404, 'elsewhere', 'not_found_error', 'The model, file or other resource does not exist.'),
  precondition_failed: row(412, 'never', 'invalid_request_error', 'A precondition header was not satisfied.'),
  payload_too_large: row(413, 'never', 'invalid_request_error', 'Request payload too large.'),
  unprocessable: row(422, 'never', 'invalid_request_error', 'The request is well formed but cannot be processed.'),
  content_policy_violation: row(403, 'never', 'invalid_request_error', 'A content filter flagged the input or the output.', {
    responsesCode: 'image_content_policy_violation',
  }),
  refusal: row(403, 'never', 'invalid_request_error', 'The model refused to answer.', { responsesCode: 'invalid_prompt' }),
  invalid_image: row(400, 'never', 'invalid_request_error', 'An image is corrupt or unreadable.'),
  image_too_large: row(400, 'never', 'invalid_request_error', "An image exceeds the provider's maximum size."),
  image_too_small: row(400, 'never', 'invalid_request_error', "An image is below the provider's minimum dimensions."),
  unsupported_image_format: row(400, 'never', 'invalid_request_error', 'The format of an image is not supported.'),
  image_not_found: row(404, 'never', 'not_found_error', 'An image URL or file id could not be resolved.'),
  image_download_failed: row(400, 'never', 'invalid_request_error', 'An image could not be downloaded.'),
  server: row(500, 'elsewhere', 'api_error', 'Internal Server Error'),
  timeout: row(504, 'elsewhere', 'overloaded_error', 'The provider did not respond in time.'),
  unmapped: row(500, 'elsewhere', 'api_error', 'The provider failed for a reason of an unknown category.'),
} as const satisfies Record<string, ErrorRow>

export type ErrorType = keyof typeof ERRORS

export const ERROR_TYPES = Object.keys(ERRORS) as ErrorType[]

export const errorRow = (type: ErrorType): ErrorRow => ERRORS[type]

/**
 * The message of the management interface for a status; the specific reason goes into `metadata.reason`
 * (docs/contract/errors.md#management-errors).
 */
export const MANAGEMENT_MESSAGES: Readonly<Record<number, string>> = {
  400: 'Invalid request parameters',
  404: 'Resource not found',
  405: 'Method not allowed',
  409: 'Resource conflict. Please try again later.',
  500: 'Internal Server Error',
  503: 'Service temporarily unavailable',
}

/** Types for statuses of the management interface that no error type of the inference interfaces has. */
export const MANAGEMENT_TYPES: Readonly<Record<number, string>> = { 405: 'method_not_allowed', 409: 'conflict' }

/** The service itself has the problem: no provider is to blame, and no key is refused because of it. */
export const STORAGE_AWAY =
  "The service's database cannot be reached, and what this request needs of it is not in memory. Try again shortly."

export const MISSING_AUTHENTICATION = 'Missing Authentication header'
export const INVALID_KEY = 'Invalid API key: it is unknown, disabled, revoked or expired.'
export const MANAGEMENT_KEY_REQUIRED = 'Only management keys can perform this operation'
export const INFERENCE_KEY_REQUIRED = 'Management keys cannot call models. Use an inference key.'

/** The members of `error.metadata`: facts for programs. Never a secret, never another customer's text. */
export type ErrorMetadata = Readonly<Record<string, unknown>>

interface ErrorOptions {
  readonly cause?: unknown
  readonly metadata?: ErrorMetadata
  readonly status?: number
  readonly retryAfterSeconds?: number | undefined
  readonly unread?: boolean
  readonly preset?: string | null
}

/** A failure that may be shown to a client. `message` is shown to the client (a status of 500 masks it); `cause` goes only to the log. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly type: ErrorType
  /** Differs from the table only for statuses without a row there, such as 405 and 409. */
  readonly status: number
  readonly metadata: ErrorMetadata
  /** Whole seconds; sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** The body of the request was refused before its end, so the rest is still to come on the connection, which cannot be used again. */
  readonly unread: boolean
  /** The preset and version of a refused request, `slug@3`, sent as `X-Preset`; null if it used none. */
  readonly preset: string | null

  constructor(type: ErrorType, message?: string, options: ErrorOptions = {}) {
    super(message ?? ERRORS[type].message, options.cause === undefined ? undefined : { cause: options.cause })
    this.type = type
    this.status = options.status ?? ERRORS[type].status
    this.metadata = options.metadata ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
    this.unread = options.unread ?? false
    this.preset = options.preset ?? null
  }

  /** The same failure, with more facts. */
  withMetadata(more: ErrorMetadata): GatewayError {
    return new GatewayError(this.type, this.message, { ...this, cause: this.cause, metadata: { ...this.metadata, ...more } })
  }

  /** The same failure, of a request that used this preset. */
  withPreset(preset: string): GatewayError {
    return new GatewayError(this.type, this.message, { ...this, cause: this.cause, preset })
  }

  /** The text that may leave the service: a 500 says nothing about its cause (docs/contract/errors.md#types). */
  get publicMessage(): string {
    return this.status === 500 ? ERRORS.server.message : this.message
  }

  /**
   * The metadata that may leave the service: a 500 keeps only its `error_type`, and for `unmapped` also the provider's code
   * (docs/contract/errors.md#types).
   */
  get publicMetadata(): ErrorMetadata {
    if (this.status !== 500) {
      // When a stream fails, the headers have already been sent, and some clients hide headers.
      const wait = this.retryAfterSeconds === undefined ? {} : { retry_after_seconds: this.retryAfterSeconds }
      return { ...this.metadata, ...wait, error_type: this.type }
    }
    const code = this.metadata['provider_code']
    return this.type === 'unmapped' && code !== undefined ? { error_type: this.type, provider_code: code } : { error_type: this.type }
  }
}

/** Converts anything thrown to a GatewayError: other errors become a masked `server` error that keeps its cause for the log. */
export const asGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError ? thrown : new GatewayError('server', undefined, { cause: thrown })
