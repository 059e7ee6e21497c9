/** Failures of Google's API as typed errors: of a response, within a body or a stream, and of a prompt that it blocks. */
import type { ErrorType, GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { failureError, parseOrNull, readErrorBody, typeOfStatus } from '../classify-failure.ts'
import type { Target } from '../provider.ts'
import type { Ending } from './decode.ts'

type Json = Readonly<Record<string, unknown>>

/** `status` is that of the response, or 200 for an error inside a body or a stream. `headerSeconds`: its `Retry-After`. */
export const googleFailure = (status: number, bodyText: string, target: Target, headerSeconds?: number): GatewayError => {
  const body = parseOrNull(bodyText)
  // An endpoint that streams without events sends its error in a list.
  const error = errorIn(Array.isArray(body) ? (body as unknown[]).find((entry) => errorIn(entry) !== null) : body)
  const told = error?.['code']
  const effective = status === 200 ? (typeof told === 'number' && told >= 400 && told < 600 ? told : 502) : status
  const { code, message } = readErrorBody(error === null ? body : { error })
  const word = typeof error?.['status'] === 'string' ? error['status'] : null
  const type = typeOfWords(word, message ?? '', error) ?? typeOfStatus(effective)
  const ours = type === 'provider_unavailable' && CREDENTIAL.test(message ?? '')
  return failureError(
    {
      status: effective,
      code: word ?? code,
      message: ours ? 'The credential that this service holds for it was refused.' : message,
      raw: bodyText,
      retryAfterSeconds: retryDelay(error) ?? headerSeconds,
    },
    type,
    target,
  )
}

/** Null where the chunk does not say that the prompt was blocked. */
export const blockedPrompt = (chunk: Json, target: Target): GatewayError | null => {
  const feedback = chunk['promptFeedback']
  const reason = isObject(feedback) ? feedback['blockReason'] : undefined
  if (!isObject(feedback) || typeof reason !== 'string' || reason === 'BLOCK_REASON_UNSPECIFIED') return null
  const told = feedback['blockReasonMessage']
  const message = typeof told === 'string' && told !== '' ? told : `The prompt was blocked (${reason}).`
  return failureError(
    { status: 200, code: reason, message, raw: JSON.stringify(feedback), retryAfterSeconds: undefined },
    'content_policy_violation',
    target,
  )
}

/** An end of the model's that is a failure. */
export const brokenEnding = ({ native, message }: Ending, target: Target): GatewayError =>
  failureError(
    {
      status: 200,
      code: native,
      message: message ?? `The model ended without an answer (${native}).`,
      raw: '',
      retryAfterSeconds: undefined,
    },
    'provider_unavailable',
    target,
  )

/** The error that a body or a chunk holds; null where it holds none. */
export const errorIn = (body: unknown): Json | null => (isObject(body) && isObject(body['error']) ? body['error'] : null)

const WORDS: Readonly<Record<string, ErrorType>> = {
  INVALID_ARGUMENT: 'invalid_request',
  OUT_OF_RANGE: 'invalid_request',
  // Where the account is, what it has not paid for: ours, not the client's.
  FAILED_PRECONDITION: 'provider_unavailable',
  UNAUTHENTICATED: 'provider_unavailable',
  PERMISSION_DENIED: 'provider_unavailable',
  NOT_FOUND: 'not_found',
  RESOURCE_EXHAUSTED: 'rate_limit_exceeded',
  UNAVAILABLE: 'provider_overloaded',
  ABORTED: 'provider_unavailable',
  CANCELLED: 'provider_unavailable',
  DEADLINE_EXCEEDED: 'timeout',
  INTERNAL: 'server',
  UNKNOWN: 'server',
  DATA_LOSS: 'server',
  UNIMPLEMENTED: 'invalid_request',
}

const CREDENTIAL = /\bAPI[ _]key\b/i

/** One word covers every fault of a request: what it is about stands in the sentence. */
const SENTENCES: readonly (readonly [RegExp, ErrorType])[] = [
  [CREDENTIAL, 'provider_unavailable'],
  [/token count|maximum number of tokens|context (?:length|window)/i, 'context_length_exceeded'],
  [/(?:fetch|download|retrieve|access).{0,40}\bur[li]\b|\bfile[ _]?ur[il]\b/i, 'image_download_failed'],
  [/unsupported mime ?type.{0,20}image\//i, 'unsupported_image_format'],
  [/unable to process input image|(?:image|picture).{0,40}not valid/i, 'invalid_image'],
]

const typeOfWords = (word: string | null, message: string, error: Json | null): ErrorType | null => {
  if (reasons(error).some((reason) => reason.startsWith('API_KEY_'))) return 'provider_unavailable'
  if (word === 'INVALID_ARGUMENT') for (const [sentence, type] of SENTENCES) if (sentence.test(message)) return type
  return word === null ? null : (WORDS[word] ?? null)
}

const detailsOf = (error: Json | null): Json[] =>
  Array.isArray(error?.['details']) ? (error['details'] as unknown[]).filter(isObject) : []

const reasons = (error: Json | null): string[] => detailsOf(error).flatMap(({ reason }) => (typeof reason === 'string' ? [reason] : []))

/** How long to wait, from the detail that tells it: `34.4s`, rounded up. */
const retryDelay = (error: Json | null): number | undefined => {
  for (const { retryDelay: told } of detailsOf(error)) {
    const seconds = typeof told === 'string' ? /^(\d{1,6}(?:\.\d+)?)s$/.exec(told) : null
    if (seconds !== null) return Math.ceil(Number(seconds[1]))
  }
  return undefined
}
