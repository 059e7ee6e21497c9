/** Encodes the web search of every dialect as the search of one vendor, with those of the client's options that it takes. */
import type { ProviderTool } from '../../canonical/prompt.ts'
import { isObject, type JsonObject, textsIn } from '../../lib/json/json.ts'
import { wordSet } from '../../lib/text/word-set.ts'
import type { Losses } from '../losses/losses.ts'
import { DOMAINS, searchDomains, searchOptions } from '../tools/search-options.ts'
import type { EditableFields } from '../vendors/editable-fields.ts'
import type { Vendor } from '../vendors/vendor.ts'
import type { MessageContext } from './message-context.ts'

/** A tool, or fields of the request. */
interface EncodedSearch {
  readonly tool?: JsonObject
  readonly fields?: JsonObject
}

/** Null for a vendor without a search. */
export const encodeSearch = ({ raw, at }: ProviderTool, { vendor, lose }: MessageContext): EncodedSearch | null => {
  if (vendor.webSearch === null) return null
  const options = searchOptions(raw, at, TAKEN[vendor.webSearch], { lose })
  switch (vendor.webSearch) {
    case 'openrouter:web_search':
      return { tool: { type: vendor.webSearch, parameters: routersOptions(options, at, { lose }) } }
    case 'web_search_options':
      return { fields: perplexitysFields(options, at, { lose }) }
    case 'enable_search':
      return { fields: { enable_search: true } }
  }
}

type Options = Readonly<Record<string, unknown>>

const TAKEN: Readonly<Record<NonNullable<Vendor['webSearch']>, ReadonlySet<string>>> = {
  // The options of this service's own tool (docs/contract/tools.md#web-search).
  'openrouter:web_search': new Set([
    ...wordSet('engine max_results max_total_results max_uses max_characters mode search_context_size user_location'),
    ...DOMAINS,
  ]),
  web_search_options: new Set(['search_context_size', 'user_location', ...DOMAINS]),
  enable_search: new Set(),
}

const routersOptions = (given: Options, at: string, losses: Pick<Losses, 'lose'>): JsonObject => {
  const { allowed, excluded } = searchDomains(given, at, losses)
  const others = Object.entries(given).filter(([name, value]) => !DOMAINS.includes(name) && value !== undefined)
  return {
    ...(Object.fromEntries(others) as JsonObject),
    ...(allowed === undefined ? {} : { allowed_domains: allowed }),
    ...(excluded === undefined ? {} : { excluded_domains: excluded }),
  }
}

/** github.com/perplexityai/perplexity-py, types/shared_params/web_search_options.py: a place has no type; domains have a field of their own. */
const perplexitysFields = (given: Options, at: string, losses: Pick<Losses, 'lose'>): JsonObject => {
  const { search_context_size: size, user_location: location } = given
  const { allowed = [], excluded = [] } = searchDomains(given, at, losses)
  const domains = [...allowed, ...textsIn(excluded).map((domain) => `-${domain}`)]
  if (domains.length > DOMAINS_MAX) losses.lose(at, `This search takes at most ${DOMAINS_MAX} domains; the others were left out.`)
  return {
    web_search_options: {
      ...(typeof size === 'string' ? { search_context_size: size } : {}),
      ...(isObject(location) ? { user_location: untyped(location as JsonObject) } : {}),
    },
    ...(domains.length === 0 ? {} : { search_domain_filter: domains.slice(0, DOMAINS_MAX) }),
  }
}

/** docs.perplexity.ai, "Search domain filter". */
const DOMAINS_MAX = 20

/** OpenAI's clients wrap the place of a search in `approximate`. */
export const unwrapPlace = (fields: EditableFields, { webSearch }: Vendor): void => {
  const search = webSearch === 'web_search_options' ? fields.value(webSearch) : undefined
  const location = search !== undefined && isObject(search) ? (search['user_location'] ?? null) : null
  const place = isObject(location) ? (location['approximate'] ?? null) : null
  if (isObject(search) && isObject(place)) fields.put('web_search_options', { ...search, user_location: place })
}

const untyped = (location: JsonObject): JsonObject => {
  const { type: _, ...place } = location
  return place
}
