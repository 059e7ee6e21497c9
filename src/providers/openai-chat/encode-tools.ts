/** Encodes tools, the choice among them, and the format of the answer. */
import { allowsSome, isBarred } from '../../canonical/allowed-tools.ts'
import type { CustomTool, FunctionTool, OutputFormat } from '../../canonical/prompt.ts'
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'
import { demandedTool, loseChoice } from '../tools/demanded-tool.ts'
import { isWebSearch } from '../tools/search-options.ts'
import type { Translation } from '../losses/translation.ts'
import { encodeSearch } from './encode-search.ts'
import type { MessageContext } from './message-context.ts'

/** Returns `tools`, `tool_choice` and the fields that ask for a vendor's own search. */
export const encodeTools = (translation: Translation, context: MessageContext): JsonObject => {
  const { prompt, lose } = translation
  const tools: JsonObject[] = []
  const fields: Record<string, JsonValue> = {}
  for (const tool of prompt.tools) {
    const search = tool.type === 'provider' && isWebSearch(tool.kind) ? encodeSearch(tool, context) : null
    if (search !== null && tool.type === 'provider') context.cacheControl(tool.cache, 'tools', 'call')
    if (search?.tool !== undefined) tools.push(search.tool)
    else if (search?.fields !== undefined) Object.assign(fields, search.fields)
    else if (tool.type === 'provider')
      lose(tool.at, `A tool of type ${tool.kind} could not be translated for this provider; it was left out.`)
    else if (tool.type === 'custom') tools.push(customTool(tool))
    else tools.push({ ...functionTool(tool), ...context.cacheControl(tool.cache, 'tools', 'tool') })
  }
  if (tools.length > 0) return { ...fields, tools, ...encodeChoice(translation) }
  loseChoice(translation)
  return fields
}

export const functionTool = (tool: FunctionTool): JsonObject => ({
  type: 'function',
  function: {
    name: tool.name,
    ...(tool.description === null ? {} : { description: tool.description }),
    parameters: tool.parameters as JsonValue,
    ...(tool.strict === undefined ? {} : { strict: tool.strict }),
  },
})

/** Only for vendors that have custom tools: for all others they have become functions already. */
const customTool = ({ name, description, grammar }: CustomTool): JsonObject => ({
  type: 'custom',
  custom: {
    name,
    ...(description === null ? {} : { description }),
    ...(grammar === null ? {} : { format: { type: 'grammar', grammar } }),
  },
})

const encodeChoice = (translation: Translation): JsonObject => {
  const { toolChoice: choice, tools } = translation.prompt
  if ((choice.type === 'auto' || choice.type === 'required') && allowsSome(tools)) {
    const allowed = tools.flatMap((tool) => (tool.type === 'provider' || isBarred(tool) ? [] : [naming(tool.type, tool.name)]))
    return { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: choice.type, tools: allowed } } }
  }
  if (choice.type === 'auto') return {}
  if (choice.type !== 'tool') return { tool_choice: choice.type }
  const chosen = demandedTool(translation, choice.name)
  return chosen === undefined ? {} : { tool_choice: naming(chosen.type, choice.name) }
}

const naming = (type: 'function' | 'custom', name: string): JsonObject => ({ type, [type]: { name } })

export const NO_SCHEMA =
  'This provider takes no schema; it was asked for a JSON object, and the schema was described to the model in words.'

export const encodeFormat = (format: OutputFormat): JsonObject => {
  if (format.type === 'text') return {}
  if (format.type === 'json') return { response_format: { type: 'json_object' } }
  return {
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: format.name,
        ...(format.description === undefined ? {} : { description: format.description }),
        schema: format.schema as JsonValue,
        ...(format.strict === undefined ? {} : { strict: format.strict }),
      },
    },
  }
}
