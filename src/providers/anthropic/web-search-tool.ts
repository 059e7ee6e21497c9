/** Converts web search, as the other dialects and this service name it, to the provider's own tool (docs/contract/tools.md#web-search). */
import { isObject } from '../../lib/json/json.ts'

const KINDS = /^(?:(?:service|openrouter):)?web_search(?:_preview)?(?:_[\d_]+)?$/

export const isWebSearch = (kind: string): boolean => KINDS.test(kind)

/** `source`: the client's tool, whose options are beside its type, in `filters` or in `parameters`. */
export const webSearchTool = (
  source: unknown,
  field: string,
  { lose }: { lose(field: string, message: string): void },
): Readonly<Record<string, unknown>> => {
  const tool = isObject(source) ? source : {}
  const filters = isObject(tool['filters']) ? tool['filters'] : {}
  const parameters = isObject(tool['parameters']) ? tool['parameters'] : {}
  const options: Readonly<Record<string, unknown>> = { ...tool, ...filters, ...parameters }
  const allowed = texts(options['allowed_domains'])
  const blocked = texts(options['blocked_domains']) ?? texts(options['excluded_domains'])
  if (allowed !== undefined && blocked !== undefined)
    lose(field, 'Domains can be allowed or blocked, not both; the blocked ones were left out.')
  for (const option of WITHOUT_A_WORD) {
    const value = options[option] ?? null
    if (value !== null && value !== 'auto' && value !== 'native')
      lose(`${field}.${option}`, `The provider's web search has no ${option}; it was left out.`)
  }
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: typeof options['max_uses'] === 'number' ? options['max_uses'] : undefined,
    allowed_domains: allowed,
    blocked_domains: allowed === undefined ? blocked : undefined,
    user_location: location(options['user_location']),
    cache_control: isObject(options['cache_control']) ? options['cache_control'] : undefined,
  }
}

const WITHOUT_A_WORD = ['engine', 'mode', 'max_results', 'max_total_results', 'max_characters', 'search_context_size'] as const

const texts = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) && value.length > 0 ? value : undefined)

/** Chat Completions wraps the location in `approximate`. */
const location = (value: unknown): Readonly<Record<string, unknown>> | undefined => {
  if (!isObject(value)) return undefined
  const place = isObject(value['approximate']) ? value['approximate'] : value
  const known = PLACE.flatMap((key): [string, unknown][] => (typeof place[key] === 'string' ? [[key, place[key]]] : []))
  return known.length === 0 ? undefined : { type: 'approximate', ...Object.fromEntries(known) }
}

const PLACE = ['city', 'region', 'country', 'timezone'] as const
