import type { ProviderTool } from '../../canonical/prompt.ts'
import type { AskedSearch } from '../../tools/web-search/read-search.ts'

/**
 * `native`: every attempt has a search of its own, which it gets as a tool. `ours`: the service searches and puts the results before the
 * question.
 */
export type PlannedSearch =
  | { readonly type: 'native'; readonly tool: ProviderTool }
  | { readonly type: 'ours'; readonly asked: AskedSearch; readonly query: string; readonly prompt: string | null }
