/**
 * The part of a preset's configuration for management keys only, beside its system prompt: credentials, and the instructions
 * of its tools. Users of the preset are shown a mark in their place.
 */
import { holdsCredentials, isCredentialName } from '../lib/credential-names.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'

export const HIDDEN_MARK = '[preset system prompt]'

export interface PresetSecret {
  readonly path: readonly (string | number)[]
  readonly value: string
  readonly kind: 'credential' | 'instructions'
}

/** Finds the secrets, in their order. A field that is one word or number, as most are, has none. */
export const secretsIn = (config: JsonObject): readonly PresetSecret[] =>
  Object.entries(config).flatMap(([field, value]) =>
    typeof value !== 'object' || SCHEMA_FIELDS.has(field) ? [] : [...secretsOf(value, [field], field === 'tools')],
  )

/** The same value with other texts at these places; a place that it does not have is passed over. */
export const withTexts = (value: JsonValue, texts: readonly Pick<PresetSecret, 'path' | 'value'>[]): JsonValue =>
  texts.reduce<JsonValue>((whole, { path, value: text }) => withText(whole, path, text), value)

const withText = (value: JsonValue, [step, ...rest]: PresetSecret['path'], text: string): JsonValue => {
  if (step === undefined) return text
  if (isArray(value)) return value.map((item, at) => (at === step ? withText(item, rest, text) : item))
  if (!isObject(value) || !Object.hasOwn(value, step)) return value
  return { ...value, [step]: withText(value[step] ?? null, rest, text) }
}

/** A tool as it may be shown to its users: without credentials, no matter who set them, and without hidden texts. */
export const shownTool = (tool: JsonValue, hiddenTexts: readonly string[]): JsonValue => {
  const hidden = new Set(hiddenTexts)
  const secrets = [...secretsOf(tool, [], true)].filter(({ kind, value }) => kind === 'credential' || hidden.has(value))
  return withTexts(
    tool,
    secrets.map(({ path }) => ({ path, value: HIDDEN_MARK })),
  )
}

/** The library's own test forgets that an array may be read only. */
const isArray = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

/** Their members are schemas of an answer, named by the developer. */
const SCHEMA_FIELDS: ReadonlySet<string> = new Set(['response_format', 'text', 'output_config', 'structured_outputs', 'system'])

const INSTRUCTIONS: ReadonlySet<string> = new Set(['instructions', 'system', 'system_prompt', 'prompt'])

/** Headers that hold no secret. They stand in every message, so to hide them would hide half of it. */
const OPEN_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'user-agent', 'accept-language', 'accept-encoding'])

function* secretsOf(value: JsonValue, path: readonly (string | number)[], inTool: boolean): Generator<PresetSecret> {
  if (isArray(value)) for (const [at, item] of value.entries()) yield* secretsOf(item, [...path, at], inTool)
  else if (isObject(value))
    for (const [key, item] of Object.entries(value)) yield* secretsAt(key, item, { path: [...path, key], inTool, holder: value })
}

function* secretsAt(
  key: string,
  value: JsonValue,
  { path, inTool, holder }: { path: readonly (string | number)[]; inTool: boolean; holder: JsonObject },
): Generator<PresetSecret> {
  if (key === 'input_schema' || (key === 'parameters' && isFunction(holder))) return
  if (typeof value === 'string') {
    const isKey = key === 'key' && !Object.hasOwn(holder, 'value')
    const kind =
      isKey || isCredentialName(key) || hasCredential(value) ? 'credential' : inTool && INSTRUCTIONS.has(key) ? 'instructions' : null
    if (kind !== null && value !== '') yield { path, value, kind }
  } else if (holdsCredentials(key)) yield* allIn(value, path)
  else yield* secretsOf(value, path, inTool)
}

/** A function's parameters are a schema; those of a tool that a server runs are its settings, also where it has a name. */
const isFunction = ({ type, name }: JsonObject): boolean => type === 'function' || (type === undefined && typeof name === 'string')

function* allIn(value: JsonValue, path: readonly (string | number)[]): Generator<PresetSecret> {
  if (typeof value === 'string') {
    if (value !== '' && !OPEN_HEADERS.has(String(path.at(-1)).toLowerCase())) yield { path, value, kind: 'credential' }
  } else if (isArray(value)) for (const [at, item] of value.entries()) yield* allIn(item, [...path, at])
  else if (isObject(value)) {
    const named = isNamedValue(value)
    for (const [key, item] of Object.entries(value)) if (!named || key === 'value') yield* allIn(item, [...path, key])
  }
}

/** A secret as an entry of a list. Its name and its place are words that may stand in any message. */
const isNamedValue = ({ name, key, value }: JsonObject): boolean =>
  typeof value === 'string' && (typeof name === 'string' || typeof key === 'string')

/** An address that carries a password or a token. */
const hasCredential = (text: string): boolean => {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s]*[@?]/i.test(text) || !URL.canParse(text)) return false
  const { password, username, searchParams } = new URL(text)
  return password !== '' || username !== '' || [...searchParams.keys()].some(isCredentialName)
}
