/**
 * Options of web search and web fetch, which are available as tools, as server tools and as plugins
 * (docs/contract/tools.md#web-search).
 */
import { z } from 'zod'

import { optionalPositiveInteger, optionalText, optionalTexts } from './scalars.ts'

/** `auto`, `native`, or an engine name of the operator. */
export const searchEngine = z
  .string()
  .max(100)
  .nullish()
  .meta({ description: '`auto`, `native`, or an engine that the operator has configured, by its name or its kind.' })
const fetchEngine = z.enum(['auto', 'native', 'service', 'openrouter', 'exa', 'parallel', 'firecrawl']).nullish()

export const searchMode = z
  .enum(['instant', 'fast', 'auto', 'deep-lite', 'deep', 'deep-reasoning', 'turbo', 'basic', 'advanced'])
  .meta({ id: 'SearchMode' })
  .nullish()

export const userLocation = z
  .looseObject({
    type: z.literal('approximate').nullish(),
    city: optionalText,
    country: optionalText,
    region: optionalText,
    timezone: optionalText,
  })
  .meta({ id: 'UserLocation' })
  .nullish()

const searchContextSize = z.enum(['low', 'medium', 'high']).nullish()

const searchFilters = z
  .looseObject({ allowed_domains: optionalTexts, blocked_domains: optionalTexts, excluded_domains: optionalTexts })
  .meta({ id: 'SearchFilters' })

/** Members of the four OpenAI search tools, beside their `type`. */
export const searchToolMembers = {
  engine: searchEngine,
  filters: searchFilters.nullish(),
  max_results: optionalPositiveInteger,
  max_uses: optionalPositiveInteger,
  mode: searchMode,
  search_context_size: searchContextSize,
  user_location: userLocation,
}

/** The maximum number of results of a search by the service. */
export const foundPages = z.int().min(1).max(25).nullish()

/** Members of our own search tool's `parameters`. */
export const serverSearchMembers = {
  engine: searchEngine,
  max_results: foundPages,
  max_total_results: optionalPositiveInteger,
  max_uses: optionalPositiveInteger,
  max_characters: z.int().min(1).max(100_000).nullish(),
  mode: searchMode,
  search_context_size: searchContextSize,
  allowed_domains: optionalTexts,
  excluded_domains: optionalTexts,
  user_location: userLocation,
}

export const fetchMembers = {
  allowed_domains: optionalTexts,
  blocked_domains: optionalTexts,
  max_content_tokens: optionalPositiveInteger,
  max_uses: optionalPositiveInteger,
}

export const serverFetchMembers = { ...fetchMembers, engine: fetchEngine }

/** Chat's parameter for web search. */
export const webSearchOptions = z.looseObject({ search_context_size: searchContextSize, user_location: z.looseObject({}).nullish() })
