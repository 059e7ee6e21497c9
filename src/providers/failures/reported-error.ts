/**
 * Reads the facts from an error body of any provider: `{error: {code, type, message}}` and its looser variants. If a router wraps the error
 * of another provider, the innermost error is used.
 */
import { ERROR_TYPES, type ErrorType } from '../../errors.ts'
import { isObject, jsonIn, objectsIn, textOf, textsIn } from '../../lib/json/json.ts'

type Json = Readonly<Record<string, unknown>>

export interface ReportedError {
  /** The provider's names for the fault, the most precise first: its code, its kind, its status as a word. */
  readonly words: readonly string[]
  readonly message: string | null
  /** A status of 400 to 599 inside the body. */
  readonly status: number | null
  /** The field at fault. */
  readonly param: string | null
  /** The error type, if the upstream is a gateway that uses our names for types, or says what content it flagged. */
  readonly type: ErrorType | null
  /** Why content was flagged, and which content, if the provider says so. */
  readonly reasons: readonly string[]
  readonly flaggedInput: string | null
}

/** Reads a body or an event; the `type` of an event names the event and not the error. */
export const readReportedError = (body: unknown): ReportedError => read(body, WRAPPERS_MAX)

const WRAPPERS_MAX = 3

const read = (body: unknown, wrappers: number): ReportedError => {
  const envelope = envelopeOf(body)
  const error = isObject(envelope['error'])
    ? envelope['error']
    : (errorOfBase(envelope['base_resp']) ?? groqError(envelope['x_groq']) ?? objectsIn(envelope['errors'])[0] ?? envelope)
  const metadata = isObject(error['metadata']) ? error['metadata'] : {}
  const own = ownWords(envelope, error, metadata)
  const inner = wrappers === 0 ? null : wrapped(metadata, own.message)
  if (inner === null) return own
  if (typeof inner === 'string') return { ...own, message: inner }
  const innermost = read(inner, wrappers - 1)
  return {
    words: [...innermost.words, ...own.words],
    message: innermost.message ?? own.message,
    status: own.status ?? innermost.status,
    param: innermost.param ?? own.param,
    type: own.type ?? innermost.type,
    reasons: [...own.reasons, ...innermost.reasons],
    flaggedInput: own.flaggedInput ?? innermost.flaggedInput,
  }
}

const errorOfBase = (base: unknown): Json | null => {
  const failed = failedBase(base)
  return failed === null ? null : { code: failed['status_code'], message: failed['status_msg'] }
}

/** MiniMax ends each answer with a `base_resp`, whose `status_code` is 0 if all is well. */
export const failedBase = (base: unknown): Json | null =>
  isObject(base) && typeof base['status_code'] === 'number' && base['status_code'] !== 0 ? base : null

/** Groq's reason for stopping a stream early, in a chunk without choices (its API reference, `x_groq.error`). */
export const groqError = (groq: unknown): Json | null =>
  isObject(groq) && typeof groq['error'] === 'string' && groq['error'] !== '' ? { message: groq['error'] } : null

/** The sentence of an error without a member of its own: SambaNova's `{error_code, error_message}`, and Baidu's with `error_msg`. */
export const errorSentence = ({ error_message: message, error_msg: short }: Json): string => textOf(message) || textOf(short)

/** Some send their error in a list, for example Google's OpenAI endpoint. */
const envelopeOf = (body: unknown): Json => {
  if (Array.isArray(body)) return envelopeOf((body as unknown[]).find((entry) => isObject(entry) && 'error' in entry))
  return isObject(body) ? body : {}
}

const ownWords = (envelope: Json, error: Json, metadata: Json): ReportedError => {
  const inner = isObject(error['innererror']) ? error['innererror'] : {}
  const details = isObject(error['details']) ? error['details'] : {}
  const kind = error === envelope && EVENTS.has(error['type']) ? null : error['type']
  const state = STATES.has(error['status']) ? null : error['status']
  const candidates = [
    metadata['provider_code'],
    details['error_code'],
    inner['code'],
    error['code'],
    error['error_code'],
    kind,
    state,
    envelope['code'],
  ]
  const flaggedInput = typeof metadata['flagged_input'] === 'string' ? metadata['flagged_input'] : null
  const status = [error['code'], error['status'], envelope['status']].map(Number).find(isFailure) ?? null
  const words = candidates.filter((word) => typeof word === 'number' || (typeof word === 'string' && word !== '')).map(String)
  return {
    // A bare status says the least, so it goes last.
    words: [...words.filter((word) => !isFailure(Number(word))), ...words.filter((word) => isFailure(Number(word)))],
    message:
      sentenceOf(error['message']) ??
      sentenceOf(envelope['error']) ??
      sentenceOf(error['detail']) ??
      sentenceOf(envelope['message']) ??
      sentenceOf(envelope['msg']) ??
      sentenceOf(errorSentence(envelope)),
    status,
    param: typeof error['param'] === 'string' && error['param'] !== '' ? error['param'] : null,
    // Only a moderated request has flagged input, whatever the sentence beside it says.
    type:
      typeOfRouter(metadata['error_type'] ?? error['error_type'] ?? envelope['error_type']) ??
      (flaggedInput === null ? null : 'content_policy_violation'),
    reasons: [...textsIn(metadata['reasons']), ...filtered(inner['content_filter_result'] ?? error['content_filter_result'])],
    flaggedInput,
  }
}

const isFailure = (status: number): boolean => Number.isInteger(status) && status >= 400 && status < 600

/** Values of `type` on an event or an envelope that do not name the error. */
const EVENTS: ReadonlySet<unknown> = new Set(['error', 'response.error'])

/** Values of `status` that name the state of a response, in the member in which others name their error. */
const STATES: ReadonlySet<unknown> = new Set(['failed', 'cancelled', 'in_progress'])

/** A sentence, or one built from the findings of a server's validation: `{detail: [{loc, msg}]}`. */
const sentenceOf = (value: unknown): string | null => {
  if (typeof value === 'string') return value.trim() === '' ? null : value
  if (isObject(value)) return sentenceOf(value['detail'])
  if (!Array.isArray(value)) return null
  const findings = (value as unknown[]).flatMap((entry) => {
    if (!isObject(entry) || typeof entry['msg'] !== 'string') return []
    const path = Array.isArray(entry['loc']) ? entry['loc'].filter((step) => step !== 'body').join('.') : ''
    return [path === '' ? entry['msg'] : `${path}: ${entry['msg']}`]
  })
  return findings.length === 0 ? null : findings.slice(0, 3).join('; ')
}

/** The error that a router's own error wraps: as an object, or as text, which is taken as a sentence if it is not JSON. */
const wrapped = (metadata: Json, message: string | null): unknown => {
  const raw = metadata['raw']
  if (isObject(raw) || Array.isArray(raw)) return raw
  if (typeof raw === 'string' && raw.trim() !== '' && !raw.trimStart().startsWith('<')) {
    const parsed = jsonIn(raw)
    if (isObject(parsed) || Array.isArray(parsed)) return parsed
    return message === null || isEmptyPhrase(message) ? raw.trim() : null
  }
  // Some put the whole body of the other provider's answer into their sentence.
  const start = message === null ? -1 : message.search(/[[{]/)
  if (message === null || start < 0 || start > PREFIX_MAX) return null
  const parsed = jsonIn(message.slice(start))
  return isObject(parsed) || Array.isArray(parsed) ? parsed : null
}

const PREFIX_MAX = 200

/** Sentences of routers that say nothing. */
export const isEmptyPhrase = (message: string): boolean =>
  /^(?:provider returned error|upstream (?:request failed|error)|error)\.?$/i.test(message.trim())

/** The categories that Azure's filter flagged. */
const filtered = (result: unknown): string[] =>
  isObject(result)
    ? Object.entries(result).flatMap(([category, verdict]) => (isObject(verdict) && verdict['filtered'] === true ? [category] : []))
    : []

/** If an upstream gateway of our kind complains about a credential or credits, it means ours, not the client's. */
const typeOfRouter = (reported: unknown): ErrorType | null => {
  const type = ERROR_TYPES.find((known) => known === reported)
  return type === undefined || type === 'authentication' || type === 'payment_required' || type === 'permission_denied' ? null : type
}
