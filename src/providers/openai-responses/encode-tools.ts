/** Encodes tools and the choice among them. */
import type { CustomTool, ProviderTool, Tool } from '../../canonical/prompt.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { demandedTool, demandsSearch } from '../tools/demanded-tool.ts'
import type { Translation } from '../losses/translation.ts'
import { searchOptions } from '../tools/search-options.ts'
import { runsByItself } from '../tools/vendor-tools.ts'
import { wordSet } from '../../lib/text/word-set.ts'
import type { LostMarks } from './lost-marks.ts'

export const encodeTools = (translation: Translation, marks: LostMarks): readonly JsonObject[] => {
  const tools = translation.prompt.tools.flatMap((tool, index) => {
    if (tool.type !== 'custom' && tool.cache !== undefined) marks.lose(`tools[${index}]`)
    return encodeTool(tool, translation)
  })
  const options = translation.setting('webSearchOptions')
  // Chat Completions asks for a search by an option beside the tools.
  return options === undefined || tools.some(({ type }) => type === 'web_search')
    ? tools
    : [...tools, webSearch(options, translation.prompt.settings.webSearchOptions?.field ?? 'web_search_options', translation)]
}

/** Returns members to spread: the default choice is left out, and so is a choice of a tool that cannot be demanded. */
export const encodeToolChoice = (translation: Translation): JsonObject => {
  const choice = translation.prompt.toolChoice
  if (choice.type === 'auto') return {}
  if (choice.type !== 'tool') return { tool_choice: choice.type }
  if (demandsSearch(translation.prompt)) return { tool_choice: { type: 'web_search' } }
  const chosen = demandedTool(translation, choice.name)
  return chosen === undefined ? {} : { tool_choice: { type: chosen.type, name: choice.name } }
}

const encodeTool = (tool: Tool, translation: Translation): readonly JsonObject[] => {
  if (tool.type === 'provider') return encodeProviderTool(tool, translation)
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
const encodeProviderTool = ({ kind, at, raw }: ProviderTool, translation: Translation): readonly JsonObject[] => {
  if (isObject(raw) && runsByItself(kind, raw)) return [raw as JsonObject]
  if (!/(?:^|:)web_search(?:_|$)/.test(kind)) {
    translation.lose(at, `A tool of type ${kind} could not be translated for this provider; it was left out.`)
    return []
  }
  return [webSearch(raw, at, translation)]
}

const SEARCH_OPTIONS = wordSet('search_context_size allowed_domains user_location')

const webSearch = (source: unknown, at: string, translation: Translation): JsonObject => {
  const {
    search_context_size: size,
    allowed_domains: domains,
    user_location: location,
  } = searchOptions(source, at, SEARCH_OPTIONS, translation)
  return {
    type: 'web_search',
    ...(size === 'low' || size === 'medium' || size === 'high' ? { search_context_size: size } : {}),
    ...(Array.isArray(domains) && domains.length > 0 ? { filters: { allowed_domains: domains as JsonValue[] } } : {}),
    ...(isObject(location) ? { user_location: location as JsonObject } : {}),
  }
}
