/**
 * Implements `deferred_tools` of one request: the functions that the model gets instead of the withheld tools, and the meaning of
 * its calls (docs/contract/tools.md#deferred-tools).
 */
import type { z } from 'zod'

import type { FunctionTool, Message, Prompt, Tool as PromptTool } from '../../canonical/prompt.ts'
import { invalidField } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, jsonIn, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import type { Work } from '../../lib/work.ts'
import type { deferredTools } from '../../request-fields/schemas/deferred-tools.ts'
import type { Tool, ToolResult } from '../tool.ts'
import type { CatalogueMemory } from './catalogue-memory.ts'
import { type Catalogue, changeOf, createCatalogue } from './catalogue.ts'
import { plainJson, rewriteCalls, type ToolCall } from './replayed-calls.ts'
import { createSearchAgain, DEFAULT_RESULTS, definitionOf, findTools, searchResult, searchWork, type ToolSearch } from './search-tools.ts'
import { type RefusedCall, type UnwrappedCall, unwrapCall, wrappedArguments } from './wrapped-call.ts'
import { CALL_TOOL, CALL_WRAPPER, PLAIN_SEARCH, SEARCH_BY_PATTERN, SEARCH_BY_WORDS, SEARCH_WRAPPER } from './wrappers.ts'

export type DeferredConfig = z.output<typeof deferredTools>

export interface DeferredTools {
  readonly catalogue: Catalogue
  /** Returns the prompt without the withheld tools; the resulting list of tools is the same for the whole conversation. */
  promptOf(prompt: Prompt): Prompt
  /** The tool that runs a search; null if a function of the client is the search. */
  readonly search: Tool | null
  /** Returns the client's call that a call of the wrapper stands for. */
  unwrap(json: string): UnwrappedCall | RefusedCall
}

export interface DeferParts {
  readonly workspaceId: string
  readonly memory: CatalogueMemory
}

const TOOLS_MAX = 10_000
const BYTES_MAX = 4 * 1024 * 1024
const NAME_MAX = 256

/** Returns null if every tool is shown after all. `choice`: the request's `tool_choice`. Throws `invalid_request`. */
export const deferTools = (
  config: DeferredConfig,
  { tools, messages }: Pick<Prompt, 'tools' | 'messages'>,
  choice: unknown,
  { workspaceId, memory }: DeferParts,
): DeferredTools | null => {
  checkConfig(config, tools, choice)
  const withheld = withheldBy(config, tools)
  if (withheld.length === 0) return null
  const isWithheld = new Set<PromptTool>(withheld)
  checkCatalogue(
    withheld,
    tools.filter((tool) => !isWithheld.has(tool)),
  )
  const catalogue = createCatalogue(withheld)
  if (catalogue.size > BYTES_MAX) throw invalidField('tools', `The withheld tools may have ${BYTES_MAX} bytes in all.`)
  if (config.profile === 'portable') checkUnchanged(messages, catalogue, (hash) => memory.digestsOf(workspaceId, hash))
  const toolSearch = { by: 'words', maxResults: DEFAULT_RESULTS, tools: withheld, search: memory.searchOf(workspaceId, catalogue) } as const
  const { search } = config
  const asked: ToolSearch = {
    ...toolSearch,
    by: search.type === 'regex' ? 'pattern' : 'words',
    maxResults: search.max_results ?? DEFAULT_RESULTS,
  }
  const searchAgain = createSearchAgain((input, work) => resultOf(input, asked, work))
  const wrappers = search.type === 'custom' ? [CALL_TOOL] : [search.type === 'regex' ? SEARCH_BY_PATTERN : SEARCH_BY_WORDS, CALL_TOOL]
  return {
    catalogue,
    promptOf: (prompt) => ({
      ...prompt,
      messages: asModelReadThem(prompt.messages, config, catalogue, searchAgain),
      tools: [
        ...prompt.tools.filter((tool) => !isWithheld.has(tool)),
        // A model that may not call any tool needs no wrappers.
        ...(prompt.toolChoice.type === 'none' ? [] : wrappers),
      ],
    }),
    search: search.type === 'custom' ? null : searchTool(asked),
    unwrap: (json) => unwrapCall(json, catalogue),
  }
}

const withheldBy = (
  { profile, search, min_deferred_tools: least }: DeferredConfig,
  tools: readonly PromptTool[],
): readonly FunctionTool[] => {
  const functions = tools.filter(
    (tool): tool is FunctionTool =>
      tool.type === 'function' && tool.builtIn === undefined && tool.knownToClaude === undefined && tool.namespace === undefined,
  )
  if (profile === 'portable') {
    const marked = functions.filter(({ deferred }) => deferred === true)
    if (marked.length === 0) throw invalidField('deferred_tools', 'No function has "defer_loading": true, so there is nothing to defer.')
    return marked
  }
  const wrappable = functions.filter(({ name }) => search.type !== 'custom' || name !== search.tool_id)
  return wrappable.length < (least ?? 0) ? [] : wrappable
}

const checkConfig = ({ interface: form, search }: DeferredConfig, tools: readonly PromptTool[], choice: unknown): void => {
  if (form === 'code_mode') throw invalidField('deferred_tools.interface', 'code_mode is not supported; use wrappers.')
  const kind = isObject(choice) ? choice['type'] : choice
  if (choice !== undefined && choice !== null && kind !== 'auto' && kind !== 'none')
    throw invalidField('tool_choice', 'Must be auto or none beside deferred_tools.')
  const taken = tools.find((tool) => tool.type !== 'provider' && (tool.name === SEARCH_WRAPPER || tool.name === CALL_WRAPPER))
  if (taken !== undefined && taken.type !== 'provider')
    throw invalidField('tools', `The name ${taken.name} is that of a function of the service; give yours another one.`)
  if (search.type !== 'custom') return
  const own = tools.find((tool) => tool.type === 'function' && tool.name === search.tool_id)
  if (own === undefined)
    throw invalidField('deferred_tools.search.tool_id', `There is no function ${JSON.stringify(search.tool_id)} in tools.`)
  if (own.type === 'function' && own.deferred === true)
    throw invalidField('deferred_tools.search.tool_id', 'The function that searches must not be deferred itself.')
}

/** `shown`: the other tools of the request; names must be unique among all of them, so that a call is unambiguous. */
const checkCatalogue = (tools: readonly FunctionTool[], shown: readonly PromptTool[]): void => {
  if (tools.length > TOOLS_MAX) throw invalidField('tools', `${TOOLS_MAX} tools may be withheld at most.`)
  const names = new Set<string>()
  for (const { name } of tools) {
    if (name.length > NAME_MAX) throw invalidField('tools', `The name of a withheld tool may have ${NAME_MAX} characters at most.`)
    if (names.has(name)) throw invalidField('tools', `Two withheld tools have the name ${name}.`)
    names.add(name)
  }
  for (const tool of shown) {
    if (tool.type === 'function' && tool.namespace === undefined && names.has(tool.name))
      throw invalidField('tools', `The name ${tool.name} is that of a withheld tool and of another one.`)
  }
}

/** Checks the catalogue: each earlier search of the conversation records the one that it searched. */
const checkUnchanged = (
  messages: readonly Message[],
  { hash, digests }: Catalogue,
  digestsOf: (hash: string) => Catalogue['digests'] | null,
): void => {
  for (const expected of searchedCatalogues(messages)) {
    if (expected === hash) continue
    const before = digestsOf(expected)
    const change = before === null ? { added: [], removed: [], changed: [] } : changeOf(before, digests)
    throw new GatewayError(
      'invalid_request',
      'catalog changed: the withheld tools are not those that this conversation began with. Keep them as they were, or use the profile "universal".',
      { metadata: { expected, actual: hash, ...change } },
    )
  }
}

const searchedCatalogues = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-call' && isSearch(part) && part.catalog !== undefined ? [part.catalog] : [])),
  )

const searchTool = (search: ToolSearch): Tool => {
  const { description, parameters } = search.by === 'pattern' ? SEARCH_BY_PATTERN : SEARCH_BY_WORDS
  return {
    description: description ?? '',
    parameters: parameters as JsonObject,
    run: (input) => Promise.resolve(resultOf(input, search, searchWork())),
  }
}

const resultOf = (input: JsonObject, search: ToolSearch, work: Work): ToolResult => {
  const found = findTools(input, search, work)
  return 'fault' in found ? found : searchResult(found, search.tools, work)
}

/** Restores the results that the model read. A repeated search gives the same result, so the conversation need not contain all of it. */
const asModelReadThem = (
  messages: readonly Message[],
  { search }: DeferredConfig,
  catalogue: Catalogue,
  searchAgain: (input: JsonObject) => ToolResult | null,
): readonly Message[] =>
  rewriteCalls(messages, {
    call(call) {
      if (isSearch(call)) return { ...call, name: SEARCH_WRAPPER, arguments: plainJson(call.arguments) }
      if (call.namespace !== undefined || call.custom === true || call.builtIn !== undefined || !catalogue.byName.has(call.name))
        return null
      return { ...call, name: CALL_WRAPPER, arguments: wrappedArguments(call.name, call.arguments) }
    },
    result(call, shown) {
      if (call.name === SEARCH_WRAPPER && search.type !== 'custom') {
        const input = jsonIn(call.arguments)
        return isObject(input) ? searchAgain(input) : null
      }
      return search.type === 'custom' && call.name === search.tool_id ? withDefinitions(shown.text, search, catalogue) : null
    },
  })

const isSearch = ({ name, ran }: ToolCall): boolean => name === SEARCH_WRAPPER || (name === PLAIN_SEARCH && ran !== undefined)

/** A client's own search returns names; the definitions of these tools are added for the model. */
const withDefinitions = (
  text: string,
  { result_key: key, max_results: most }: Extract<DeferredConfig['search'], { type: 'custom' }>,
  { byName }: Catalogue,
): string | null => {
  const known = namesIn(text, key).flatMap((name) => byName.get(name) ?? [])
  if (known.length === 0) return null
  const tools: JsonValue = [...new Set(known)].slice(0, most ?? DEFAULT_RESULTS).map(definitionOf)
  return `${text}\n${JSON.stringify({ tools })}`
}

const namesIn = (text: string, key: string): readonly string[] => {
  const result = jsonIn(text)
  const list: unknown = isObject(result) && Object.hasOwn(result, key) ? result[key] : undefined
  if (!Array.isArray(list)) return []
  return (list as unknown[]).flatMap((one) => {
    const name = isObject(one) ? one['name'] : one
    return typeof name === 'string' ? [name] : []
  })
}
