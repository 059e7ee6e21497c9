/** The supported search APIs: how each is called, and where its answer has the results. */
import { type JsonObject, listOf } from '../../lib/json/json.ts'
import type { Place, Search } from './search.ts'

export const KIND_NAMES = ['searxng', 'brave', 'tavily', 'exa', 'firecrawl', 'perplexity', 'http'] as const

export type KindName = (typeof KIND_NAMES)[number]

export interface EngineKind {
  /** The vendor's address; null if every operator has their own. */
  readonly address: string | null
  /** The path below the address. */
  readonly path: string
  /** The maximum number of results per search. */
  readonly most: number
  /** The domain lists that the API supports at once; for `none`, domains are put into the query and every answer is filtered here. */
  readonly domains: 'both' | 'either' | 'none'
  /** The headers with the API key. */
  readonly key: (key: string) => Readonly<Record<string, string>>
  /** Query parameters of a GET; if absent, the request is a POST. */
  readonly parameters?: (search: Search) => Readonly<Record<string, string>>
  readonly body?: (search: Search) => JsonObject
  /** The list of results in an answer; all APIs name title and URL `title` and `url`. */
  readonly results: (answer: Fields) => unknown
  readonly content: (result: Fields) => unknown
  readonly published: string
  /** The setting that the operator may have to change if the API refuses with 403. */
  readonly forbidden?: string
}

type Fields = Readonly<Record<string, unknown>>

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` })

export const ENGINE_KINDS: Readonly<Record<KindName, EngineKind>> = {
  searxng: {
    address: null,
    path: '/search',
    // The API has no parameter for the number of results; a page has about twenty.
    most: 25,
    domains: 'none',
    key: bearer,
    parameters: (search) => ({ q: queryWithSites(search), format: 'json', ...language(search.place) }),
    results: ({ results }) => results,
    content: ({ content }) => content,
    published: 'publishedDate',
    forbidden: 'its settings.yml must have json among search.formats',
  },
  brave: {
    address: 'https://api.search.brave.com',
    path: '/res/v1/web/search',
    most: 20,
    domains: 'none',
    key: (key) => ({ 'x-subscription-token': key }),
    parameters: (search) => ({
      q: fewWords(queryWithSites(search), search.query),
      count: String(search.most),
      result_filter: 'web',
      text_decorations: 'false',
      extra_snippets: 'true',
      ...braveCountry(search.place),
    }),
    results: ({ web }) => fields(web)['results'],
    content: ({ description, extra_snippets: more }) => joined([description, ...listOf(more)]),
    published: 'page_age',
  },
  tavily: {
    address: 'https://api.tavily.com',
    path: '/search',
    most: 20,
    domains: 'both',
    key: bearer,
    body: ({ query, most, allowed, excluded }) => ({
      query,
      max_results: most,
      search_depth: 'basic',
      ...(allowed.length === 0 ? {} : { include_domains: allowed }),
      ...(excluded.length === 0 ? {} : { exclude_domains: excluded.slice(0, TAVILY_EXCLUDED_MAX) }),
    }),
    results: ({ results }) => results,
    content: ({ content }) => content,
    published: 'published_date',
  },
  exa: {
    address: 'https://api.exa.ai',
    path: '/search',
    most: 25,
    domains: 'either',
    key: (key) => ({ 'x-api-key': key }),
    body: (search) => ({
      query: search.query,
      type: EXA_TYPES.find((type) => type === search.mode) ?? 'auto',
      numResults: search.most,
      contents: { highlights: { maxCharacters: search.characters } },
      ...(search.place?.country === undefined || search.place.country === null ? {} : { userLocation: search.place.country }),
      ...listedDomains(search),
    }),
    results: ({ results }) => results,
    content: ({ highlights, text }) => joined(listOf(highlights)) || text,
    published: 'publishedDate',
  },
  firecrawl: {
    address: 'https://api.firecrawl.dev',
    path: '/v2/search',
    most: 25,
    domains: 'either',
    key: bearer,
    body: (search) => ({
      query: search.query,
      limit: search.most,
      ...(search.place?.country === undefined || search.place.country === null ? {} : { country: search.place.country }),
      // Whole pages cost time and credits; passages that match the query are included without them.
      ...(search.characters > PASSAGES_MAX ? { scrapeOptions: { formats: ['markdown'], onlyMainContent: true } } : {}),
      ...listedDomains(search),
    }),
    results: ({ data }) => (Array.isArray(data) ? data : fields(data)['web']),
    content: ({ markdown, description }) => markdown ?? description,
    published: 'date',
  },
  perplexity: {
    address: 'https://api.perplexity.ai',
    path: '/search',
    most: 20,
    domains: 'either',
    key: bearer,
    body: ({ query, most, characters, place, allowed, excluded }) => ({
      query,
      max_results: most,
      max_tokens_per_page: Math.ceil(characters / CHARACTERS_PER_TOKEN),
      ...(place?.country === undefined || place.country === null ? {} : { country: place.country }),
      ...(allowed.length + excluded.length === 0
        ? {}
        : {
            search_domain_filter: (allowed.length > 0 ? allowed : excluded.map((domain) => `-${domain}`)).slice(0, PERPLEXITY_DOMAINS_MAX),
          }),
    }),
    results: ({ results }) => results,
    content: ({ snippet }) => snippet,
    published: 'date',
  },
  http: {
    address: null,
    path: '',
    most: 25,
    domains: 'both',
    // The request is signed instead (ask-engine.ts).
    key: () => ({}),
    body: ({ query, most, allowed, excluded, place }) => ({
      query,
      max_results: most,
      allowed_domains: allowed,
      excluded_domains: excluded,
      user_location: place === null ? null : { type: 'approximate', ...place },
    }),
    results: ({ results }) => results,
    content: ({ content }) => content,
    published: 'published',
  },
}

const EXA_TYPES = ['instant', 'fast', 'auto', 'deep-lite', 'deep', 'deep-reasoning'] as const
const PASSAGES_MAX = 4000
const TAVILY_EXCLUDED_MAX = 150
const CHARACTERS_PER_TOKEN = 4
const PERPLEXITY_DOMAINS_MAX = 20
/** The maximum length of a query for Brave; the limits of the others are not much higher. */
const QUERY_MAX = 400

/** The only list that such an engine accepts; the allowed domains are more restrictive. */
const listedDomains = ({ allowed, excluded }: Search): JsonObject => {
  if (allowed.length > 0) return { includeDomains: allowed }
  return excluded.length > 0 ? { excludeDomains: excluded } : {}
}

/**
 * Adds search operators that most engines support; if they do not fit or are ignored, the filter applied to the answer has the
 * same effect.
 */
const queryWithSites = ({ query, allowed, excluded }: Search): string => {
  const sites = allowed.map((domain) => `site:${domain}`)
  const wanted = sites.length > 1 ? `(${sites.join(' OR ')})` : sites.join('')
  const whole = [query, wanted, ...excluded.map((domain) => `-site:${domain}`)].filter((word) => word !== '').join(' ')
  return whole.length <= QUERY_MAX ? whole : query
}

/** Brave refuses queries with more words. */
const WORDS_MAX = 50

const fewWords = (whole: string, query: string): string =>
  whole.split(' ').length <= WORDS_MAX ? whole : query.split(' ').slice(0, WORDS_MAX).join(' ')

/** The main language of the country: `de-DE`. */
const language = (place: Place | null): Readonly<Record<string, string>> => {
  if (place === null || place.country === null) return {}
  const { language: spoken } = new Intl.Locale(`und-${place.country}`).maximize()
  return spoken === 'und' ? {} : { language: `${spoken}-${place.country}` }
}

/** Brave answers any other country with an error. */
const BRAVE_COUNTRIES: ReadonlySet<string> = new Set(
  'AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US'.split(' '),
)

const braveCountry = (place: Place | null): Readonly<Record<string, string>> =>
  place !== null && place.country !== null && BRAVE_COUNTRIES.has(place.country) ? { country: place.country } : {}

const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

const joined = (texts: readonly unknown[]): string => texts.filter((text) => typeof text === 'string' && text !== '').join('\n')
