/** Failures of Bedrock as typed errors, by the names of its exceptions. Source: the API reference of Converse and ConverseStream, "Errors", and the common errors of AWS. */
import type { ErrorType, GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { failureError, typeOfStatus } from '../classify-failure.ts'
import type { Target } from '../provider.ts'
import { secretsOf } from './sign.ts'

export interface ConverseFailure {
  /** That of the response; null inside a stream, where the name has to speak. */
  readonly status: number | null
  /** `x-amzn-errortype`, or the name of an exception in a stream. */
  readonly name: string | null
  readonly body: string
  readonly retryAfterSeconds?: number | undefined
}

export const converseFailure = ({ status, name, body, retryAfterSeconds }: ConverseFailure, target: Target): GatewayError => {
  const raw = withoutSecrets(body, target)
  const told = parseOrNull(raw)
  const code = plainName(name ?? textOf(told['__type']) ?? textOf(told['code']))
  const message = textOf(told['message']) ?? textOf(told['Message']) ?? textOf(told['originalMessage'])
  const kind = code === null ? undefined : KINDS.get(code.toLowerCase())
  const effective = status ?? kind?.status ?? 502
  const said = effective === 400 ? typeOfSentence(message) : null
  const type = said ?? kind?.type ?? typeOfStatus(effective)
  // A credential that is refused under 400 is one that is refused.
  const known = kind?.type === 'provider_unavailable' ? kind.status : effective
  return failureError({ status: known, code, message, raw, retryAfterSeconds }, type, target)
}

/** `com.amazon.coral.service#ThrottlingException:http://…` is ThrottlingException, and in a stream throttlingException. */
const plainName = (name: string | null): string | null => {
  const plain = name?.split('#').at(-1)?.split(':')[0]?.trim() ?? ''
  return plain === '' ? null : `${plain.charAt(0).toUpperCase()}${plain.slice(1)}`
}

const kinds = (status: number, type: ErrorType, ...names: readonly string[]): [string, { status: number; type: ErrorType }][] =>
  names.map((name) => [name.toLowerCase(), { status, type }])

const KINDS: ReadonlyMap<string, { readonly status: number; readonly type: ErrorType }> = new Map([
  ...kinds(400, 'invalid_request', 'ValidationException', 'ValidationError', 'SerializationException'),
  // The credential, its rights and its account are ours.
  ...kinds(
    403,
    'provider_unavailable',
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
  ...kinds(500, 'server', 'InternalServerException', 'InternalFailure', 'InternalServerError'),
  ...kinds(503, 'provider_overloaded', 'ServiceUnavailableException', 'ServiceUnavailable'),
])

/** What a ValidationException says in words alone; some of them are the model's own. */
const SENTENCES: readonly (readonly [RegExp, ErrorType])[] = [
  [
    /(?:input|prompt) is too long|too many (?:input )?tokens|context (?:length|window|limit)|input tokens? exceed/i,
    'context_length_exceeded',
  ],
  // The operator's name for the model is wrong for this region or account: another provider may have it.
  [/model identifier is invalid|on-demand throughput isn.t supported|end of its life|legacy and you have not/i, 'not_found'],
  [/content filter(?:ing)? policy|blocked by (?:content filter|our|the) /i, 'content_policy_violation'],
  [/image exceeds .*max|image (?:size|dimensions) exceed/i, 'image_too_large'],
  [/could not process image|invalid image|image does not match/i, 'invalid_image'],
]

const typeOfSentence = (message: string | null): ErrorType | null =>
  message === null ? null : (SENTENCES.find(([sentence]) => sentence.test(message))?.[1] ?? null)

const withoutSecrets = (text: string, { apiKey }: Target): string =>
  secretsOf(apiKey).reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), text)

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

const parseOrNull = (text: string): Record<string, unknown> => {
  try {
    const body: unknown = JSON.parse(text)
    return isObject(body) ? body : {}
  } catch {
    return {} // a page of a proxy, or nothing: the status speaks
  }
}
