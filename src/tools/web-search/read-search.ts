/** Reads the search options of a request, from the tool or from the plugin. */
import { z } from 'zod'

import { validate } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { normalDomains } from '../domains.ts'
import type { Place, Search } from './search.ts'
import type { AskedEngines, SearchEngines } from './search-engines.ts'

/** The maximum length of a query, in characters. */
export const QUERY_MAX = 400

const RESULTS_DEFAULT = 5

const domains = z.array(z.string().max(500)).max(100).default([])

const options = z.looseObject({
  engine: z.string().max(100).default('auto'),
  max_results: z.int().min(1).max(25).default(RESULTS_DEFAULT),
  max_total_results: z.int().min(1).default(Number.MAX_SAFE_INTEGER),
  max_uses: z.int().min(1).default(Number.MAX_SAFE_INTEGER),
  search_context_size: z.enum(['low', 'medium', 'high']).default('medium'),
  max_characters: z.int().min(1).max(100_000).optional(),
  allowed_domains: domains,
  excluded_domains: domains,
  blocked_domains: domains,
  user_location: z.looseObject({}).optional(),
  mode: z.string().max(100).nullable().default(null),
})

const CHARACTERS = { low: 1500, medium: 4000, high: 10_000 } as const

/** The options that apply to every search of a request, and the engines that it may use. */
export interface AskedSearch {
  readonly engines: AskedEngines
  readonly search: Omit<Search, 'query'>
  readonly maxTotalResults: number
  readonly maxUses: number
}

/** The tool or plugin that asks, for error messages. */
export interface Asker {
  readonly name: string
  /** The path of the tool or plugin, and the path of its options. */
  readonly at: string
  readonly path: string
}

/** Throws `invalid_request` for invalid options, and if no engine is available. */
export const readSearch = (parameters: JsonObject, asker: Asker, engines: SearchEngines): AskedSearch => {
  const { path } = asker
  const read = validate(options, parameters, [path])
  return {
    engines: enginesFor(read.engine, asker, engines),
    search: {
      most: read.max_results,
      characters: read.max_characters ?? CHARACTERS[read.search_context_size],
      allowed: normalDomains(read.allowed_domains, `${path}.allowed_domains`),
      excluded: [
        ...normalDomains(read.excluded_domains, `${path}.excluded_domains`),
        ...normalDomains(read.blocked_domains, `${path}.blocked_domains`),
      ],
      place: placeIn(read.user_location),
      mode: read.mode,
    },
    maxTotalResults: read.max_total_results,
    maxUses: read.max_uses,
  }
}

/** Normalises a query to one line. */
export const plainQuery = (text: string): string => text.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ').trim()

const enginesFor = (engine: string, { at, name, path }: Asker, engines: SearchEngines): AskedEngines => {
  const isOpen = engine === 'auto' || engine === 'native'
  const asked = engines.using(isOpen ? null : engine)
  if (asked !== null) return asked
  const sentence = isOpen
    ? `${name} cannot run: no search engine is configured (tools.web_search.engines) and no provider of the model has its own.`
    : `${name} cannot run: the search engine "${engine}" is not configured (tools.web_search.engines)${engines.names.length === 0 ? '' : `; there are ${engines.names.join(', ')}`}.`
  throw new GatewayError('invalid_request', `${at}: ${sentence}`, {
    metadata: { issues: [{ path: isOpen ? at : `${path}.engine`, message: sentence }] },
  })
}

/** Reads a location, which some interfaces wrap in `approximate`. */
const placeIn = (location: Readonly<Record<string, unknown>> | undefined): Place | null => {
  if (location === undefined) return null
  const place = isObject(location['approximate']) ? location['approximate'] : location
  const text = (name: string): string | null => {
    const value = place[name]
    return typeof value === 'string' && value !== '' ? cutText(value, PLACE_MAX) : null
  }
  const country = text('country')
  return {
    city: text('city'),
    region: text('region'),
    country: country !== null && /^[a-z]{2}$/i.test(country) ? country.toUpperCase() : null,
    timezone: text('timezone'),
  }
}

const PLACE_MAX = 100
