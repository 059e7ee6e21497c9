/** Encodes tools and the choice among them. */
import { allowsSome, isBarred } from '../../canonical/allowed-tools.ts'
import type { CustomTool, ProviderTool, Tool } from '../../canonical/prompt.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { demandedTool, demandsSearch } from '../tools/demanded-tool.ts'
import type { Translation } from '../losses/translation.ts'
import { DOMAINS, isWebSearch, searchDomains, searchOptions } from '../tools/search-options.ts'
import { runsByItself } from '../tools/vendor-tools.ts'
import type { Target } from '../provider.ts'
import type { LostMarks } from './lost-marks.ts'

export const encodeTools = (translation: Translation, marks: LostMarks, { provider }: Pick<Target, 'provider'>): readonly JsonObject[] => {
  const tools = translation.prompt.tools.flatMap((tool, index) => {
    if (tool.type !== 'custom' && tool.cache !== undefined) marks.lose(`tools[${index}]`)
    return encodeTool(tool, translation, provider)
  })
  const options = translation.setting('webSearchOptions')
  // Chat Completions asks for a search by an option beside the tools.
  return options === undefined || tools.some(({ type }) => type === 'web_search')
    ? tools
    : [...tools, webSearch(options, translation.prompt.settings.webSearchOptions?.field ?? 'web_search_options', translation, provider)]
}

/** Returns members to spread: the default choice is left out, and so is a choice of a tool that cannot be demanded. */
export const encodeToolChoice = (translation: Translation, encoded: readonly JsonObject[]): JsonObject => {
  const { toolChoice: choice, tools } = translation.prompt
  if ((choice.type === 'auto' || choice.type === 'required') && allowsSome(tools)) {
    const barred = new Set(tools.flatMap((tool) => (tool.type !== 'provider' && isBarred(tool) ? [tool.name] : [])))
    const allowed = encoded.filter(({ name = null }) => typeof name !== 'string' || !barred.has(name))
    return { tool_choice: { type: 'allowed_tools', mode: choice.type, tools: allowed.map(naming) } }
  }
  if (choice.type === 'auto') return {}
  if (choice.type !== 'tool') return { tool_choice: choice.type }
  if (demandsSearch(translation.prompt)) return { tool_choice: { type: 'web_search' } }
  const chosen = demandedTool(translation, choice.name)
  return chosen === undefined ? {} : { tool_choice: { type: chosen.type, name: choice.name } }
}

/** The members by which a choice names a tool; one that OpenAI runs has only a type, except for a server of tools. */
const naming = (tool: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(tool).filter(([member]) => member === 'type' || member === 'name' || member === 'server_label'))

const encodeTool = (tool: Tool, translation: Translation, provider: string): readonly JsonObject[] => {
  if (tool.type === 'provider') return encodeProviderTool(tool, translation, provider)
  if (tool.type === 'custom') return [customTool(tool)]
  return [
    {
      type: 'function',
      name: tool.name,
      ...(tool.description === null ? {} : { description: tool.description }),
      parameters: tool.parameters as JsonValue,
      // The default is true in this dialect, but false in every other.
      strict: tool.strict ?? false,
    },
  ]
}

const customTool = ({ name, description, grammar }: CustomTool): JsonObject => ({
  type: 'custom',
  name,
  ...(description === null ? {} : { description }),
  ...(grammar === null ? {} : { format: { type: 'grammar', ...grammar } }),
})

/** Encodes the web search of every dialect; of the other tools that providers run, those of this dialect are passed on as they are. */
const encodeProviderTool = ({ kind, at, raw }: ProviderTool, translation: Translation, provider: string): readonly JsonObject[] => {
  if (isObject(raw) && runsByItself(kind, raw)) return [raw as JsonObject]
  if (!isWebSearch(kind)) {
    translation.lose(at, `A tool of type ${kind} could not be translated for this provider; it was left out.`)
    return []
  }
  return [webSearch(raw, at, translation, provider)]
}

const SEARCH_OPTIONS: ReadonlySet<string> = new Set(['search_context_size', 'user_location', ...DOMAINS])

const webSearch = (source: unknown, at: string, translation: Translation, provider: string): JsonObject => {
  const options = searchOptions(source, at, SEARCH_OPTIONS, translation)
  const { search_context_size: size, user_location: location } = options
  const { allowed, excluded } = searchDomains(options, at, translation)
  // docs.x.ai, "Web search": `excluded_domains`.
  const blocked = provider === 'xai' ? 'excluded_domains' : 'blocked_domains'
  const filters = {
    ...(allowed === undefined ? {} : { allowed_domains: allowed }),
    ...(excluded === undefined ? {} : { [blocked]: excluded }),
  }
  return {
    type: 'web_search',
    ...(size === 'low' || size === 'medium' || size === 'high' ? { search_context_size: size } : {}),
    ...(Object.keys(filters).length === 0 ? {} : { filters }),
    ...(isObject(location) ? { user_location: location as JsonObject } : {}),
  }
}
