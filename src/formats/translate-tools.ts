/**
 * Translates tools and the tool choice: client functions have a different shape on each interface
 * (docs/contract/tools.md#function-tools).
 */
import type { ClientDialect } from '../canonical/call.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json/json.ts'
import { mapInSteps, type Steps } from '../lib/steps.ts'
import { serverToolName } from '../canonical/server-tool-name.ts'
import type { Translation } from './translation.ts'

/** Functions change their shape, the service's own tools are kept unchanged, and a provider's own tools stay on their interface. */
export function* translateTools(tools: readonly JsonValue[], translation: Translation): Steps<JsonValue> {
  const translated = yield* mapInSteps(tools, (tool, index) => {
    const definition = isObject(tool) ? readFunction[translation.from](tool) : null
    if (definition !== null) return [writeFunction(definition, `tools[${index}]`, translation)]
    if (isObject(tool) && passes(tool['type'], translation)) return [tool]
    const custom = isObject(tool) ? customTool(tool, translation) : null
    if (custom !== null) return [custom]
    translation.lost(`tools[${index}]`)
    return []
  })
  return translated.flat()
}

const passes = (type: JsonValue | undefined, { from, to }: Translation): boolean =>
  typeof type === 'string' &&
  (serverToolName(type) !== null ||
    // Chat accepts the web search tools of Responses as shorthands for the service's own.
    (from !== 'messages' && to !== 'messages' && type.startsWith('web_search')))

/**
 * A tool that takes any text, which only OpenAI's interfaces have. Chat Completions has objects of their own for its members and for those
 * of its grammar, Responses has both beside the type.
 */
const customTool = ({ type, ...tool }: JsonObject, { from, to }: Translation): JsonObject | null => {
  if (type !== 'custom' || from === 'messages' || to === 'messages') return null
  const held = from === 'chat' ? tool['custom'] : tool
  if (!isObject(held)) return null
  const { format, ...named } = held
  const members = { ...named, ...(isObject(format) ? { format: grammarFormat(format, to) } : {}) }
  return to === 'chat' ? { type, custom: members } : { type, ...members }
}

const grammarFormat = ({ type = 'text', grammar, ...beside }: JsonObject, to: ClientDialect): JsonObject => {
  const rules = isObject(grammar) ? grammar : beside
  if (type !== 'grammar') return { type }
  return to === 'chat' ? { type, grammar: rules } : { type, ...rules }
}

/** Returns a function tool in the shape of Responses, the flattest one; null for any other tool. */
const readFunction: Readonly<Record<ClientDialect, (tool: JsonObject) => JsonObject | null>> = {
  chat: ({ type, function: definition, ...beside }) =>
    (type ?? 'function') === 'function' && isObject(definition) ? { ...beside, ...definition } : null,
  responses: ({ type, ...definition }) => (type === 'function' ? definition : null),
  // The other interfaces send arguments as soon as they have them.
  messages: ({ type, input_schema: parameters = null, eager_input_streaming: _eager, ...definition }) =>
    (type ?? 'custom') === 'custom' ? { ...definition, parameters } : null,
}

/** The members that all three interfaces support besides the name, the description and the schema. */
const CARRIED = ['strict', 'cache_control']

const writeFunction = (definition: JsonObject, path: string, { to, lost }: Translation): JsonObject => {
  const { name = '', description = null, parameters = null, ...rest } = definition
  const more: Record<string, JsonValue> = {}
  for (const [member, value = null] of Object.entries(rest)) {
    if (value === null) continue
    if (CARRIED.includes(member) || (member === 'defer_loading' && to !== 'chat')) more[member] = value
    else lost(`${path}.${member}`)
  }
  return functionShape[to]({ name, ...(description === null ? {} : { description }) }, parameters, more)
}

const functionShape: Readonly<Record<ClientDialect, (named: JsonObject, parameters: JsonValue, more: JsonObject) => JsonObject>> = {
  chat: (named, parameters, { strict = null, ...beside }) => ({
    type: 'function',
    function: { ...named, ...(parameters === null ? {} : { parameters }), ...(strict === null ? {} : { strict }) },
    ...beside,
  }),
  responses: (named, parameters, more) => ({ type: 'function', ...named, parameters, ...more }),
  messages: (named, parameters, more) => ({ ...named, input_schema: parameters ?? { type: 'object', properties: {} }, ...more }),
}

export const translateToolChoice = (choice: JsonValue, translation: Translation): JsonValue => {
  const custom = isObject(choice) ? customTool(choice, translation) : null
  if (custom !== null) return custom
  const meaning = readChoice(choice)
  if (meaning === null) {
    if (choice !== null) translation.lost('tool_choice')
    return null
  }
  return writeChoice[translation.to](meaning)
}

type Choice = 'auto' | 'none' | 'required' | { readonly name: string }

/** Reads a tool choice. The forms of the three interfaces do not collide, so one reader serves all. */
const readChoice = (choice: JsonValue): Choice | null => {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (choice === 'any') return 'required'
  if (!isObject(choice)) return null
  const { type, name } = choice
  if (type === 'auto' || type === 'none') return type
  if (type === 'any') return 'required'
  const called = isObject(choice['function']) ? choice['function'] : null
  const target = called === null ? name : called['name']
  return (called !== null || type === 'function' || type === 'tool') && typeof target === 'string' ? { name: target } : null
}

const writeChoice: Readonly<Record<ClientDialect, (choice: Choice) => JsonValue>> = {
  chat: (choice) => (typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } }),
  responses: (choice) => (typeof choice === 'string' ? choice : { type: 'function', name: choice.name }),
  messages: (choice) =>
    typeof choice === 'string' ? { type: choice === 'required' ? 'any' : choice } : { type: 'tool', name: choice.name },
}
