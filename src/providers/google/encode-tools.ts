/** Encodes tools and the choice among them. */
import type { FunctionTool, ProviderTool } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Growth } from '../../lib/json/json-size.ts'
import { mapInSteps, SCHEMA_UNITS, type Steps } from '../../lib/steps.ts'
import { firstOfItsName } from '../anthropic/lawful-fields.ts'
import { demandedTool, loseChoice } from '../tools/demanded-tool.ts'
import type { Translation } from '../losses/translation.ts'
import { searchOptions } from '../tools/search-options.ts'
import { googleParameters, schemaGrowth } from './json-schema.ts'

export interface EncodedTools {
  readonly tools: readonly unknown[] | undefined
  readonly toolConfig: { readonly functionCallingConfig: JsonObject } | undefined
  readonly hasFunctions: boolean
  /** The model must call a function. */
  readonly forced: boolean
}

export function* encodeTools(translation: Translation): Steps<EncodedTools> {
  const { prompt, setting, lose } = translation
  const isNew = firstOfItsName({ lose })
  const functions = prompt.tools.flatMap((tool, index) => (tool.type === 'function' && isNew(tool.name, `tools[${index}]`) ? [tool] : []))
  const growth = schemaGrowth()
  let searches = false
  const search = (options: unknown, at: string): void => {
    if (functions.length > 0) {
      // It would answer with calls of its own, which must come back in the next turn, and no client can send those back.
      lose(at, 'Google’s web search cannot be combined with functions; it was left out.')
      return
    }
    searches = true
    searchOptions(options, at, NO_OPTIONS, { lose })
  }
  for (const tool of prompt.tools) {
    if (tool.type === 'function') continue
    if (tool.type === 'custom' || !isWebSearch(tool)) lose(tool.at, `Google has no tool of type ${tool.kind}; it was left out.`)
    else search(tool.raw, tool.at)
  }
  // Chat Completions asks for a search by an option beside the tools.
  const options = setting('webSearchOptions')
  if (options !== undefined) search(options, prompt.settings.webSearchOptions?.field ?? 'web_search_options')
  const declared = yield* mapInSteps(
    functions,
    (tool) => declaration(tool, growth),
    () => SCHEMA_UNITS,
  )
  const tools = [...(functions.length > 0 ? [{ functionDeclarations: declared }] : []), ...(searches ? [{ googleSearch: {} }] : [])]
  const asked = prompt.toolChoice
  if (functions.length === 0) loseChoice(translation)
  const isLeft = functions.length > 0 && asked.type === 'tool' && demandedTool(translation, asked.name) === undefined
  const choice = isLeft ? ({ type: 'auto' } as const) : asked
  const forced = functions.length > 0 && (choice.type === 'required' || choice.type === 'tool')
  return {
    tools: tools.length === 0 ? undefined : tools,
    toolConfig: functions.length === 0 ? undefined : callingConfig(choice, functions),
    hasFunctions: functions.length > 0,
    forced,
  }
}

const declaration = (tool: FunctionTool, growth: Growth): Readonly<Record<string, unknown>> => {
  const parameters = googleParameters(tool.parameters, growth)
  return {
    name: tool.name,
    ...(tool.description === null ? {} : { description: tool.description }),
    ...(parameters === undefined ? {} : { parametersJsonSchema: parameters }),
  }
}

const callingConfig = (choice: Translation['prompt']['toolChoice'], functions: readonly FunctionTool[]): EncodedTools['toolConfig'] => {
  switch (choice.type) {
    case 'none':
      return { functionCallingConfig: { mode: 'NONE' } }
    case 'required':
      return { functionCallingConfig: { mode: 'ANY' } }
    case 'tool':
      return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [choice.name] } }
    case 'auto':
      // The mode in which arguments are held to their schema, which is the dialect's form of strict functions.
      return functions.some(({ strict }) => strict === true) ? { functionCallingConfig: { mode: 'VALIDATED' } } : undefined
  }
}

/** Matches the web search of every vendor, and the service's own under either prefix. */
const isWebSearch = (tool: ProviderTool): boolean => /^(?:service:|openrouter:)?web_search(?:_|$)/.test(tool.kind)

const NO_OPTIONS: ReadonlySet<string> = new Set()
