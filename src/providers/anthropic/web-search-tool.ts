/** Converts web search, as the other dialects and this service name it, to the provider's own tool (docs/contract/tools.md#web-search). */
import { wordSet } from '../../lib/text/word-set.ts'
import type { Losses } from '../losses/losses.ts'
import { searchOptions } from '../tools/search-options.ts'

const KINDS = /^(?:(?:service|openrouter):)?web_search(?:_preview)?(?:_[\d_]+)?$/

export const isWebSearch = (kind: string): boolean => KINDS.test(kind)

/** `source`: the client's tool, or its `web_search_options`. */
export const webSearchTool = (source: unknown, field: string, { lose }: Pick<Losses, 'lose'>): Readonly<Record<string, unknown>> => {
  const options = searchOptions(source, field, TAKEN, { lose })
  const allowed = texts(options['allowed_domains'])
  const blocked = texts(options['blocked_domains']) ?? texts(options['excluded_domains'])
  if (allowed !== undefined && blocked !== undefined)
    lose(field, 'Domains can be allowed or blocked, not both; the blocked ones were left out.')
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: typeof options['max_uses'] === 'number' ? options['max_uses'] : undefined,
    allowed_domains: allowed,
    blocked_domains: allowed === undefined ? blocked : undefined,
    user_location: options['user_location'],
  }
}

const TAKEN = wordSet('max_uses allowed_domains blocked_domains excluded_domains user_location')

const texts = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) && value.length > 0 ? value : undefined)
