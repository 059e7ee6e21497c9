/** Encodes `toolConfig`: tools, and whether the model has to call one. */
import type { FunctionTool } from '../../canonical/prompt.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { mapInSteps, SCHEMA_UNITS, type Steps } from '../../lib/steps.ts'
import { inputSchema } from '../anthropic/encode-tools.ts'
import { firstOfItsName } from '../anthropic/lawful-fields.ts'
import { withPatternsInWords } from '../tools/schema-patterns.ts'
import { demandedTool, loseChoice } from '../tools/demanded-tool.ts'
import type { Turn } from './encode-conversation.ts'
import { bareSchema } from './bare-schema.ts'
import { cachePoint, type EncodeContext } from './encode-context.ts'

export interface EncodedTools {
  readonly toolConfig: JsonObject | undefined
  /** Claude's own field for the choice, in `additionalModelRequestFields`: Converse has none for one call at a time. */
  readonly toolChoice?: JsonObject
  /** A call is demanded. */
  readonly forced: boolean
}

const NONE: EncodedTools = { toolConfig: undefined, forced: false }

export function* encodeTools(turns: readonly Turn[], context: EncodeContext): Steps<EncodedTools> {
  const { tools: given, toolChoice } = context.prompt
  const isNew = firstOfItsName(context)
  const specs = yield* mapInSteps(
    given,
    (tool, index): JsonObject[] => {
      const at = `tools[${index}]`
      if (tool.type === 'function') return isNew(tool.name, at) ? toolSpec(tool, at, context) : []
      context.lose(tool.at, `${context.target.providerName} has no tool like ${tool.kind}; it was left out.`)
      return []
    },
    () => SCHEMA_UNITS,
  )
  const tools = specs.flat()
  // A history with calls is refused without a declaration of tools.
  const called = turns.some(({ blocks }) => blocks.some(({ type }) => type === 'toolUse' || type === 'toolResult'))
  if (tools.length === 0) {
    loseChoice(context)
    const declared = called ? toolsOfHistory(context) : []
    return declared.length === 0 ? NONE : { toolConfig: { tools: declared }, forced: false }
  }
  if (toolChoice.type === 'none') {
    // The dialect has no such choice: tools that may not be called are left out.
    if (!called) return NONE
    context.mapped('tool_choice', `${context.target.providerName} cannot be kept from calling tools that were called before.`)
    return { toolConfig: { tools }, forced: false }
  }
  const choice = encodeChoice(context)
  const forced = choice !== undefined
  if (!callsOneAtATime(context)) return { toolConfig: forced ? { tools, toolChoice: choice } : { tools }, forced }
  // Both fields for the choice together are refused.
  return { toolConfig: { tools }, toolChoice: { ...claudeChoice(choice), disable_parallel_tool_use: true }, forced }
}

/** Possible since Claude 4.5; earlier models refused the field here. */
const callsOneAtATime = (context: EncodeContext): boolean => {
  if (context.setting('parallelToolCalls') !== false) return false
  if (context.facts.singleCalls) return true
  context.lose(
    context.fieldOf('parallelToolCalls'),
    `${context.target.upstreamModel} cannot be kept from several calls at once; it was left out.`,
  )
  return false
}

const claudeChoice = (choice: JsonObject | undefined): JsonObject => {
  const tool = choice?.['tool']
  if (isObject(tool)) return { type: 'tool', name: tool['name'] ?? '' }
  return { type: choice === undefined ? 'auto' : 'any' }
}

const toolSpec = (tool: FunctionTool, at: string, context: EncodeContext): JsonObject[] => {
  const written = isObject(tool.parameters) ? tool.parameters : {}
  const given = withPatternsInWords(written as JsonObject, context.facts.patterns)
  if (given !== written)
    context.mapped(at, `${context.target.upstreamModel} takes no patterns like those of ${tool.name}; they were told in words.`)
  const rules = { structuredOutputs: context.facts.strictTools }
  const { schema, strict } = inputSchema(given, tool.strict === true, at, { ...context, rules })
  const sent = context.facts.bareSchemas ? bareSchema(schema, `${at}.input_schema`, context) : schema
  const point = cachePoint(tool.cache, at, 'tools', context)
  const spec: JsonObject = {
    name: tool.name,
    // An empty description is refused.
    ...(tool.description === null || tool.description === '' ? {} : { description: tool.description }),
    inputSchema: { json: sent as JsonValue },
    ...(strict ? { strict } : {}),
  }
  return point === null ? [{ toolSpec: spec }] : [{ toolSpec: spec }, point]
}

/** Tools that the request no longer declares, but whose calls are in its history. */
const toolsOfHistory = (context: EncodeContext): JsonObject[] => {
  const parts = context.prompt.messages.flatMap((message) => message.parts)
  const names = new Set(parts.flatMap((part) => (part.type === 'tool-call' ? [part.name] : [])))
  if (names.size > 0)
    context.mapped('tools', `${context.target.providerName} wants the tools of earlier calls declared; they were, without schemas.`)
  return [...names].map((name) => ({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } }))
}

/** Undefined leaves the choice to the model. */
const encodeChoice = (context: EncodeContext): JsonObject | undefined => {
  const { facts, rules, target, mapped } = context
  const { toolChoice, tools } = context.prompt
  if (toolChoice.type === 'auto' || toolChoice.type === 'none') return undefined
  if ('name' in toolChoice && demandedTool(context, toolChoice.name) === undefined) return undefined
  if (facts.toolChoice === 'neither' || rules.forcedTools === 'never') {
    mapped('tool_choice', `${target.upstreamModel} cannot be made to call a tool; it was left to choose.`)
    return undefined
  }
  if (!('name' in toolChoice)) return { any: {} }
  if (facts.toolChoice === 'any and tool') return { tool: { name: toolChoice.name } }
  if (tools.length > 1) mapped('tool_choice', `${target.upstreamModel} can be made to call a tool, but not a certain one.`)
  return { any: {} }
}
