/** The options of a client's web search, for the web search of a provider. */
import { isObject } from '../../lib/json/json.ts'
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
      if (asksNothing(name, value)) continue
      if (WRAPPINGS.has(name) && isObject(value)) add(value, path)
      else if (!taken.has(name)) lose(path, `The provider's web search has no ${name}; it was left out.`)
      else options[name] = name === 'user_location' && isObject(value) ? location(value, path, lose) : value
    }
  }
  if (isObject(source)) add(source, field)
  return options
}

const WRAPPINGS: ReadonlySet<string> = new Set(['filters', 'parameters'])

/** Members that name the tool or mark it for the cache (encoders read the mark of every tool), and values that every search has. */
const asksNothing = (name: string, value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  BESIDE.has(name) ||
  (DEFAULTS.get(name) ?? []).some((usual) => usual === (Array.isArray(value) ? value.join() : value))

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
