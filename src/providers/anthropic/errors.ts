/** Turns failures of Messages upstreams into typed errors. Source: the API's page on errors, and error sentences that it does not list. */
import type { GatewayError } from '../../errors.ts'
import { isObject, jsonIn, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { failureError, kindOfStatus } from '../failures/classify-failure.ts'
import { kindOfSentence, type FailureKind } from '../failures/failure-sentences.ts'
import type { Target } from '../provider.ts'
import { redact } from '../redaction/redact.ts'
import { readReportedError, type ReportedError } from '../failures/reported-error.ts'

/** `status`: that of the response; 200 for an error inside a body or a stream. */
export const anthropicFailure = (status: number, bodyText: string, target: Target, retryAfterSeconds?: number): GatewayError => {
  const body = jsonIn(bodyText)
  const reported = readReportedError(body)
  const kind = reported.words.map((word) => KINDS.get(word)).find((known) => known !== undefined)
  const effective = status === 200 ? (kind?.status ?? null) : status
  const found = kindOf(reported, kind?.kind ?? null, effective)
  const details = found === 'our_account' ? undefined : detailsOf(body, target)
  return failureError({ status: effective, reported, raw: bodyText, retryAfterSeconds, details }, found, target)
}

/** The members of `error.details` that are words, numbers or lists of words: the SDKs choose the class of an error by `error_code`. */
const detailsOf = (body: unknown, target: Target): JsonObject | undefined => {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {}
  const given = isObject(error['details']) ? error['details'] : {}
  if (!isWord(given['error_code'])) return undefined
  const kept = Object.entries(given).flatMap(([name, value]): [string, JsonValue][] => {
    if (isWord(value)) return [[name, redact(value, target)]]
    if (typeof value === 'number') return [[name, value]]
    return Array.isArray(value) && value.length <= PATHS_MAX && value.every(isWord)
      ? [[name, value.map((word) => redact(word, target))]]
      : []
  })
  return Object.fromEntries(kept.slice(0, DETAILS_MAX))
}

/** A code, or the path of a member. */
const isWord = (value: unknown): value is string => typeof value === 'string' && /^[\w.[\]-]{1,200}$/.test(value)

const PATHS_MAX = 100
const DETAILS_MAX = 20

const kindOf = (reported: ReportedError, named: FailureKind | null, status: number | null): FailureKind =>
  reported.type ??
  reported.words.map((word) => CODES.get(word)).find((known) => known !== undefined) ??
  kindOfSentence(reported.message, status) ??
  named ??
  (status === 400 && ELEMENT.test(reported.message ?? '') ? 'invalid_prompt' : null) ??
  (status === null ? (reported.words.length > 0 ? 'unmapped' : 'provider_unavailable') : kindOfStatus(status))

/** `messages.0.content.1: …`, and errors about the turns as a whole. */
const ELEMENT = /^messages\.\d+|^messages: (?:roles|first|final|text|at least)/

/**
 * By `error.details.error_code`, where a type that stands for the client's own faults would say too little. The sentences beside these codes
 * may change (the SDK's `APIError.apiMessage`).
 */
const CODES: ReadonlyMap<string, FailureKind> = new Map([
  ['claude_code_key_creator_not_member', 'our_account'],
  ['cmek_key_disabled', 'our_account'],
  ['cmek_key_network_blocked', 'our_account'],
  ['contract_spend_limit_reached', 'our_account'],
  ['enforced_spend_limit_reached', 'our_account'],
  ['linked_organization_billing_unavailable', 'our_account'],
  ['linked_organization_spend_limit_reached', 'our_account'],
  ['organization_on_hold', 'our_account'],
  ['cmek_context_unavailable', 'provider_unavailable'],
  ['cmek_key_unreachable', 'provider_unavailable'],
  ['image_dimensions_too_large', 'image_too_large'],
  ['request_body_too_large_after_decoding', 'payload_too_large'],
])

/** By `error.type`. `status`: the status that goes with it outside of a stream. Without a `kind`, the response's status decides. */
const KINDS: ReadonlyMap<string, { readonly status: number; readonly kind?: FailureKind }> = new Map([
  // It is also used for statuses that have no type of their own.
  ['invalid_request_error', { status: 400 }],
  // The credential, its rights and its account are this service's.
  ['authentication_error', { status: 401, kind: 'our_account' }],
  ['billing_error', { status: 402, kind: 'our_account' }],
  ['permission_error', { status: 403, kind: 'our_account' }],
  ['not_found_error', { status: 404, kind: 'not_found' }],
  ['conflict_error', { status: 409, kind: 'provider_unavailable' }],
  ['request_too_large', { status: 413, kind: 'payload_too_large' }],
  ['rate_limit_error', { status: 429, kind: 'rate_limit_exceeded' }],
  ['api_error', { status: 500 }],
  ['timeout_error', { status: 504, kind: 'timeout' }],
  ['overloaded_error', { status: 529, kind: 'provider_overloaded' }],
])
