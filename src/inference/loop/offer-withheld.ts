/**
 * Functions that a client withholds from the model's list until a search finds them: through the two wrappers of `deferred_tools`, a tool
 * search that the service runs, or one that a vendor has.
 */
import type { Call, ClientDialect } from '../../canonical/call.ts'
import type { FunctionTool, Prompt, Tool } from '../../canonical/prompt.ts'
import { invalidField } from '../../contract/validate.ts'
import { isObject, objectsIn } from '../../lib/json/json.ts'
import { mayName } from '../../lib/text/may-name.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import { askedTool } from '../../tools/asked-tools.ts'
import type { CatalogueMemory } from '../../tools/deferred/catalogue-memory.ts'
import { type DeferredConfig, type DeferredTools, deferTools } from '../../tools/deferred/deferred-tools.ts'
import { CALL_TOOL, CALL_WRAPPER, PLAIN_SEARCH, SEARCH_WRAPPER } from '../../tools/deferred/wrappers.ts'
import { failed } from '../../tools/tool.ts'
import { dialectOf } from '../run/dialect-of.ts'
import { isWithheld, withoutMark } from './found-tools.ts'
import { conversationFor } from './replayed-conversation.ts'
import type { OfferedTool, OfferedTools } from './offered-tool.ts'

export interface WithheldParts {
  readonly workspaceId: string
  readonly catalogues: CatalogueMemory
  /** The conversation with the client's tools in it. */
  readonly prompt: () => Prompt
}

/** `tools` is null if the service runs none. */
export interface OfferSoFar {
  readonly attempts: readonly PlannedAttempt[]
  readonly tools: OfferedTools | null
}

/** Matches the names of wrapper calls in earlier answers; they are treated as such only if this request defers tools too. */
export const isWrapperOf = ({ body }: Call): ((name: string) => boolean) =>
  body.value('deferred_tools') === undefined ? () => false : (name) => name === SEARCH_WRAPPER || name === PLAIN_SEARCH

/**
 * Returns the offer with the tools that the request defers; the same offer if it defers none. Throws `invalid_request` for an option that
 * cannot be honoured.
 */
export const offerWithheld = (call: Call, offer: OfferSoFar, parts: WithheldParts): OfferSoFar => {
  const config = call.body.value('deferred_tools')
  if (config === undefined) return mayDefer(call) ? leftToOthers(call, offer, parts.prompt()) : offer
  const prompt = parts.prompt()
  const search = searchIn(prompt, call.dialect)
  if (search !== null) {
    throw invalidField(search, 'Use either deferred_tools or a tool search: both together are two ways to the same tools.')
  }
  // The form of the field was already checked when the request was read.
  const deferred = deferTools(config as unknown as DeferredConfig, prompt, call.body.value('tool_choice'), {
    workspaceId: parts.workspaceId,
    memory: parts.catalogues,
  })
  if (deferred === null && offer.tools === null && !mayDefer(call)) return offer
  const tools = offer.tools ?? noTools(prompt)
  return { ...offer, tools: deferred === null ? allShown(tools) : behindWrappers(tools, deferred, call.dialect, config) }
}

/** A quick search of the text, which rules out requests without such tools. */
const mayDefer = ({ body }: Call): boolean => mayName('"defer_loading"', body.rawSearchable('tools') ?? '')

const searchIn = ({ tools }: Prompt, dialect: ClientDialect): string | null => {
  const found = tools.find(
    (tool) => tool.type === 'provider' && (tool.kind === 'tool_search' || askedTool(tool, dialect)?.tool === 'tool_search'),
  )
  return found?.type === 'provider' ? found.at : null
}

/** If the request has no search, one vendor reaches these tools, and so does a client that searches by a function of its own. */
const leftToOthers = (call: Call, offer: OfferSoFar, prompt: Prompt): OfferSoFar => {
  const first = prompt.tools.find(isWithheld)
  if (first === undefined || searchIn(prompt, call.dialect) !== null) return offer
  const attempts = offer.attempts.filter(
    (planned) => dialectOf(planned, call) === 'anthropic' && planned.endpoint.provider.slug === 'anthropic',
  )
  if (attempts.length > 0) return { ...offer, attempts }
  if (call.dialect === 'messages' && prompt.tools.some(mayBeSearch)) {
    return { ...offer, tools: shownOnceNamed(offer.tools ?? noTools(prompt), namedIn(call, prompt)) }
  }
  const hint = call.dialect === 'chat' ? 'add deferred_tools' : 'add a service:tool_search tool, or deferred_tools'
  throw invalidField(`${placeOf(first, call)}.defer_loading`, `Only Anthropic finds such tools without a search in the request: ${hint}.`)
}

const mayBeSearch = (tool: Tool): boolean => tool.type === 'function' && !isWithheld(tool)

const noTools = (prompt: Prompt): OfferedTools => ({ byName: new Map<string, OfferedTool>(), promptFor: () => prompt })

/** The functions that a result names in a `tool_reference`, in this order, and the one that has to be called (decisions/0211). */
const namedIn = ({ body }: Call, { toolChoice }: Prompt): ReadonlySet<string> => {
  const named = new Set<string>()
  const messages = mayName('"tool_reference"', body.rawSearchable('messages') ?? '') ? body.value('messages') : []
  for (const message of objectsIn(messages)) {
    for (const { type, content } of objectsIn(message['content'])) {
      if (type !== 'tool_result') continue
      for (const { type: kind, tool_name: name } of objectsIn(content)) {
        if (kind === 'tool_reference' && typeof name === 'string') named.add(name)
      }
    }
  }
  if (toolChoice?.type === 'tool') named.add(toolChoice.name)
  return named
}

/** Functions that were found are added at the end, so that the list before them stays the same for a cache. */
const shownOnceNamed = (tools: OfferedTools, named: ReadonlySet<string>): OfferedTools => ({
  ...tools,
  promptFor: (planned) => {
    const prompt = tools.promptFor(planned)
    const withheld = new Map(prompt.tools.filter(isWithheld).map((tool) => [tool.name, withoutMark(tool)]))
    const found = [...named].flatMap((name) => withheld.get(name) ?? [])
    return { ...prompt, tools: [...prompt.tools.filter((tool) => !isWithheld(tool)), ...found] }
  },
})

/** The path in the client's request: the list that a model may choose from can be shorter (`allowed_tools`). */
const placeOf = ({ name }: FunctionTool, { body }: Call): string => {
  const tools = body.value('tools')
  const index = Array.isArray(tools) ? tools.findIndex((tool: unknown) => isObject(tool) && nameIn(tool) === name) : -1
  return index < 0 ? 'tools' : `tools[${index}]`
}

/** Chat Completions nests the name one level deeper. */
const nameIn = ({ name, function: inner }: Readonly<Record<string, unknown>>): unknown => name ?? (isObject(inner) ? inner['name'] : null)

const allShown = (tools: OfferedTools): OfferedTools => ({
  ...tools,
  promptFor: (planned) => {
    const prompt = tools.promptFor(planned)
    return {
      ...prompt,
      messages: conversationFor(prompt.messages, (name) => tools.byName.has(name)),
      tools: prompt.tools.map((tool) => (isWithheld(tool) ? withoutMark(tool) : tool)),
    }
  },
})

/** The name of the search on each interface; Claude has two searches, so on Messages the name depends on which one this is. */
const searchType = (dialect: ClientDialect, byPattern: boolean): string => {
  if (dialect === 'messages') return byPattern ? 'tool_search_tool_regex' : 'tool_search_tool_bm25'
  return dialect === 'chat' ? 'service:search_tools' : 'service:tool_search'
}

const behindWrappers = (tools: OfferedTools, deferred: DeferredTools, dialect: ClientDialect, config: unknown): OfferedTools => {
  const asked = { tool: 'tool_search', at: 'deferred_tools', parameters: {} } as const
  const byPattern = JSON.stringify(config).includes('"regex"')
  const search: OfferedTool | null =
    deferred.search === null
      ? null
      : {
          asked: { ...asked, askedAs: searchType(dialect, byPattern) },
          name: SEARCH_WRAPPER,
          tool: deferred.search,
          instance: null,
          catalog: deferred.catalogue.hash,
        }
  const own = new Map([[CALL_WRAPPER, CALL], ...(search === null ? [] : [[SEARCH_WRAPPER, search] as const])])
  // Some models call a tool that a search found directly by its own name.
  const found = (name: string): OfferedTool | undefined => (deferred.catalogue.byName.has(name) ? CALL : undefined)
  return {
    byName: {
      get: (name) => own.get(name) ?? tools.byName.get(name) ?? found(name),
      has: (name) => own.has(name) || tools.byName.has(name) || found(name) !== undefined,
    },
    promptFor: (planned) => deferred.promptOf(tools.promptFor(planned)),
    deferred,
  }
}

/** Calls through this wrapper are passed to the client (unwrap-calls.ts); one that reaches `run` could not be, and gets this result. */
const CALL: OfferedTool = {
  asked: { tool: 'tool_search', askedAs: 'service:tool_search', at: 'deferred_tools', parameters: {} },
  name: CALL_WRAPPER,
  tool: {
    description: CALL_TOOL.description ?? '',
    parameters: {},
    run: () => Promise.resolve(failed('unavailable', 'The call could not be passed on.')),
  },
  instance: null,
  silent: true,
}
