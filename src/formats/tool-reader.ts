/** Reads tools and the tool choice, as far as the three dialects share them. */
import { builtInFunction, builtInTool } from '../canonical/built-in-tools.ts'
import {
  type CustomTool,
  type FunctionTool,
  type Prompt,
  type ProviderTool,
  type Tool,
  type ToolChoice,
  WEB_SEARCH,
} from '../canonical/prompt.ts'
import { serverToolName } from '../canonical/server-tool-name.ts'
import { isObject } from '../lib/json/json.ts'
import { mapInSteps, type Steps } from '../lib/steps.ts'
import {
  child,
  children,
  disown,
  malformedMember,
  member,
  type Node,
  optionalChild,
  optionalFlag,
  optionalText,
  requiredText,
  whole,
} from './json-node.ts'
import { cacheMark } from './prompt-reader.ts'

/** A tool without a schema takes no arguments. */
export const functionTool = (node: Node, schemaKey: string, marks: Node = node): FunctionTool => {
  const strict = optionalFlag(node, 'strict')
  const deferred = optionalFlag(marks, 'defer_loading') ?? optionalFlag(node, 'defer_loading')
  passOverDirectCallers(node)
  return {
    type: 'function',
    name: requiredText(node, 'name'),
    description: optionalText(node, 'description'),
    parameters: member(node, schemaKey) ?? { type: 'object', properties: {} },
    ...(strict === null ? {} : { strict }),
    ...(deferred === true ? { deferred } : {}),
    ...cacheMark(marks),
  }
}

/** A model may call every tool directly. Only its own dialect can restrict that, or let its code call them. */
const passOverDirectCallers = (tool: Node): void => {
  const { allowed_callers: callers } = tool.members
  if (Array.isArray(callers) && callers.every((one) => one === 'direct')) member(tool, 'allowed_callers')
}

export const providerTool = (tool: Node): ProviderTool => ({
  type: 'provider',
  kind: requiredText(tool, 'type'),
  at: tool.path,
  raw: whole(tool),
  ...cacheMark(tool),
})

/** Reads a custom tool. The `grammar` of Chat Completions is in an object of its own, that of Responses is beside its type. */
const customTool = (node: Node, at: string, inside: Inside): CustomTool => {
  const format = optionalChild(node, 'format')
  passOverDirectCallers(node)
  const grammar = format !== null && optionalText(format, 'type') === 'grammar' ? inside(format, 'grammar') : null
  return {
    type: 'custom',
    kind: 'custom',
    at,
    name: requiredText(node, 'name'),
    description: optionalText(node, 'description'),
    grammar: grammar === null ? null : { syntax: requiredText(grammar, 'syntax'), definition: requiredText(grammar, 'definition') },
  }
}

/** Returns a function with the schema that the type implies; null for any other type. */
const builtIn = (tool: Node): FunctionTool | null => {
  const kind = builtInTool(tool.members)
  if (kind === null) return null
  passOverEnvironment(tool)
  passOverDirectCallers(tool)
  return { type: 'function', name: kind, builtIn: kind, ...builtInFunction(kind, tool.members) }
}

/** The function of a shell has the skills of its environment; that it is local is why it is a function. */
const passOverEnvironment = (node: Node): void => {
  if (!isObject(node.members['environment'])) return
  const environment = child(node, 'environment')
  for (const key of ['type', 'skills']) member(environment, key)
}

/** Returns the node that holds the members of a kind. */
type Inside = (node: Node, kind: string) => Node

const readTool = (tool: Node, inside: Inside): readonly Tool[] => {
  const type = requiredText(tool, 'type')
  if (type === 'function') return [functionTool(inside(tool, type), 'parameters', tool)]
  if (type === 'custom') return [customTool(inside(tool, type), tool.path, inside)]
  return type === 'namespace' && member(tool, 'name') !== undefined ? readNamespace(tool, inside) : [builtIn(tool) ?? providerTool(tool)]
}

const readNamespace = (node: Node, inside: Inside): readonly Tool[] => {
  const namespace = { name: requiredText(node, 'name'), description: optionalText(node, 'description') }
  return children(node, 'tools')
    .flatMap((tool) => readTool(tool, inside))
    .map((tool) => (tool.type === 'provider' ? tool : { ...tool, namespace }))
}

/**
 * Reads `tools` and `tool_choice` in OpenAI's form, and the tools that were added later. `inside` returns the node that holds the
 * members of a kind: Chat Completions has an object of that name, Responses has them beside the type.
 */
export function* readOpenAiTools(root: Node, inside: Inside, added: readonly Node[] = []): Steps<Pick<Prompt, 'tools' | 'toolChoice'>> {
  const read = (tool: Node): readonly Tool[] => readTool(tool, inside)
  const own = yield* mapInSteps(children(root, 'tools'), read)
  const later = yield* mapInSteps(added, read)
  const tools = later.length === 0 ? own.flat() : withAdded(own.flat(), later.flat())
  const value = member(root, 'tool_choice')
  if (value === undefined) return { tools, toolChoice: { type: 'auto' } }
  if (value === 'auto' || value === 'none' || value === 'required') return { tools, toolChoice: { type: value } }
  if (typeof value === 'string') throw malformedMember(root, 'tool_choice', 'must be auto, none, required or an object')
  const choice = child(root, 'tool_choice')
  const type = requiredText(choice, 'type')
  if (type === 'function' || type === 'custom') return { tools, toolChoice: { type: 'tool', ...readName(inside(choice, type)) } }
  if (type === 'allowed_tools') {
    const allowed = inside(choice, type)
    return { tools: narrowed(tools, allowed, inside), toolChoice: narrowedChoice(allowed) }
  }
  const chosen = builtInTool({ type })
  if (chosen !== null && tools.some((tool) => tool.type === 'function' && tool.builtIn === chosen))
    return { tools, toolChoice: { type: 'tool', name: chosen, builtIn: chosen } }
  if (SEARCH.test(type) && tools.some((tool) => tool.type === 'provider' && SEARCH.test(tool.kind)))
    return { tools, toolChoice: { type: 'tool', name: WEB_SEARCH } }
  // A choice of a tool that the model is not given concerns only the client's own provider.
  disown(root, 'tool_choice')
  return { tools, toolChoice: { type: 'auto' } }
}

/** The web search of OpenAI's Responses. */
const SEARCH = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/

/** A tool that is added again counts as the existing one. */
const withAdded = (tools: readonly Tool[], added: readonly Tool[]): readonly Tool[] => {
  const known = new Set(tools.flatMap(namesOf))
  return [
    ...tools,
    ...added.filter((tool) => {
      const [name = ''] = namesOf(tool)
      const isNew = !known.has(name)
      known.add(name)
      return isNew
    }),
  ]
}

const readName = (node: Node): { readonly name: string; readonly namespace?: string } => {
  const namespace = optionalText(node, 'namespace')
  return { name: requiredText(node, 'name'), ...(namespace === null ? {} : { namespace }) }
}

/**
 * Returns the tools with a mark on the functions that are not allowed. Other tools that are not allowed are left out, and so are functions
 * that the model would have to search for.
 */
const narrowed = (tools: readonly Tool[], allowed: Node, inside: Inside): readonly Tool[] => {
  const names = new Set(
    children(allowed, 'tools').map((entry) => {
      const type = requiredText(entry, 'type')
      if (type === 'function' || type === 'custom') {
        const { name, namespace = null } = readName(inside(entry, type))
        return JSON.stringify([type, namespace, name])
      }
      if (type === 'namespace') return JSON.stringify([type, requiredText(entry, 'name')])
      whole(entry)
      return JSON.stringify(['provider', type])
    }),
  )
  const named = new Set(tools.filter((tool) => namesOf(tool).some((name) => names.has(name))))
  // A model that may call a function which it must search for also needs the search.
  const searches = [...named].some((tool) => tool.type === 'function' && tool.deferred === true)
  return tools.flatMap((tool) => {
    if (named.has(tool) || (searches && isToolSearch(tool))) return [tool]
    return tool.type === 'provider' || (tool.type === 'function' && tool.deferred === true) ? [] : [{ ...tool, barred: true }]
  })
}

const isToolSearch = (tool: Tool): boolean =>
  tool.type === 'provider' && (tool.kind === TOOL_SEARCH || serverToolName(tool.kind) === TOOL_SEARCH)

const TOOL_SEARCH = 'tool_search'

/** The keys by which such a subset can name a tool. */
const namesOf = (tool: Tool): readonly string[] => {
  if (tool.type === 'provider') return [JSON.stringify([tool.type, tool.kind])]
  if (tool.type === 'function' && tool.builtIn !== undefined) return [JSON.stringify(['provider', tool.builtIn])]
  const { type, name, namespace } = tool
  if (namespace === undefined) return [JSON.stringify([type, null, name])]
  return [JSON.stringify([type, namespace.name, name]), JSON.stringify(['namespace', namespace.name])]
}

const narrowedChoice = (allowed: Node): ToolChoice => (member(allowed, 'mode') === 'required' ? { type: 'required' } : { type: 'auto' })
