/**
 * Vendors' own names for a search of theirs, as fields of a request and as tools. One list serves locks, denied tools
 * and holds; names are compared as `plainName` returns them.
 */
import { isObject } from '../lib/json/json.ts'
import { wordSet } from '../lib/text/word-set.ts'
import { plainName } from './conversation-media.ts'

const plainSet = (words: string): ReadonlySet<string> => new Set([...wordSet(words)].map(plainName))

/**
 * Fields that turn a search on or set it. Alibaba Model Studio, "Web search"; xAI, "Live Search"; Perplexity, "Chat completions"; Groq,
 * "Compound: search settings"; Vercel AI SDK, "Google: search grounding". Anthropic, Zhipu and others have tools instead.
 */
export const SEARCH_NAMES = wordSet(`
  web_search enable_web_search enable_search search_options search_parameters search_settings forced_search
  use_search_grounding search_mode search_type search_domain_filter search_language_filter search_recency_filter
  search_after_date_filter search_before_date_filter last_updated_after_filter last_updated_before_filter
  enable_search_classifier
`)

export const SEARCH_FIELDS: ReadonlySet<string> = new Set([...SEARCH_NAMES].map(plainName))

/** Returns false for a value that turns a search off. */
export const asksForSearch = (value: unknown): boolean => {
  if (!isObject(value)) return (value ?? false) !== false && value !== 'off' && value !== 'none'
  const { mode, enable = true, enabled = true, type } = value
  return mode !== 'off' && enable !== false && enabled !== false && type !== 'disabled'
}

/**
 * Types of tools with which vendors search, beside those that begin with `web_search`: Google, "Grounding with Google Search"; xAI, "Live
 * Search"; Groq, "Browser search"; Zhipu, "Web browser"; Microsoft, "Grounding with Bing Search".
 */
const SEARCH_TOOLS = plainSet(
  'google_search google_search_retrieval enterprise_web_search live_search x_search browser_search web_browser bing_grounding',
)

/** Google, "URL context"; Groq, "Visit website"; Alibaba, "Web extractor"; Perplexity, "Fetch URL". */
const FETCH_TOOLS = plainSet('url_context visit_website web_extractor fetch_url')

/** The service's name for what a vendor's tool of this type or name does. */
export const vendorsWebTool = (name: string): 'web_search' | 'web_fetch' | null => {
  const plain = plainName(name)
  if (SEARCH_TOOLS.has(plain) || plain.startsWith('websearch')) return 'web_search'
  return FETCH_TOOLS.has(plain) || plain.startsWith('webfetch') ? 'web_fetch' : null
}

/**
 * True for models that search as they see fit, whatever a request says. Perplexity, "Models"; OpenAI, "Web search: Chat Completions";
 * Groq, "Compound: systems"; OpenRouter, "Web search": `:online`, and its pages of OpenAI's deep research, which OpenAI itself runs only with
 * tools. `name` is the provider's.
 */
export const searchesUnasked = (name: string): boolean => SEARCHING.test(name)

const SEARCHING =
  /(?:^|[/.])(?:sonar(?:-(?:pro|reasoning|pro-search|reasoning-pro|deep-research))?|openai\/o\d(?:-mini)?-deep-research(?:-[\d-]+)?|[\w.-]+-search-(?:preview|api)(?:-[\d-]+)?|compound(?:-beta)?(?:-mini)?)(?::[\w-]+)?$|:online$/i
