/** The plugin `web` and the variant `:online`: one search before the model is asked (docs/contract/tools.md#search-before-the-answer). */
import type { Call } from '../../canonical/call.ts'
import type { Message, ProviderTool } from '../../canonical/prompt.ts'
import type { ServerTool } from '../../canonical/server-tools.ts'
import { GatewayError } from '../../errors.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { hasOfItsOwn } from '../../providers/tools/native-tools.ts'
import type { Plan, PlannedAttempt } from '../../routing/plan-attempts.ts'
import { plainQuery, QUERY_MAX, readSearch, type AskedSearch } from '../../tools/web-search/read-search.ts'
import { refuseDenied } from '../../tools/denied-tools.ts'
import type { SearchEngines } from '../../tools/web-search/search-engines.ts'
import { prefersNative, type WebSearchSettings } from '../../tools/web-search/settings.ts'
import { ofPreset } from '../loop/offer-tools.ts'
import { dialectOf } from '../run/dialect-of.ts'
import type { PlannedSearch } from './planned-search.ts'

/** The maximum cost of the search before the model is asked. A provider's own search is part of what the provider charges. */
export const searchNanos = (search: PlannedSearch | null): number => (search?.type === 'ours' ? search.asked.engines.dearestNanos : 0)

export interface SearchPlan {
  readonly search: PlannedSearch
  /** The attempts of the plan that can answer with this search. */
  readonly attempts: readonly PlannedAttempt[]
}

export interface SearchParts {
  readonly engines: SearchEngines
  readonly settings: WebSearchSettings
  /** The preset that the plugin or the model's name comes from; null if the request itself has it. */
  readonly presetOf: (at: 'plugins' | 'model') => string | null
  readonly denied: readonly ServerTool[]
}

/** Null if no search is asked for. Throws `invalid_request` if no candidate can search, and for invalid options. */
export const planSearch = (
  call: Call,
  { searches, attempts }: Pick<Plan, 'searches' | 'attempts'>,
  parts: SearchParts,
): SearchPlan | null => {
  const plugin = webPlugin(call, searches)
  if (plugin === null) return null
  refuseDenied('web_search', parts.denied, plugin.at)
  const { options, at, name } = plugin
  const parameters = parametersOf(options)
  const prompt = call.prompt()
  const engine = options['engine'] ?? 'auto'
  const tool: ProviderTool = { type: 'provider', kind: 'service:web_search', at, raw: { type: 'service:web_search', parameters } }
  const isNative = (planned: PlannedAttempt): boolean =>
    hasOfItsOwn('web_search', tool, prompt, {
      provider: planned.endpoint.provider.slug,
      upstreamModel: planned.endpoint.upstreamModel,
      dialect: dialectOf(planned, call),
      client: call.dialect,
      rewritten: true,
    })
  const natives = engine === 'native' || (engine === 'auto' && prefersNative(parts.settings)) ? attempts.filter(isNative) : []
  // The first attempt decides, so that the results do not depend on which attempt succeeds.
  if (natives.length > 0 && (natives[0] === attempts[0] || engine === 'native' || parts.engines.names.length === 0)) {
    return { search: { type: 'native', tool }, attempts: natives }
  }
  const asked = naming(parts.presetOf(at === 'model' ? at : 'plugins'), () => readSearch(parameters, { name, at, path: at }, parts.engines))
  const searchPrompt = options['search_prompt']
  const query = questionOf(prompt.messages)
  return { search: { type: 'ours', asked, query, prompt: typeof searchPrompt === 'string' ? searchPrompt : null }, attempts }
}

const naming = (presetSlug: string | null, read: () => AskedSearch): AskedSearch => {
  try {
    return read()
  } catch (thrown) {
    throw thrown instanceof GatewayError && presetSlug !== null ? ofPreset(thrown, presetSlug) : thrown
  }
}

interface AskedPlugin {
  readonly options: Readonly<Record<string, unknown>>
  readonly at: string
  /** The name used in a refusal. */
  readonly name: string
}

/** If the plugin is switched off, so is the variant. */
const webPlugin = ({ body }: Call, searches: boolean): AskedPlugin | null => {
  const plugins = body.value('plugins')
  const listed = Array.isArray(plugins) ? (plugins as readonly unknown[]) : []
  const index = listed.findIndex((plugin) => isObject(plugin) && plugin['id'] === 'web')
  const options = listed[index]
  if (isObject(options)) return options['enabled'] === false ? null : { options, at: `plugins[${index}]`, name: 'the plugin web' }
  return searches ? { options: {}, at: 'model', name: 'the variant :online' } : null
}

/** Converts the plugin's options to those of the tool. */
const parametersOf = (options: Readonly<Record<string, unknown>>): JsonObject => {
  const { include_domains: allowed, exclude_domains: excluded } = options
  const kept = SHARED.flatMap((name) => ((options[name] ?? null) === null ? [] : [[name, options[name]]]))
  return {
    ...(Object.fromEntries(kept) as JsonObject),
    ...(Array.isArray(allowed) ? { allowed_domains: allowed as JsonValue } : {}),
    ...(Array.isArray(excluded) ? { excluded_domains: excluded as JsonValue } : {}),
  }
}

const SHARED = ['engine', 'max_results', 'max_uses', 'mode', 'user_location', 'search_context_size', 'max_characters'] as const

/** The user's last text, cut to the length that an engine takes. */
const questionOf = (messages: readonly Message[]): string => {
  const texts = messages[lastQuestion(messages)]?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return cutText(plainQuery(cutText((texts ?? []).join(' '), QUESTION_READ)), QUERY_MAX)
}

/** More than enough characters for a query, even if much of it is white space. */
const QUESTION_READ = 8 * QUERY_MAX

/** The index of the user's last text, not counting results of tools; -1 if there is none. */
export const lastQuestion = (messages: readonly Message[]): number =>
  messages.findLastIndex(({ role, parts }) => role === 'user' && parts.some((part) => part.type === 'text' && part.text.trim() !== ''))
