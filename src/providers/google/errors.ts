/** Turns failures of Google's API into typed errors: those of a response, those within a body or a stream, and prompts that it blocks. */
import type { GatewayError } from '../../errors.ts'
import { isObject, jsonIn } from '../../lib/json/json.ts'
import { failureError, kindOfStatus } from '../failures/classify-failure.ts'
import { kindOfSentence, type FailureKind } from '../failures/failure-sentences.ts'
import type { Target } from '../provider.ts'
import { readReportedError, type ReportedError } from '../failures/reported-error.ts'
import type { Ending } from './decode.ts'

type Json = Readonly<Record<string, unknown>>

/** `status`: that of the response; 200 for an error inside a body or a stream. `headerSeconds`: its `Retry-After`. */
export const googleFailure = (status: number, bodyText: string, target: Target, headerSeconds?: number): GatewayError => {
  const body = jsonIn(bodyText)
  // An endpoint that streams without events sends its error in a list.
  const error = errorIn(Array.isArray(body) ? (body as unknown[]).find((entry) => errorIn(entry) !== null) : body)
  const reported = readReportedError(body)
  const effective = status === 200 ? reported.status : status
  const failure = { status: effective, reported, raw: bodyText, retryAfterSeconds: retryDelay(error) ?? headerSeconds }
  return failureError(failure, kindOf(reported, error, effective), target)
}

/** Null if the chunk does not report that the prompt was blocked. */
export const blockedPrompt = (chunk: Json, target: Target): GatewayError | null => {
  const feedback = chunk['promptFeedback']
  const reason = isObject(feedback) ? feedback['blockReason'] : undefined
  if (!isObject(feedback) || typeof reason !== 'string' || reason === 'BLOCK_REASON_UNSPECIFIED') return null
  const said = feedback['blockReasonMessage']
  const message = typeof said === 'string' && said !== '' ? said : `The prompt was blocked (${reason}).`
  const reported = { words: [reason], message, reasons: [reason, ...blockedCategories(feedback)] }
  return failureError({ status: null, reported, raw: JSON.stringify(feedback) }, 'content_policy_violation', target)
}

const blockedCategories = ({ safetyRatings: ratings }: Json): string[] =>
  Array.isArray(ratings)
    ? (ratings as unknown[]).flatMap((rating) =>
        isObject(rating) && rating['blocked'] === true && typeof rating['category'] === 'string' ? [rating['category']] : [],
      )
    : []

/** For an end of the model that is a failure. */
export const brokenEnding = ({ native, message }: Ending, target: Target): GatewayError => {
  const reported = { words: [native], message: message ?? `The model ended without an answer (${native}).` }
  return failureError({ status: null, reported, raw: '' }, 'provider_unavailable', target)
}

/** The error in a body or a chunk; null if there is none. */
export const errorIn = (body: unknown): Json | null => (isObject(body) && isObject(body['error']) ? body['error'] : null)

const WORDS: Readonly<Record<string, FailureKind>> = {
  INVALID_ARGUMENT: 'invalid_request',
  OUT_OF_RANGE: 'invalid_request',
  // For example the location of the account, or something that it has not paid for: this concerns us, not the client.
  FAILED_PRECONDITION: 'provider_unavailable',
  UNAUTHENTICATED: 'our_account',
  PERMISSION_DENIED: 'our_account',
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

/** A single status covers every fault of a request; only the sentence shows what it is about. */
const CREDENTIAL = /\bAPI[ _]key\b/i
const ABOUT_CONTENTS = /\bcontents(?:\[\d+\]|:| is| are| must)|function (?:call|response) (?:turn|parts?)/i

const kindOf = ({ words, message, status: reported }: ReportedError, error: Json | null, status: number | null): FailureKind => {
  const said = message ?? ''
  const word = words.find((each) => Object.hasOwn(WORDS, each))
  if (reasons(error).some((reason) => reason.startsWith('API_KEY_'))) return 'our_account'
  if (word === undefined || word === 'INVALID_ARGUMENT') {
    if (word !== undefined && CREDENTIAL.test(said)) return 'our_account'
    const kind = kindOfSentence(message, status)
    if (kind !== null) return kind
    if (word !== undefined && ABOUT_CONTENTS.test(said)) return 'invalid_prompt'
  }
  // An account without credits has the word of a rate limit too.
  const spent = word === 'RESOURCE_EXHAUSTED' ? kindOfSentence(message, 429) : null
  if (spent !== null) return spent
  const known = word === undefined ? undefined : WORDS[word]
  if (known !== undefined) return known
  if (status !== null) return kindOfStatus(status)
  return words.length > 0 && reported === null ? 'unmapped' : 'provider_unavailable'
}

const detailsOf = (error: Json | null): Json[] =>
  Array.isArray(error?.['details']) ? (error['details'] as unknown[]).filter(isObject) : []

const reasons = (error: Json | null): string[] => detailsOf(error).flatMap(({ reason }) => (typeof reason === 'string' ? [reason] : []))

/** The wait from the detail that holds it, such as `34.4s`, rounded up to whole seconds. */
const retryDelay = (error: Json | null): number | undefined => {
  for (const { retryDelay: reported } of detailsOf(error)) {
    const seconds = typeof reported === 'string' ? /^(\d{1,6}(?:\.\d+)?)s$/.exec(reported) : null
    if (seconds !== null) return Math.ceil(Number(seconds[1]))
  }
  return undefined
}
