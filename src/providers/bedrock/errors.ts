/**
 * Turns failures of Bedrock into typed errors, by the names of its exceptions. Source: the API reference of Converse and ConverseStream,
 * "Errors", and the common errors of AWS.
 */
import type { GatewayError } from '../../errors.ts'
import { objectIn, type JsonObject, textOrNull } from '../../lib/json/json.ts'
import { failureError, kindOfStatus } from '../failures/classify-failure.ts'
import { kindOfSentence, type FailureKind } from '../failures/failure-sentences.ts'
import type { Target } from '../provider.ts'
import { withoutSecret } from '../redaction/redact.ts'
import { secretsOf } from './sign.ts'

export interface ConverseFailure {
  /** The status of the response; null inside a stream, where the name decides. */
  readonly status: number | null
  /** `x-amzn-errortype`, or the name of an exception in a stream. */
  readonly name: string | null
  readonly body: string
  readonly retryAfterSeconds?: number | undefined
}

export const converseFailure = ({ status, name, body, retryAfterSeconds }: ConverseFailure, target: Target): GatewayError => {
  const raw = withoutSecrets(body, target)
  const reported = parsed(raw)
  const code = plainName(name ?? textOrNull(reported['__type']) ?? textOrNull(reported['code']))
  const message = textOrNull(reported['message']) ?? textOrNull(reported['Message']) ?? textOrNull(reported['originalMessage'])
  const named = code === null ? undefined : KINDS.get(code.toLowerCase())
  const effective = status ?? named?.status ?? null
  const failure = { status: effective, reported: { words: code === null ? [] : [code], message }, raw, retryAfterSeconds }
  return failureError(failure, kindOf(code, message, named?.kind ?? null, effective), target)
}

/** A ValidationException is classified by its message, parts of which come from the model; every other name is unambiguous. */
const kindOf = (code: string | null, message: string | null, named: FailureKind | null, status: number | null): FailureKind => {
  const said = named === null || named === 'invalid_request' ? kindOfSentence(message, status) : null
  if (said !== null) return said
  if (named === 'invalid_request' && ABOUT_MESSAGE.test(message ?? '')) return 'invalid_prompt'
  if (named !== null) return named
  if (status !== null) return kindOfStatus(status)
  return code === null ? 'provider_unavailable' : 'unmapped'
}

const ABOUT_MESSAGE = /\bmessages\.\d+|conversation must (?:start|alternate|end)|roles must alternate/i

/** `com.amazon.coral.service#ThrottlingException:http://…` becomes ThrottlingException; in a stream the name is throttlingException. */
const plainName = (name: string | null): string | null => {
  const plain = name?.split('#').at(-1)?.split(':')[0]?.trim() ?? ''
  return plain === '' ? null : `${plain.charAt(0).toUpperCase()}${plain.slice(1)}`
}

const kinds = (status: number, kind: FailureKind, ...names: readonly string[]): [string, { status: number; kind: FailureKind }][] =>
  names.map((name) => [name.toLowerCase(), { status, kind }])

const KINDS: ReadonlyMap<string, { readonly status: number; readonly kind: FailureKind }> = new Map([
  ...kinds(400, 'invalid_request', 'ValidationException', 'ValidationError', 'SerializationException'),
  // The credential, its rights and its account are this service's.
  ...kinds(
    403,
    'our_account',
    'AccessDeniedException',
    'UnrecognizedClientException',
    'ExpiredTokenException',
    'ExpiredToken',
    'InvalidSignatureException',
    'SignatureDoesNotMatch',
    'IncompleteSignature',
    'IncompleteSignatureException',
    'InvalidClientTokenId',
    'MissingAuthenticationToken',
    'MissingAuthenticationTokenException',
    'NotAuthorized',
    'OptInRequired',
    'RequestExpired',
  ),
  ...kinds(404, 'not_found', 'ResourceNotFoundException', 'UnknownOperationException'),
  ...kinds(408, 'timeout', 'ModelTimeoutException'),
  ...kinds(409, 'provider_unavailable', 'ConflictException'),
  ...kinds(413, 'payload_too_large', 'RequestEntityTooLargeException', 'RequestTooLargeException'),
  ...kinds(424, 'provider_unavailable', 'ModelErrorException', 'ModelStreamErrorException'),
  ...kinds(429, 'rate_limit_exceeded', 'ThrottlingException', 'Throttling', 'TooManyRequestsException', 'ServiceQuotaExceededException'),
  ...kinds(429, 'provider_overloaded', 'ModelNotReadyException'),
  ...kinds(500, 'server', 'InternalServerException', 'InternalFailure', 'InternalServerError', 'InternalError'),
  ...kinds(503, 'provider_overloaded', 'ServiceUnavailableException', 'ServiceUnavailable'),
])

const withoutSecrets = (text: string, { apiKey }: Target): string => secretsOf(apiKey).reduce(withoutSecret, text)

/** A proxy's page or an empty body has no members: then the status decides. */
const parsed = (text: string): JsonObject => objectIn(text) ?? {}
