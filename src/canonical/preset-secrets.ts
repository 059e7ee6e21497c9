/**
 * The parts of a preset's configuration, other than its system prompt, that only management keys may read: credentials, and the
 * instructions of its tools. Users of the preset see a mark in their place.
 */
import { holdsCredentials, isCredentialName } from '../lib/credential-names.ts'
import { isList, isObject, type JsonObject, type JsonValue } from '../lib/json/json.ts'

export const HIDDEN_MARK = '[preset system prompt]'

export interface PresetSecret {
  readonly path: readonly (string | number)[]
  readonly value: string
  readonly kind: 'credential' | 'instructions'
}

/** Finds the secrets, in order. */
export const secretsIn = (config: JsonObject): readonly PresetSecret[] =>
  Object.entries(config).flatMap(([field, value]) => secretsOf(field, value))

/** Finds the secrets of one field. A plain word or number, as most values are, has none. */
export const secretsOf = (field: string, value: JsonValue): readonly PresetSecret[] => {
  if (typeof value !== 'object' || SCHEMA_FIELDS.has(field)) return NONE
  const found: PresetSecret[] = []
  findIn(value, { path: [field], inTool: field === 'tools', found })
  return found
}

const NONE: readonly PresetSecret[] = []

/** The configuration for a reader who may see the texts of a preset but none of its credentials. */
export const withoutCredentials = <Config extends JsonObject>(config: Config): Config => {
  const credentials = secretsIn(config).filter(({ kind }) => kind === 'credential')
  // Safe: the result differs only in texts.
  return withTexts(
    config,
    credentials.map(({ path }) => ({ path, value: HIDDEN_MARK })),
  ) as Config
}

/** Returns the value with other texts at these paths; a path that does not exist is skipped. */
export const withTexts = (value: JsonValue, texts: readonly Pick<PresetSecret, 'path' | 'value'>[]): JsonValue =>
  withTextsAt(value, texts, 0)

/** Replaces all texts in one pass, because a preset may have thousands. `depth`: the number of path steps that led to `value`. */
const withTextsAt = (value: JsonValue, texts: readonly Pick<PresetSecret, 'path' | 'value'>[], depth: number): JsonValue => {
  if (texts.length === 0) return value
  const here = texts.findLast(({ path }) => path.length === depth)
  if (here !== undefined) return here.value
  if (!isList(value) && !isObject(value)) return value
  const below = Map.groupBy(texts, ({ path }) => path[depth])
  if (isList(value)) return value.map((item, at) => withTextsAt(item, below.get(at) ?? [], depth + 1))
  const changed: Record<string, JsonValue> = { ...value }
  for (const [step, inside] of below) {
    if (step !== undefined && Object.hasOwn(value, step)) changed[step] = withTextsAt(changed[step] ?? null, inside, depth + 1)
  }
  return changed
}

/** Returns a tool as its users may see it: without credentials, no matter who set them, and without hidden texts. */
export const shownTool = (tool: JsonValue, hiddenTexts: readonly string[], mark = HIDDEN_MARK): JsonValue => {
  const hidden = new Set(hiddenTexts)
  const found: PresetSecret[] = []
  findIn(tool, { path: [], inTool: true, found })
  return withTexts(
    tool,
    found.filter(({ kind, value }) => kind === 'credential' || hidden.has(value)).map(({ path }) => ({ path, value: mark })),
  )
}

/** Fields whose members are schemas of an answer with names that the developer chose, or, for `system`, the prompt. */
const SCHEMA_FIELDS: ReadonlySet<string> = new Set(['response_format', 'text', 'output_config', 'structured_outputs', 'system'])

const INSTRUCTIONS: ReadonlySet<string> = new Set(['instructions', 'system', 'system_prompt', 'prompt'])

/** Headers that hold no secret. Their values occur in every message, so hiding them would blank out much of it. */
const OPEN_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'user-agent', 'accept-language', 'accept-encoding'])

interface Search {
  /** The path to the current value. It is mutated during the search, so that paths are copied only when something is found. */
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
  if (isList(value)) {
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
    const isCredential = isKey || isCredentialName(key) || hasCredential(value)
    if (value === '' || !(isCredential || (search.inTool && INSTRUCTIONS.has(key)))) return
    search.found.push({ path: [...search.path], value, kind: isCredential ? 'credential' : 'instructions' })
  } else if (typeof value === 'object') {
    if (holdsCredentials(key)) findAll(value, search)
    else findIn(value, search)
  }
}

/** A function's parameters are a schema. The parameters of a tool that a server runs are its settings, even if the tool has a name. */
const isFunction = ({ type, name }: JsonObject): boolean => type === 'function' || (type === undefined && typeof name === 'string')

/** Collects every text below the value as a credential. */
const findAll = (value: JsonValue, search: Search): void => {
  const named = isObject(value) && isNamedValue(value)
  eachMember(value, search, (item, key) => {
    if (named && key !== 'value') return
    if (typeof item !== 'string') findAll(item, search)
    else if (item !== '' && !OPEN_HEADERS.has(String(key).toLowerCase()))
      search.found.push({ path: [...search.path], value: item, kind: 'credential' })
  })
}

/** A secret as an entry of a list. Its other members, such as name and place, are words that may occur in any message. */
const isNamedValue = ({ name, key, value }: JsonObject): boolean =>
  typeof value === 'string' && (typeof name === 'string' || typeof key === 'string')

/** Returns true for a URL that carries a password or a token. */
const hasCredential = (text: string): boolean => {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s]*[@?]/i.test(text) || !URL.canParse(text)) return false
  const { password, username, searchParams } = new URL(text)
  return password !== '' || username !== '' || [...searchParams.keys()].some(isCredentialName)
}
