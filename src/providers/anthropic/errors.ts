/** Failures of Messages upstreams as typed errors. Source: the API's page on errors, and the sentences that it does not list. */
import type { ErrorType, GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { failureError, parseOrNull, readErrorBody, typeOfRouter, typeOfStatus } from '../classify-failure.ts'
import type { Target } from '../provider.ts'

/** `status` is that of the response, or 200 for an error inside a body or a stream. */
export const anthropicFailure = (status: number, bodyText: string, target: Target, retryAfterSeconds?: number): GatewayError => {
  const body = parseOrNull(bodyText)
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {}
  const { code, message } = readErrorBody(body)
  const kind = typeof error['type'] === 'string' ? error['type'] : ''
  const effective = status === 200 ? (KINDS.get(kind)?.status ?? 502) : status
  const told = typeOfSentence(effective, message)
  const type = typeOfRouter(error['error_type']) ?? told ?? KINDS.get(kind)?.type ?? typeOfStatus(effective)
  // An account of ours that is spent comes under 400; its state is not the client's to know.
  const shown = told === 'provider_unavailable' ? 402 : effective
  return failureError({ status: shown, code: causeOf(error) ?? code, message, raw: bodyText, retryAfterSeconds }, type, target)
}

/** By `error.type`. The `status` is what goes with it outside of a stream; without a `type` the response's status speaks. */
const KINDS: ReadonlyMap<string, { readonly status: number; readonly type?: ErrorType }> = new Map([
  // It is also what statuses come under that have no kind of their own.
  ['invalid_request_error', { status: 400 }],
  // The credential, its rights and its account are ours.
  ['authentication_error', { status: 401, type: 'provider_unavailable' }],
  ['billing_error', { status: 402, type: 'provider_unavailable' }],
  ['permission_error', { status: 403, type: 'provider_unavailable' }],
  ['not_found_error', { status: 404, type: 'not_found' }],
  ['conflict_error', { status: 409, type: 'provider_unavailable' }],
  ['request_too_large', { status: 413, type: 'payload_too_large' }],
  ['rate_limit_error', { status: 429, type: 'rate_limit_exceeded' }],
  ['api_error', { status: 500 }],
  ['timeout_error', { status: 504, type: 'timeout' }],
  ['overloaded_error', { status: 529, type: 'provider_overloaded' }],
])

/** What the API says in words alone, mostly under 400. */
const SENTENCES: readonly (readonly [RegExp, ErrorType])[] = [
  [/prompt is too long|exceeds? (?:the )?context (?:limit|window)|context (?:window|length) exceeded/i, 'context_length_exceeded'],
  [/credit balance is too low|API usage limit|spend(?:ing)? limit|organization has been disabled/i, 'provider_unavailable'],
  [/blocked by content filtering|content filtering policy/i, 'content_policy_violation'],
  [/image exceeds \d|image dimensions exceed/i, 'image_too_large'],
  [/could not process image|invalid base64 (?:data|image)|image does not match/i, 'invalid_image'],
  [/image\.source\S*media_type|unsupported image/i, 'unsupported_image_format'],
  [/unable to download|failed to (?:download|fetch)/i, 'image_download_failed'],
]

const typeOfSentence = (status: number, message: string | null): ErrorType | null => {
  if (message === null || (status !== 400 && status !== 413 && status !== 500)) return null
  return SENTENCES.find(([sentence]) => sentence.test(message))?.[1] ?? null
}

/** A stable name of the cause, where there is one. */
const causeOf = (error: Readonly<Record<string, unknown>>): string | null => {
  const code = isObject(error['details']) ? error['details']['error_code'] : undefined
  return typeof code === 'string' && code !== '' ? code : null
}
