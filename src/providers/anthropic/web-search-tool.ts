/** Converts web search, as the other dialects and this service name it, to the provider's own tool (docs/contract/tools.md#web-search). */
import type { Losses } from '../losses/losses.ts'
import { DOMAINS, searchDomains, searchOptions } from '../tools/search-options.ts'

const KINDS = /^(?:(?:service|openrouter):)?web_search(?:_preview)?(?:_[\d_]+)?$/

export const isWebSearch = (kind: string): boolean => KINDS.test(kind)

/** `source`: the client's tool, or its `web_search_options`. */
export const webSearchTool = (source: unknown, field: string, { lose }: Pick<Losses, 'lose'>): Readonly<Record<string, unknown>> => {
  const options = searchOptions(source, field, TAKEN, { lose })
  const { allowed, excluded } = searchDomains(options, field, { lose })
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: typeof options['max_uses'] === 'number' ? options['max_uses'] : undefined,
    allowed_domains: allowed,
    blocked_domains: excluded,
    user_location: options['user_location'],
  }
}

const TAKEN: ReadonlySet<string> = new Set(['max_uses', 'user_location', ...DOMAINS])
