/** Reads the parts of a body that a Call needs, by field: only small members are parsed, the conversation stays text. */
import type { Call, ClientDialect } from '../canonical/call.ts'
import type { Prompt } from '../canonical/prompt.ts'
import { invalidField } from '../contract/validate.ts'
import { GatewayError } from '../errors.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { JsonTextError } from '../lib/json/json-limits.ts'
import { atOnce, type Steps } from '../lib/steps.ts'
import { pathsOf } from '../request-fields/setting-spellings.ts'
import { requireConversation } from './require-conversation.ts'

interface CallParts {
  /** Fallbacks in order, without the primary `model`. */
  readonly fallbacks: readonly string[]
  readonly parsePrompt: (body: JsonBody) => Steps<Prompt>
}

/** Throws `invalid_request` if there is no model or no conversation, or if a field that routing depends on has the wrong type. */
export const callOf = (dialect: ClientDialect, body: JsonBody, { fallbacks, parsePrompt }: CallParts): Call => {
  requireConversation(dialect, body)
  const model = readText(body, 'model')
  const models = [...new Set(model === null ? fallbacks : [model, ...fallbacks])]
  if (models.length === 0) throw invalidField('model', 'Name a model, or use a preset that has one.')
  let prompt: Prompt | undefined
  return {
    dialect,
    body,
    models,
    stream: readFlag(body, 'stream'),
    maxOutputTokens: readOutputLimit(dialect, body),
    sessionId: readName(body, 'session_id'),
    user: readName(body, 'user'),
    passHeaders: {},
    prompt: () => (prompt ??= atOnce(strictly(parsePrompt(body)))),
    *readingPrompt() {
      yield* readAhead(body)
      prompt ??= yield* strictly(parsePrompt(body))
    },
  }
}

const readText = (body: JsonBody, field: string): string | null => {
  const value = body.value(field) ?? null
  if (value !== null && (typeof value !== 'string' || value === '')) throw invalidField(field, 'Expected a string that is not empty.')
  return value
}

/** An empty name counts as none. */
const readName = (body: JsonBody, field: string): string | null => {
  const value = body.value(field) ?? ''
  if (typeof value !== 'string') throw invalidField(field, 'Expected a string.')
  return value === '' ? null : value
}

/** If the limit is sent under two names, the first one in the table counts and is the one to send upstream. */
const readOutputLimit = (dialect: ClientDialect, body: JsonBody): number | null => {
  const limits = pathsOf(dialect, 'maxOutputTokens').map((field) => readTokenLimit(body, field, dialect === 'messages' ? 0 : 1))
  return limits.find((limit) => limit !== null) ?? null
}

/** At zero, Claude only fills its cache (decisions/0281). */
const readTokenLimit = (body: JsonBody, field: string, least: 0 | 1): number | null => {
  const value = body.value(field) ?? null
  if (value !== null && (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least)) {
    throw invalidField(field, `Expected a whole number from ${least} on.`)
  }
  return value
}

export const readTexts = (body: JsonBody, field: string): string[] => {
  const value = body.value(field) ?? []
  if (!Array.isArray(value)) throw invalidField(field, 'Expected a list of strings.')
  return value.map((item: unknown, index) => {
    if (typeof item !== 'string' || item === '') throw invalidField(`${field}[${index}]`, 'Expected a string that is not empty.')
    return item
  })
}

/** Parses members of a body in steps so that later reads are cheap; all members if no keys are given. Throws `invalid_request`. */
export const readAhead = (body: JsonBody, keys?: readonly string[]): Steps<void> => strictly(body.reading(keys))

/**
 * Converts faults in the JSON: a large body is parsed member by member as it is read, so a fault in its conversation may appear
 * only here.
 */
export function* strictly<Result>(reading: Steps<Result>): Steps<Result> {
  try {
    return yield* reading
  } catch (thrown) {
    throw thrown instanceof JsonTextError ? new GatewayError('invalid_request', thrown.message, { cause: thrown }) : thrown
  }
}

const readFlag = (body: JsonBody, field: string): boolean => {
  const value = body.value(field) ?? false
  if (typeof value !== 'boolean') throw invalidField(field, 'Expected true or false.')
  return value
}
