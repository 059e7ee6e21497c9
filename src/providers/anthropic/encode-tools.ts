/** Encodes tools, and whether the model has to call one. */
import { type CacheMark, type CustomTool, type FunctionTool, type ProviderTool, WEB_SEARCH } from '../../canonical/prompt.ts'
import { isObject } from '../../lib/json/json.ts'
import { SCHEMA_UNITS, startPace, type Steps } from '../../lib/steps.ts'
import { loseOfBash } from '../tools/bash-as-function.ts'
import { demandsSearch } from '../tools/demanded-tool.ts'
import { cacheMember, type EncodeContext } from './encode-context.ts'
import { warnOfLoosened } from './encode-format.ts'
import type { ModelRules } from './model-rules.ts'
import { objectSchema } from './object-schema.ts'
import { isWebSearch, webSearchTool } from './web-search-tool.ts'

export interface EncodedTools {
  readonly tools: readonly unknown[] | undefined
  readonly toolChoice: unknown
  /** A call is demanded. */
  readonly forced: boolean
}

export function* encodeTools(context: EncodeContext): Steps<EncodedTools> {
  const tools = yield* encodeList(context)
  if (tools.length === 0) {
    const { type } = context.prompt.toolChoice
    if (type === 'required' || type === 'tool') context.lose('tool_choice', 'There is no tool that could be called; it was left out.')
    return { tools: undefined, toolChoice: undefined, forced: false }
  }
  return { tools, ...encodeChoice(context, tools) }
}

function* encodeList(context: EncodeContext): Steps<unknown[]> {
  const tools: unknown[] = []
  let searches = false
  const search = (source: unknown, field: string, cache?: CacheMark): void => {
    if (!context.rules.claude || searches) {
      context.lose(
        field,
        searches
          ? 'There is a web search already; this one was left out.'
          : `${context.target.providerName} has no web search of its own; it was left out.`,
      )
      return
    }
    searches = true
    tools.push({ ...webSearchTool(source, field, context), ...cacheMember(cache) })
  }
  const isStep = startPace()
  for (const [index, tool] of context.prompt.tools.entries()) {
    if (isStep(SCHEMA_UNITS)) yield
    if (tool.type === 'function') tools.push(ownTool(tool, `tools[${index}]`, context) ?? functionTool(tool, `tools[${index}]`, context))
    else if (tool.type === 'provider' && isWebSearch(tool.kind)) search(tool.raw, tool.at, tool.cache)
    else if (tool.type === 'provider' && context.rules.claude && CLAUDES_OWN.test(tool.kind))
      tools.push(marked(isObject(tool.raw) ? tool.raw : {}, tool.cache))
    else loseTool(tool, context)
  }
  const options = context.setting('webSearchOptions')
  if (options !== undefined) search(options, context.fieldOf('webSearchOptions'))
  return tools
}

/** Tools that Claude was trained on and the client runs: their calls are like those of any function. */
const CLAUDES_OWN = /^(?:bash|text_editor|computer|memory)_\d{8}$/

const ownTool = ({ knownToClaude, cache }: FunctionTool, at: string, context: EncodeContext): Readonly<Record<string, unknown>> | null => {
  if (knownToClaude === undefined) return null
  if (context.rules.claude) return marked(knownToClaude, cache)
  loseOfBash(knownToClaude, at, context)
  return null
}

/** The tool as its client declared it, with the mark that is left for it. */
const marked = (known: Readonly<Record<string, unknown>>, cache: CacheMark | undefined): Readonly<Record<string, unknown>> => {
  const { cache_control: _, ...declared } = known
  return { ...declared, ...cacheMember(cache) }
}

const loseTool = (tool: CustomTool | ProviderTool, context: EncodeContext): void =>
  context.lose(tool.at, `${context.target.providerName} has no tool like ${tool.kind}; it was left out.`)

const functionTool = (tool: FunctionTool, at: string, context: EncodeContext): unknown => {
  const given = isObject(tool.parameters) ? tool.parameters : {}
  const { schema, strict } = inputSchema(given, tool.strict === true, at, context)
  return {
    name: tool.name,
    ...(tool.description === null ? {} : { description: tool.description }),
    input_schema: schema,
    ...(strict ? { strict } : {}),
    ...cacheMember(tool.cache),
  }
}

export type SchemaContext = Pick<EncodeContext, 'grammar' | 'target' | 'lose' | 'mapped'> & {
  readonly rules: Pick<ModelRules, 'structuredOutputs'>
}

/** The schema of a tool in a form that the API takes, and whether it is enforced. */
export const inputSchema = (
  given: Readonly<Record<string, unknown>>,
  isAsked: boolean,
  at: string,
  context: SchemaContext,
): { readonly schema: Readonly<Record<string, unknown>>; readonly strict: boolean } => {
  const schema = objectSchema(given, `${at}.input_schema`, context.mapped)
  if (!isAsked) return { schema, strict: false }
  const field = `${at}.strict`
  if (!context.rules.structuredOutputs) {
    context.lose(field, `${context.target.upstreamModel} does not enforce schemas; strict was left out.`)
    return { schema, strict: false }
  }
  const closed = context.grammar.take(schema, 'tool')
  if ('obstacle' in closed) {
    context.lose(field, `${context.target.providerName} cannot enforce ${closed.obstacle}; strict was left out.`)
    return { schema, strict: false }
  }
  warnOfLoosened(closed.loosened, field, context)
  return { schema: closed.schema, strict: true }
}

const encodeChoice = (context: EncodeContext, tools: readonly unknown[]): { toolChoice: unknown; forced: boolean } => {
  const single = context.setting('parallelToolCalls') === false ? { disable_parallel_tool_use: true } : null
  const { toolChoice } = context.prompt
  const auto = single === null ? undefined : { type: 'auto', ...single }
  switch (toolChoice.type) {
    case 'auto':
      return { toolChoice: auto, forced: false }
    case 'none':
      return { toolChoice: { type: 'none' }, forced: false }
    case 'required':
    case 'tool':
      if (context.rules.forcedTools === 'never') {
        context.mapped('tool_choice', `${context.target.upstreamModel} cannot be made to call a tool; it was left to choose.`)
        return { toolChoice: auto, forced: false }
      }
      if (demandsSearch(context.prompt) && !tools.some((tool) => isObject(tool) && tool['name'] === WEB_SEARCH)) {
        context.lose('tool_choice', `${context.target.providerName} has no web search of its own; the choice is the model’s.`)
        return { toolChoice: auto, forced: false }
      }
      return {
        toolChoice: toolChoice.type === 'tool' ? { type: 'tool', name: toolChoice.name, ...single } : { type: 'any', ...single },
        forced: true,
      }
  }
}
