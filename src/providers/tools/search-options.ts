/** The options of a client's web search, for the web search of a provider. */
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import type { Losses } from '../losses/losses.ts'

/**
 * Returns the options that the provider's search takes, and reports every other one. `source`: the client's tool, whose options are beside
 * its type, in `filters` or in `parameters`, or the `web_search_options` of Chat Completions. A place is given without its wrapping.
 */
export const searchOptions = (
  source: unknown,
  field: string,
  taken: ReadonlySet<string>,
  { lose }: Pick<Losses, 'lose'>,
): Readonly<Record<string, unknown>> => {
  const options: Record<string, unknown> = {}
  const add = (from: Readonly<Record<string, unknown>>, at: string): void => {
    for (const [name, value] of Object.entries(from)) {
      const path = `${at}.${name}`
      if (isEmpty(value) || BESIDE.has(name)) continue
      if (WRAPPINGS.has(name) && isObject(value)) add(value, path)
      else if (!taken.has(name)) {
        if (!isDefault(name, value)) lose(path, `The provider's web search has no ${name}; it was left out.`)
      } else options[name] = name === 'user_location' && isObject(value) ? location(value, path, lose) : value
    }
  }
  if (isObject(source)) add(source, field)
  return options
}

/** Matches the web search of every dialect, under any of its names. */
export const isWebSearch = (kind: string): boolean => /(?:^|:)web_search(?:_|$)/.test(kind)

/** The names of the lists of domains: the two vendors with a list of domains to leave out have one name, and this service another. */
export const DOMAINS = ['allowed_domains', 'excluded_domains', 'blocked_domains']

/** The domains of options in which these lists are taken. A provider takes only one of the two. */
export const searchDomains = (
  options: Readonly<Record<string, unknown>>,
  field: string,
  { lose }: Pick<Losses, 'lose'>,
): { readonly allowed?: readonly JsonValue[]; readonly excluded?: readonly JsonValue[] } => {
  const [allowed, excluded, blocked] = DOMAINS.map((name) => options[name]).map((value) => (Array.isArray(value) ? value : undefined))
  const left = blocked ?? excluded
  if (allowed === undefined) return left === undefined ? {} : { excluded: left }
  if (left !== undefined) lose(field, 'Domains can be allowed or blocked, not both; the blocked ones were left out.')
  return { allowed }
}

const WRAPPINGS: ReadonlySet<string> = new Set(['filters', 'parameters'])

const isEmpty = (value: unknown): boolean => value === null || value === undefined || (Array.isArray(value) && value.length === 0)

/** Says whether every search has this value. */
const isDefault = (name: string, value: unknown): boolean =>
  (DEFAULTS.get(name) ?? []).some((usual) => usual === (Array.isArray(value) ? value.join() : value))

/** Members that name the tool or mark it for the cache: encoders read the mark of every tool. */
const BESIDE: ReadonlySet<string> = new Set(['type', 'name', 'cache_control'])

const DEFAULTS: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ['engine', ['auto', 'native']],
  ['mode', ['auto']],
  ['defer_loading', [false]],
  ['strict', [false]],
  ['allowed_callers', ['direct']],
  ['response_inclusion', ['full']],
  ['external_web_access', [true]],
  ['search_content_types', ['text']],
])

/** Undefined if it names no place. Chat Completions wraps the location in `approximate`. */
const location = (
  value: Readonly<Record<string, unknown>>,
  at: string,
  lose: Losses['lose'],
): Readonly<Record<string, unknown>> | undefined => {
  const inner = value['approximate']
  const [place, path] = isObject(inner) ? [inner, `${at}.approximate`] : [value, at]
  const known: [string, unknown][] = []
  for (const [key, said] of Object.entries(place)) {
    if (PLACE.has(key) && typeof said === 'string') known.push([key, said])
    else if (key !== 'type' && said !== null) lose(`${path}.${key}`, `The provider's web search has no ${key}; it was left out.`)
  }
  return known.length === 0 ? undefined : { type: 'approximate', ...Object.fromEntries(known) }
}

const PLACE: ReadonlySet<string> = new Set(['city', 'region', 'country', 'timezone'])
