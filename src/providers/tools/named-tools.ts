/** The places at which the JSON of each dialect names tools, in a request and in an answer. */
import {
  answeredBuiltIn,
  BUILT_IN_TOOLS,
  type BuiltInTool,
  builtInArguments,
  builtInFunction,
  builtInOutput,
  builtInTool,
  calledBuiltIn,
} from '../../canonical/built-in-tools.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import { isList, isMap, isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import type { ToolName } from './tool-names.ts'

/** Returns the request with each name of a tool replaced; parts that do not change stay the same objects. */
export const renamedRequest = (dialect: ClientDialect, request: JsonObject, rename: Rename): JsonObject =>
  renamedAt(request, REQUEST[dialect], rename)

/** Like `renamedRequest`, for a whole answer or one event of a stream. */
export const renamedAnswer = (dialect: ClientDialect, answer: JsonObject, rename: Rename): JsonObject =>
  renamedAt(answer, ANSWER[dialect], rename)

/** The members of a request that can name a tool. */
export const NAMING_MEMBERS: Readonly<Record<ClientDialect, readonly string[]>> = {
  chat: ['tools', 'tool_choice', 'messages'],
  responses: ['tools', 'tool_choice', 'input'],
  messages: ['tools', 'tool_choice', 'messages'],
}

/** Returns a Responses request with the tools of its namespaces in one list with the others; each still carries its namespace. */
export const withoutNamespaces = (request: JsonObject): JsonObject =>
  TOOL_LISTS.reduce((flat, place) => mapAt(flat, place, flattened), request as JsonValue) as JsonObject

/**
 * Returns a Responses request with its built-in tools, their calls and their outputs as those of functions; each still carries its type.
 */
export const withoutBuiltIns = (request: JsonObject): JsonObject =>
  BUILT_IN_CHOICES.reduce(
    (plain, place) => mapAt(plain, place, asChoice),
    BUILT_IN_PLACES.reduce((plain, place) => mapAt(plain, place, asFunction), request as JsonValue),
  ) as JsonObject

type Rename = (own: ToolName) => ToolName

type Place = readonly string[]

/** `[]` stands for every element of a list. */
const places = (...paths: readonly string[]): readonly Place[] => paths.map((path) => path.replaceAll('[]', '.[]').split('.'))

const CHAT_CALLS = ['tool_calls[].function', 'tool_calls[].custom']
const RESPONSES_TOOLS = ['tools[]', 'tools[].tools[]', 'tool_choice', 'tool_choice.tools[]']
const RESPONSES_ANSWER = ['output[]', ...RESPONSES_TOOLS]

const REQUEST: Readonly<Record<ClientDialect, readonly Place[]>> = {
  chat: places(
    'tools[].function',
    'tools[].custom',
    'tool_choice.function',
    'tool_choice.custom',
    'tool_choice.allowed_tools.tools[].function',
    'tool_choice.allowed_tools.tools[].custom',
    ...CHAT_CALLS.map((call) => `messages[].${call}`),
    'messages[]',
  ),
  responses: places(...RESPONSES_TOOLS, 'input[]', 'input[].tools[]', 'input[].tools[].tools[]'),
  messages: places('tools[]', 'tool_choice', 'messages[].content[]'),
}

const ANSWER: Readonly<Record<ClientDialect, readonly Place[]>> = {
  chat: places(...CHAT_CALLS.flatMap((call) => [`choices[].message.${call}`, `choices[].delta.${call}`])),
  // The empty path is the event itself: one that carries a call's arguments names the tool.
  responses: [[], ...places('item', ...RESPONSES_ANSWER, ...RESPONSES_ANSWER.map((place) => `response.${place}`))],
  messages: places('content[]', 'content_block'),
}

const TOOL_LISTS = places('tools', 'input[].tools')

const BUILT_IN_PLACES = places('tools[]', 'input[]', 'input[].tools[]')
const BUILT_IN_CHOICES = places('tool_choice', 'tool_choice.tools[]')

const renamedAt = (value: JsonObject, where: readonly Place[], rename: Rename): JsonObject =>
  where.reduce((renamed, place) => mapAt(renamed, place, (found) => renamedTool(found, rename)), value as JsonValue) as JsonObject

const renamedTool = (value: JsonValue, rename: Rename): JsonValue => {
  if (!isObject(value) || !namesTool(value)) return value
  const { name, namespace, built_in: type } = value
  if (typeof name !== 'string') return value
  const builtIn = BUILT_IN_TOOLS.find((known) => known === type)
  const own = { name, ...(typeof namespace === 'string' ? { namespace } : {}), ...(builtIn === undefined ? {} : { builtIn }) }
  const next = rename(own)
  if (next.name === own.name && next.namespace === own.namespace && next.builtIn === own.builtIn) return value
  const { namespace: _, built_in: __, ...rest } = value
  return { ...rest, name: next.name, ...(next.namespace === undefined ? {} : { namespace: next.namespace }) }
}

/** Many objects have a name; this recognises those of tools. In a message the name is the speaker's, unless its role is a tool's. */
const namesTool = ({ type = null, role = null }: JsonObject): boolean =>
  TYPES.has(type) && (role === null || role === 'tool' || role === 'function')

const TYPES: ReadonlySet<JsonValue> = new Set([
  null,
  'function',
  'custom',
  'namespace',
  // Messages
  'tool',
  'tool_use',
  // Responses
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'response.function_call_arguments.done',
])

const asChoice = (value: JsonValue): JsonValue => {
  const tool = isMap(value) ? builtInTool(value) : null
  return tool === null ? value : { type: 'function', ...marked(tool) }
}

/** Converts a tool, a call or an output; anything else stays as it is. */
const asFunction = (value: JsonValue): JsonValue => {
  if (!isMap(value)) return value
  const called = calledBuiltIn(value)
  if (called !== null) return { ...callOf(value), ...marked(called), type: 'function_call', arguments: builtInArguments(called, value) }
  if (answeredBuiltIn(value) !== null) return { ...callOf(value), type: 'function_call_output', output: builtInOutput(value) }
  const tool = builtInTool(value)
  if (tool === null) return value
  return { type: 'function', ...marked(tool), ...builtInFunction(tool, value), strict: false }
}

const marked = (tool: BuiltInTool): JsonObject => ({ name: tool, built_in: tool })

/** The output of a local shell may have its call's id under either name. */
const callOf = ({ call_id = null, id = null }: JsonObject): JsonObject => ({ call_id: call_id ?? id })

const flattened = (tools: JsonValue): JsonValue => (isList(tools) ? withChanges(tools, tools.flatMap(innerTools)) : tools)

const innerTools = (tool: JsonValue): readonly JsonValue[] => {
  if (!isObject(tool) || tool['type'] !== 'namespace') return [tool]
  const { name: namespace = '', description: about = null, tools: inner = [] } = tool
  return (isList(inner) ? inner : []).map((each, index) => {
    if (!isObject(each)) return each
    const description = index === 0 ? describedTool(each['description'], namespace, about) : null
    return { ...each, namespace, ...(description === null ? {} : { description }) }
  })
}

/** The description of a namespace is about all its tools, so the first of them carries it. */
export const describedTool = (description: unknown, namespace: unknown, about: unknown): string | null => {
  const own = typeof description === 'string' ? description : null
  if (typeof about !== 'string' || about === '') return own
  return `${own === null || own === '' ? '' : `${own}\n\n`}About all tools of ${String(namespace)}: ${about}`
}

/** Returns the value with the element at a place replaced. */
const mapAt = (value: JsonValue, place: Place, map: (found: JsonValue) => JsonValue): JsonValue => {
  const [step, ...rest] = place
  if (step === undefined) return map(value)
  if (step === '[]')
    return isList(value)
      ? withChanges(
          value,
          value.map((element) => mapAt(element, rest, map)),
        )
      : value
  const inner = isMap(value) && Object.hasOwn(value, step) ? value[step] : undefined
  if (inner === undefined || !isMap(value)) return value
  const next = mapAt(inner, rest, map)
  return next === inner ? value : { ...value, [step]: next }
}

const withChanges = (given: readonly JsonValue[], next: readonly JsonValue[]): readonly JsonValue[] =>
  next.length === given.length && next.every((element, index) => element === given[index]) ? given : next
