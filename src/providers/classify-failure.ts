/** A provider's failure as a row of the error table. What only one dialect says is told apart in that dialect's folder. */
import { ERROR_TYPES, GatewayError, type ErrorType } from '../errors.ts'
import { isObject } from '../lib/json.ts'
import type { Target } from './provider.ts'

/** A provider's error body may hold our own account's data: it is shown up to this size, redacted. */
const RAW_MAX = 4096
const CODE_MAX = 200

export interface ProviderFailure {
  readonly status: number
  /** The provider's own code and sentence, where it gave them. */
  readonly code: string | null
  readonly message: string | null
  readonly raw: string
  readonly retryAfterSeconds: number | undefined
}

export const failureError = (failure: ProviderFailure, type: ErrorType, target: Target): GatewayError =>
  new GatewayError(type, sentence(failure, type, target), {
    metadata: {
      provider_name: target.providerName,
      ...(failure.code === null ? {} : { provider_code: redact(failure.code, target).slice(0, CODE_MAX) }),
      ...(failure.raw === '' ? {} : { raw: redact(failure.raw, target) }),
    },
    retryAfterSeconds: failure.retryAfterSeconds,
  })

/** An answer that breaks the rules of its dialect. `did`: what the provider did, as the end of a sentence. */
export const unusable = (target: Target, did: string, cause?: unknown): GatewayError =>
  new GatewayError('provider_unavailable', `${target.providerName} ${did}`, { cause, metadata: { provider_name: target.providerName } })

/** The type that a status alone speaks for. A credential of ours that is refused is never the client's 401. */
export const typeOfStatus = (status: number): ErrorType => {
  switch (status) {
    case 400:
      return 'invalid_request'
    case 401:
    case 402:
    case 403:
      return 'provider_unavailable'
    case 404:
      return 'not_found'
    case 409:
      return 'provider_unavailable' // a conflict inside the provider: another one may succeed (reliability.md 6.3)
    case 408:
    case 504:
    case 524:
      return 'timeout'
    case 412:
      return 'precondition_failed'
    case 413:
      return 'payload_too_large'
    case 422:
      return 'unprocessable'
    case 429:
      return 'rate_limit_exceeded'
    case 500:
      return 'server'
    case 503:
    case 529:
      return 'provider_overloaded'
    default:
      if (status >= 300 && status < 400) return 'provider_unavailable'
      return status > 500 ? 'provider_unavailable' : status >= 400 ? 'invalid_request' : 'unmapped'
  }
}

/** `Retry-After` in whole seconds, from either of its two forms; undefined where it is absent or senseless. */
export const retryAfterSeconds = (header: string | null, nowMs: number): number | undefined => {
  if (header === null) return undefined
  const seconds = /^\d{1,9}$/.test(header.trim()) ? Number(header) : Math.ceil((Date.parse(header) - nowMs) / 1000)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

/** `{error: {code, type, message}}` and its looser cousins: what can be read of any provider's error body. */
export const readErrorBody = (body: unknown): { code: string | null; message: string | null } => {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : isObject(body) ? body : {}
  const text = (value: unknown): string | null =>
    typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : null
  const nested = isObject(body) && typeof body['error'] === 'string' ? body['error'] : null
  return {
    code: text(error['code']) ?? text(error['type']) ?? text(error['status']),
    message: text(error['message']) ?? nested ?? text(error['detail']),
  }
}

/**
 * The type that an upstream of our own kind has given its error already, read from its body; null where it gave none.
 * What it says of a credential or of credits is about ours with it, not about the client's with us.
 */
export const typeOfRouter = (told: unknown): ErrorType | null => {
  const type = ERROR_TYPES.find((known) => known === told)
  return type === undefined || type === 'authentication' || type === 'payment_required' || type === 'permission_denied' ? null : type
}

/** Null for what is not JSON, such as an HTML page or nothing: then the status speaks. */
export const parseOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The provider's reason in plain words; its HTML or silence is replaced by ours. */
const sentence = (failure: ProviderFailure, type: ErrorType, target: Target): string => {
  if (type === 'provider_unavailable' && [401, 402, 403].includes(failure.status)) {
    return `${target.providerName} refused the credential that this service holds for it (status ${failure.status}).`
  }
  const reason = failure.message === null ? null : redact(failure.message, target).slice(0, 1000)
  return reason === null ? `${target.providerName} answered with status ${failure.status}.` : `${target.providerName}: ${reason}`
}

/** What looks like a key of some vendor. */
export const SECRETS = /\b(?:sk|pk|rk|gsk|xai|pb)[-_][A-Za-z0-9_-]{12,}|\bAIza[A-Za-z0-9_-]{20,}|\bBearer\s+\S+/g

/** Our credential and whatever else looks like one, taken out; cut to what may be shown. */
const redact = (text: string, target: Target): string => {
  const known = target.apiKey === null || target.apiKey.length < 4 ? text : text.replaceAll(target.apiKey, '[redacted]')
  return known.replace(SECRETS, '[redacted]').slice(0, RAW_MAX)
}
