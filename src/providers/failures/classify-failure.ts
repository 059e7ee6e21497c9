/**
 * Classifies a provider's failure as a row of the error table. Failures that only one dialect reports are recognised in that dialect's
 * folder.
 */
import { ERRORS, GatewayError, type ErrorType } from '../../errors.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import { excerpt } from '../../lib/text/excerpt.ts'
import type { FailureKind } from './failure-sentences.ts'
import type { Target } from '../provider.ts'
import { beginningOf, redact } from '../redaction/redact.ts'
import { retryHintInText } from './retry-hint.ts'
import { isEmptyPhrase, type ReportedError } from './reported-error.ts'

/** The most bytes of a provider's error body that are shown, redacted: it may hold data of our own account. */
const RAW_MAX_BYTES = 4096
const CODE_MAX = 200
const REASONS_MAX = 20
const MESSAGE_MAX = 1000
/** The most characters that a client may see (docs/contract/errors.md#moderation). */
export const FLAGGED_INPUT_MAX = 100

export interface ProviderFailure {
  /** The status of the response; null for an error inside a body or a stream of status 200 that names no status. */
  readonly status: number | null
  readonly reported: Pick<ReportedError, 'words' | 'message'> & Partial<ReportedError>
  readonly raw: string
  /** The wait that the response's headers ask for, in seconds. */
  readonly retryAfterSeconds?: number | undefined
  /** Facts for a client of the provider's own dialect, which holds nothing of our account. */
  readonly details?: JsonObject | undefined
}

export const failureError = (failure: ProviderFailure, kind: FailureKind, target: Target): GatewayError => {
  const type: ErrorType = kind === 'our_account' ? 'provider_unavailable' : kind
  const code = failure.reported.words[0]
  return new GatewayError(type, sentence(failure, kind, target), {
    metadata: {
      provider_name: target.providerName,
      ...(code === undefined ? {} : { provider_code: cutText(redact(code, target), CODE_MAX) }),
      ...(failure.details === undefined ? {} : { details: failure.details }),
      ...(failure.raw === '' ? {} : { raw: beginningOf(redact(failure.raw, target), RAW_MAX_BYTES) }),
      ...(type === 'content_policy_violation' ? moderation(failure, target) : {}),
    },
    // A wait is sent only with statuses for which waiting helps (docs/contract/errors.md#retry-after).
    ...(WAITED_FOR.has(ERRORS[type].status)
      ? { retryAfterSeconds: failure.retryAfterSeconds ?? retryHintInText(failure.reported.message) }
      : {}),
  })
}

const WAITED_FOR: ReadonlySet<number> = new Set([429, 503])

/** `flagged_input` is set here if the provider reports it; otherwise the caller adds it, since it knows the prompt. */
const moderation = ({ reported }: ProviderFailure, target: Target): Readonly<Record<string, unknown>> => {
  const { reasons = [], flaggedInput = null } = reported
  const reason = reported.words[0] ?? 'content_policy_violation'
  return {
    reasons: (reasons.length > 0 ? reasons : [reason]).slice(0, REASONS_MAX).map((each) => cutText(redact(each, target), CODE_MAX)),
    ...(flaggedInput === null ? {} : { flagged_input: excerpt(flaggedInput, FLAGGED_INPUT_MAX) }),
    model_slug: target.modelId,
  }
}

/** For an answer that breaks the rules of its dialect. `did`: what the provider did, as the end of a sentence. */
export const unusable = (target: Target, did: string, cause?: unknown): GatewayError =>
  new GatewayError('provider_unavailable', `${target.providerName} ${did}`, { cause, metadata: { provider_name: target.providerName } })

/** The kind that a status alone stands for. A refused credential of ours never becomes a 401 for the client. */
export const kindOfStatus = (status: number): FailureKind => {
  const known = STATUSES[status]
  if (known !== undefined) return known
  return (status >= 300 && status < 400) || (status > 500 && status < 600) ? 'provider_unavailable' : 'unmapped'
}

const STATUSES: Readonly<Record<number, FailureKind>> = {
  400: 'invalid_request',
  401: 'our_account',
  402: 'our_account',
  403: 'our_account',
  404: 'not_found',
  405: 'invalid_request',
  406: 'invalid_request',
  407: 'our_account',
  408: 'timeout',
  409: 'provider_unavailable', // a conflict inside the provider: another one may succeed (docs/contract/failover.md#what-follows)
  410: 'not_found',
  411: 'invalid_request',
  412: 'precondition_failed',
  413: 'payload_too_large',
  414: 'invalid_request',
  415: 'invalid_request',
  416: 'invalid_request',
  417: 'invalid_request',
  422: 'unprocessable',
  423: 'provider_unavailable',
  424: 'provider_unavailable',
  425: 'provider_unavailable',
  428: 'precondition_failed',
  429: 'rate_limit_exceeded',
  431: 'invalid_request',
  446: 'content_policy_violation', // Portkey: its guardrails denied the request or its answer
  451: 'content_policy_violation',
  498: 'provider_overloaded', // Groq: no room in this tier
  499: 'provider_unavailable', // Google: it cancelled the request
  500: 'server',
  503: 'provider_overloaded',
  504: 'timeout',
  522: 'timeout',
  524: 'timeout',
  529: 'provider_overloaded',
  598: 'timeout',
  599: 'timeout',
}

/** The provider's reason in plain words. If the provider sent HTML, an empty phrase or nothing, our own sentence is used instead. */
const sentence = ({ status, reported }: ProviderFailure, kind: FailureKind, target: Target): string => {
  const { providerName } = target
  if (kind === 'our_account')
    return `${providerName} refused the credential that this service holds for it${status === null ? '' : ` (status ${status})`}.`
  const reason =
    reported.message === null || isEmptyPhrase(reported.message) ? null : cutText(redact(reported.message.trim(), target), MESSAGE_MAX)
  if (reason !== null) return `${providerName}: ${reason}`
  return status === null
    ? `${providerName} answered with an error that it does not explain.`
    : `${providerName} answered with status ${status}.`
}
