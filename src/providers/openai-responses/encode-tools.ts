/** Encodes tools and the choice among them. */
import type { CustomTool, ProviderTool, Tool } from '../../canonical/prompt.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { demandedTool, demandsSearch } from '../tools/demanded-tool.ts'
import type { Translation } from '../losses/translation.ts'
import { runsByItself } from '../tools/vendor-tools.ts'
import { wordSet } from '../../lib/text/word-set.ts'
import type { LostMarks } from './lost-marks.ts'

export const encodeTools = (translation: Translation, marks: LostMarks): readonly JsonObject[] => {
  const tools = translation.prompt.tools.flatMap((tool, index) => {
    if (tool.type === 'function' && tool.cache !== undefined) marks.lose(`tools[${index}]`)
    return encodeTool(tool, translation)
  })
  const options = translation.setting('webSearchOptions')
  // Chat Completions asks for a search by an option beside the tools.
  return options === undefined || tools.some(({ type }) => type === 'web_search')
    ? tools
    : [...tools, webSearch(isObject(options) ? options : {})]
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
const encodeProviderTool = ({ kind, at, raw }: ProviderTool, { lose }: Translation): readonly JsonObject[] => {
  if (isObject(raw) && runsByItself(kind, raw)) return [raw as JsonObject]
  if (!/(?:^|:)web_search(?:_|$)/.test(kind)) {
    lose(at, `A tool of type ${kind} could not be translated for this provider; it was left out.`)
    return []
  }
  const tool = isObject(raw) ? raw : {}
  // A tool of this service has its options in `parameters`.
  const inParameters = isObject(tool['parameters'])
  const options = isObject(tool['parameters']) ? tool['parameters'] : tool
  for (const [name, value] of Object.entries(options)) {
    if (value !== null && !SEARCH_OPTIONS.has(name))
      lose(`${at}.${inParameters ? 'parameters.' : ''}${name}`, `This provider's web search has no word for ${name}; it was left out.`)
  }
  return [webSearch(options)]
}

/** The options that are carried over, and the members that only name the tool. */
const SEARCH_OPTIONS: ReadonlySet<string> = wordSet('type name cache_control search_context_size allowed_domains filters user_location')

const webSearch = (options: Readonly<Record<string, unknown>>): JsonObject => {
  const size = options['search_context_size']
  const filters = isObject(options['filters']) ? options['filters'] : options
  const domains = filters['allowed_domains']
  const location = options['user_location']
  return {
    type: 'web_search',
    ...(size === 'low' || size === 'medium' || size === 'high' ? { search_context_size: size } : {}),
    ...(Array.isArray(domains) && domains.length > 0 ? { filters: { allowed_domains: domains as JsonValue[] } } : {}),
    ...(isObject(location) ? { user_location: approximate(location) } : {}),
  }
}

/** Chat Completions wraps the location in an object of its own. */
const approximate = (location: Readonly<Record<string, unknown>>): JsonObject => {
  const place = isObject(location['approximate']) ? location['approximate'] : location
  const known = ['city', 'country', 'region', 'timezone'].flatMap((name) => {
    const value = place[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  return { type: 'approximate', ...(Object.fromEntries(known) as JsonObject) }
}
