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
export const secretsIn = (config: JsonObject): readonly PresetSecret[] => {
  const found: PresetSecret[] = []
  for (const [field, value] of Object.entries(config)) {
    if (typeof value === 'object' && !SCHEMA_FIELDS.has(field)) findIn(value, { path: [field], inTool: field === 'tools', found })
  }
  return found
}

/** A configuration for somebody who may read what a preset says, and none of its credentials. */
export const withoutCredentials = <Config extends JsonObject>(config: Config): Config => {
  const credentials = secretsIn(config).filter(({ kind }) => kind === 'credential')
  // Safe: it differs in texts alone.
  return withTexts(
    config,
    credentials.map(({ path }) => ({ path, value: HIDDEN_MARK })),
  ) as Config
}

/** The same value with other texts at these places; a place that it does not have is passed over. */
export const withTexts = (value: JsonValue, texts: readonly Pick<PresetSecret, 'path' | 'value'>[]): JsonValue =>
  withTextsAt(value, texts, 0)

/** All of them in one pass: a preset may have thousands. `depth`: as many steps of each path have led here. */
const withTextsAt = (value: JsonValue, texts: readonly Pick<PresetSecret, 'path' | 'value'>[], depth: number): JsonValue => {
  if (texts.length === 0) return value
  const here = texts.findLast(({ path }) => path.length === depth)
  if (here !== undefined) return here.value
  if (!isArray(value) && !isObject(value)) return value
  const below = Map.groupBy(texts, ({ path }) => path[depth])
  if (isArray(value)) return value.map((item, at) => withTextsAt(item, below.get(at) ?? [], depth + 1))
  const changed: Record<string, JsonValue> = { ...value }
  for (const [step, inside] of below) {
    if (step !== undefined && Object.hasOwn(value, step)) changed[step] = withTextsAt(changed[step] ?? null, inside, depth + 1)
  }
  return changed
}

/** A tool as it may be shown to its users: without credentials, no matter who set them, and without hidden texts. */
export const shownTool = (tool: JsonValue, hiddenTexts: readonly string[]): JsonValue => {
  const hidden = new Set(hiddenTexts)
  const found: PresetSecret[] = []
  findIn(tool, { path: [], inTool: true, found })
  return withTexts(
    tool,
    found.filter(({ kind, value }) => kind === 'credential' || hidden.has(value)).map(({ path }) => ({ path, value: HIDDEN_MARK })),
  )
}

/** The library's own test forgets that an array may be read only. */
const isArray = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

/** Their members are schemas of an answer, named by the developer. */
const SCHEMA_FIELDS: ReadonlySet<string> = new Set(['response_format', 'text', 'output_config', 'structured_outputs', 'system'])

const INSTRUCTIONS: ReadonlySet<string> = new Set(['instructions', 'system', 'system_prompt', 'prompt'])

/** Headers that hold no secret. They stand in every message, so to hide them would hide half of it. */
const OPEN_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'user-agent', 'accept-language', 'accept-encoding'])

interface Search {
  /** The way to the value that is looked at: it changes on the way, so that no place is copied in which nothing is found. */
  readonly path: (string | number)[]
  readonly inTool: boolean
  readonly found: PresetSecret[]
}

const findIn = (value: JsonValue, search: Search): void =>
  eachMember(value, search, (item, key) => {
    if (typeof key === 'number' || !isObject(value)) findIn(item, search)
    else findAt(key, item, value, search)
  })

const eachMember = (value: JsonValue, { path }: Search, look: (item: JsonValue, key: string | number) => void): void => {
  if (isArray(value)) {
    for (const [at, item] of value.entries()) {
      path.push(at)
      look(item, at)
      path.pop()
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      path.push(key)
      look(value[key] ?? null, key)
      path.pop()
    }
  }
}

const findAt = (key: string, value: JsonValue, holder: JsonObject, search: Search): void => {
  if (key === 'input_schema' || (key === 'parameters' && isFunction(holder))) return
  if (typeof value === 'string') {
    const isKey = key === 'key' && !Object.hasOwn(holder, 'value')
    const kind =
      isKey || isCredentialName(key) || hasCredential(value) ? 'credential' : search.inTool && INSTRUCTIONS.has(key) ? 'instructions' : null
    if (kind !== null && value !== '') search.found.push({ path: [...search.path], value, kind })
  } else if (typeof value === 'object') {
    if (holdsCredentials(key)) findAll(value, search)
    else findIn(value, search)
  }
}

/** A function's parameters are a schema; those of a tool that a server runs are its settings, also where it has a name. */
const isFunction = ({ type, name }: JsonObject): boolean => type === 'function' || (type === undefined && typeof name === 'string')

/** Every text that lies below. */
const findAll = (value: JsonValue, search: Search): void => {
  const named = isObject(value) && isNamedValue(value)
  eachMember(value, search, (item, key) => {
    if (named && key !== 'value') return
    if (typeof item !== 'string') findAll(item, search)
    else if (item !== '' && !OPEN_HEADERS.has(String(key).toLowerCase()))
      search.found.push({ path: [...search.path], value: item, kind: 'credential' })
  })
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
