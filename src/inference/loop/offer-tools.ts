/** Decides which tools of a request the service runs for which attempts, and builds the conversation that the model gets with them. */
import { mayAddTools } from '../../canonical/added-tools.ts'
import { withoutBarred } from '../../canonical/allowed-tools.ts'
import type { Call, ClientDialect } from '../../canonical/call.ts'
import type { FunctionTool, Message, Prompt, ProviderTool, Tool as PromptTool, ToolChoice } from '../../canonical/prompt.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { Warning } from '../../canonical/warning.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, objectIn } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { lookForName, mayName } from '../../lib/text/may-name.ts'
import { hasOfItsOwn, mayHaveOfItsOwn } from '../../providers/tools/native-tools.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import { refuseSameNames } from '../../tools/agents/agent-names.ts'
import { askedTool } from '../../tools/asked-tools.ts'
import { plainJson, rewriteCalls } from '../../tools/deferred/replayed-calls.ts'
import { vendorsTool, refuseDenied } from '../../tools/denied-tools.ts'
import type { ToolKit } from '../../tools/kit.ts'
import type { ToolSettings } from '../../tools/settings.ts'
import type { AskedTool, ToolCaller } from '../../tools/tool.ts'
import { prefersNative } from '../../tools/web-search/settings.ts'
import { dialectOf } from '../run/dialect-of.ts'
import { clientsShell } from './clients-shell.ts'
import { checkToolSearch, withholdTools } from './found-tools.ts'
import { withKnownCost } from './loop-limits.ts'
import { conversationFor } from './replayed-conversation.ts'
import { isShown } from './shown-calls.ts'
import type { OfferedTool, OfferedTools } from './offered-tool.ts'
import type { ToolHolder } from '../../providers/tools/vendor-tools.ts'

export interface Offer {
  readonly tools: OfferedTools
  /** The attempts of the plan that can answer with these tools. */
  readonly attempts: readonly PlannedAttempt[]
  readonly warnings: readonly Warning[]
}

export interface OfferParts {
  readonly kit: ToolKit
  readonly caller: ToolCaller
  readonly settings: ToolSettings
  /** The preset that the tools come from; null if the request itself has them. */
  readonly presetSlug: string | null
  /** The conversation, if calls of an earlier answer's tools are in it; null if it is used as the client wrote it. */
  readonly replayed: Prompt | null
  /** The request is rewritten for a reason other than the tools. */
  readonly rewritten: boolean
  /** True for the name of a function that stands for withheld tools. */
  readonly isWrapper: (name: string) => boolean
  readonly userAgent: string | null
}

/** Each tool is compared with the others, so their number is bounded. */
const OWN_TOOLS_MAX = 128

/**
 * Called where `mayAskForTools`. Null if no tool of the service's is asked for, or every candidate has its own. Throws `invalid_request` if a tool cannot run here and no
 * candidate has it, and if there are too many.
 */
export const offerTools = (call: Call, attempts: readonly PlannedAttempt[], parts: OfferParts): Offer | null => {
  // The list changes with the tools of the service, so that no cache of it is lost.
  const prompt = withoutBarred(parts.replayed ?? call.prompt())
  const wanted = prompt.tools.flatMap((tool) => {
    if (tool.type !== 'provider') return []
    const asked = askedTool(tool, call.dialect)
    const vendors = asked === null ? vendorsTool(tool.kind) : null
    if (vendors !== null) refuseDenied(vendors, parts.caller.denied, tool.at)
    return asked === null ? [] : [{ tool, asked }]
  })
  if (wanted.length === 0) return null
  if (wanted.length > OWN_TOOLS_MAX) {
    const message = `tools: A request has at most ${OWN_TOOLS_MAX} tools that this service may run; this one has ${wanted.length}.`
    throw new GatewayError('invalid_request', message, { metadata: { field: 'tools' } })
  }
  const shell = clientsShell(
    wanted.filter(({ asked }) => isClientsBash(asked)),
    prompt.tools,
  )
  const isClients = (tool: ProviderTool): boolean => shell.replaced.has(tool)
  for (const { tool, asked } of wanted) if (!isClients(tool)) refuseDenied(asked.tool, parts.caller.denied, asked.at)
  refuseSameNames(wanted.map(({ asked }) => asked))
  const offered = new Map<ProviderTool, OfferedTool>()
  const refused = new Map<ProviderTool, GatewayError>()
  const search = wanted.find(({ asked }) => asked.tool === 'tool_search')?.asked ?? null
  const withheld = search === null ? null : withholdTools(prompt.tools, search)
  const caller = withheld === null ? parts.caller : { ...parts.caller, withheld }
  for (const one of wanted) {
    if (isClients(one.tool)) continue
    const made = make(one, wanted, { ...parts, caller }, call)
    if (made instanceof GatewayError) refused.set(one.tool, made)
    else offered.set(one.tool, made)
  }
  const needed = wanted.filter(({ tool }) => !isClients(tool) && (!refused.has(tool) || !isUnasked(tool, call)))
  const lacksIn = (planned: PlannedAttempt, rewritten: boolean): readonly Wanted[] => {
    const holder = holderOf(planned, call, rewritten)
    return needed.filter((one) => !isNative(one, holder, prompt, parts.settings) && !(refused.has(one.tool) && mayHave(one, holder)))
  }
  // If one tool runs here, the request is rewritten, and some of a vendor's own tools cannot be expressed in the rewritten form.
  const rewritten = parts.rewritten || shell.replaced.size > 0 || attempts.some((planned) => lacksIn(planned, false).length > 0)
  const lacks = (planned: PlannedAttempt): readonly Wanted[] => lacksIn(planned, rewritten)
  if (shell.replaced.size === 0 && attempts.every((planned) => lacks(planned).length === 0)) return null
  refuseTaken(offered, prompt)
  const able = attempts.filter((planned) => lacks(planned).every(({ tool }) => offered.has(tool)))
  const [first] = refused.values()
  if (able.length === 0 && first !== undefined) throw parts.presetSlug === null ? first : ofPreset(first, parts.presetSlug)
  const choice = chosenTool(call, offered)
  const byName = new Map([...offered.values()].map((one) => [one.name, one]))
  // This runs before anything is listed, because producing the results again also finds again the tools that were found earlier.
  const messages = withResultsAgain(prompt.messages, byName)
  return {
    warnings: [...shell.warnings, ...[...offered.values()].flatMap(({ tool }) => tool.warnings ?? [])],
    attempts: withKnownCost(call, able).toSorted((a, b) => nativesMissed(lacks(a)) - nativesMissed(lacks(b))),
    tools: {
      byName:
        withheld === null
          ? byName
          : { get: (name) => byName.get(name) ?? withheld.hidden.get(name), has: (name) => byName.has(name) || withheld.hidden.has(name) },
      promptFor(planned) {
        const lists =
          withheld !== null && lacks(planned).some(({ asked }) => asked === search)
            ? withheld.shownOf(prompt.tools)
            : { first: prompt.tools, found: [] }
        const ours = lacks(planned).flatMap(({ tool }) => offered.get(tool) ?? [])
        const replaced = new Set<PromptTool>(lacks(planned).map(({ tool }) => tool))
        const names = new Set(ours.map(({ name }) => name))
        return {
          ...prompt,
          messages: parts.replayed === null ? messages : conversationFor(messages, (name) => names.has(name) || parts.isWrapper(name)),
          // These come after the client's own tools, so that what a provider has cached of those stays valid.
          tools: [
            ...withMarksOfGone(lists.first, (tool) => {
              const clients = tool.type === 'provider' ? shell.replaced.get(tool) : undefined
              if (clients !== undefined) return clients
              return replaced.has(tool) ? null : tool
            }),
            ...ours.map(functionOf),
            ...lists.found,
          ],
          ...(choice === null ? {} : { toolChoice: choice, otherFields: prompt.otherFields.filter((field) => field !== 'tool_choice') }),
        }
      },
    },
  }
}

/** A cache mark stands for everything up to its tool: if that tool leaves the list, the function before it takes the mark. */
const withMarksOfGone = (tools: readonly PromptTool[], keptOf: (tool: PromptTool) => PromptTool | null): readonly PromptTool[] => {
  const kept: PromptTool[] = []
  for (const tool of tools) {
    const one = keptOf(tool)
    if (one !== null) {
      kept.push(one)
      continue
    }
    const at = kept.findLastIndex(({ type }) => type === 'function')
    const before = kept[at]
    if (tool.type === 'provider' && tool.cache !== undefined && before?.type === 'function') kept[at] = { cache: tool.cache, ...before }
  }
  return kept
}

/** A quick search of the text, which rules out most requests. A Responses input may declare tools too. */
export function* mayAskForTools({ body, dialect }: Pick<Call, 'body' | 'dialect'>): Steps<boolean> {
  const tools = body.rawSearchable('tools')
  if (tools !== undefined && mayName(MAY_BE_OURS, tools)) return true
  const input = dialect === 'responses' ? (body.rawSearchable('input') ?? '') : ''
  return (yield* mayAddTools(input)) && (yield* lookForName(MAY_BE_OURS, input))
}

/** Types with our prefix, and types of vendors that the service has too. */
const MAY_BE_OURS = /"(?:service:|openrouter:|web_search|web_fetch_|advisor_|tool_search|image_generation"|shell"|apply_patch")/

interface Wanted {
  readonly tool: ProviderTool
  readonly asked: AskedTool
}

/**
 * Agents name these tools of their vendor in every request, whatever model they talk to (decisions/0053): if such a tool can run nowhere,
 * the translation leaves it out with a warning. Any other tool, and one that `tool_choice` names, counts as asked for.
 */
const isUnasked = ({ kind }: ProviderTool, call: Call): boolean => {
  const choice = call.body.value('tool_choice')
  return NAMED_UNASKED[call.dialect].test(kind) && !(isObject(choice) && (choice['type'] === kind || choice['type'] === 'tool'))
}

const NAMED_UNASKED: Readonly<Record<ClientDialect, RegExp>> = {
  chat: /^$/,
  responses: /^(?:web_search(?:_\d{4}_\d{2}_\d{2})?|image_generation|apply_patch|tool_search)$/,
  messages: /^(?:web_search|web_fetch|advisor)_\d{8}$|^tool_search_tool_/,
}

/** A client of Messages runs the calls of bash itself, unless it asks for the sandbox. */
const isClientsBash = (asked: AskedTool): boolean => asked.tool === 'bash' && mayBeElsewhere(asked)

/** True unless the client names one of the service's own engines. */
const mayBeElsewhere = ({ parameters }: AskedTool): boolean => ['auto', 'native'].includes(engineOf(parameters))

const engineOf = ({ engine }: AskedTool['parameters']): string => (typeof engine === 'string' ? engine : 'auto')

/** The tools of a server of the operator's own are not known; it is given the tools that cannot run here. */
const mayHave = ({ tool, asked }: Wanted, holder: ToolHolder): boolean => mayBeElsewhere(asked) && mayHaveOfItsOwn(asked.tool, tool, holder)

const holderOf = (planned: PlannedAttempt, call: Call, rewritten: boolean): ToolHolder => ({
  provider: planned.endpoint.provider.slug,
  upstreamModel: planned.endpoint.upstreamModel,
  dialect: dialectOf(planned, call),
  client: call.dialect,
  rewritten,
})

const isNative = ({ tool, asked }: Wanted, holder: ToolHolder, prompt: Prompt, settings: ToolSettings): boolean => {
  if (!mayBeElsewhere(asked)) return false
  // With the service's own type for the tool, a client leaves the choice of engine to the operator.
  if (
    engineOf(asked.parameters) === 'auto' &&
    asked.tool === 'web_search' &&
    serverToolName(tool.kind) !== null &&
    !prefersNative(settings.web_search)
  )
    return false
  return hasOfItsOwn(asked.tool, tool, prompt, holder)
}

/** The number of tools that this endpoint lacks although the client prefers a provider's own. */
const nativesMissed = (lacking: readonly Wanted[]): number => lacking.filter(({ asked }) => asked.parameters['engine'] === 'native').length

export const ofPreset = (refusal: GatewayError, slug: string): GatewayError =>
  new GatewayError(refusal.type, `${refusal.publicMessage} It comes from the preset ${slug}.`, {
    metadata: { ...refusal.metadata, preset: slug },
    cause: refusal,
  })

/** Returns the reason if the tool cannot run here. */
const make = (
  { tool, asked }: Wanted,
  wanted: readonly Wanted[],
  { kit, caller, userAgent }: OfferParts,
  call: Call,
): OfferedTool | GatewayError => {
  const before = wanted.filter((one) => one.asked.tool === asked.tool).findIndex((one) => one.tool === tool)
  const instance = asked.parameters['name']
  try {
    if (asked.tool === 'tool_search') checkToolSearch(call, asked)
    return {
      asked,
      name: `service_${asked.tool}${before === 0 ? '' : `__${before}`}`,
      tool: kit[asked.tool](asked, caller),
      instance: typeof instance === 'string' ? instance.trim() : null,
      ...(isShown(asked, call.dialect, userAgent) ? {} : { silent: true }),
    }
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return thrown
  }
}

/** Inserts the full results of tools that can produce them again, however little of them the conversation shows. */
const withResultsAgain = (messages: readonly Message[], byName: OfferedTools['byName']): readonly Message[] =>
  rewriteCalls(messages, {
    call: (call) => (byName.get(call.name)?.tool.again === undefined ? null : { ...call, arguments: plainJson(call.arguments) }),
    result: (call) => {
      const input = objectIn(call.arguments)
      return input === null ? null : (byName.get(call.name)?.tool.again?.(input) ?? null)
    },
  })

/** Throws if a function of the client's has such a name: a call of it would mean two tools. */
const refuseTaken = (offered: ReadonlyMap<ProviderTool, OfferedTool>, { tools }: Prompt): void => {
  const ours = new Set([...offered.values()].map(({ name }) => name))
  const taken = tools.find((tool) => tool.type !== 'provider' && ours.has(tool.name))
  if (taken !== undefined && taken.type !== 'provider') {
    throw new GatewayError(
      'invalid_request',
      `tools: the name ${taken.name} is that of a tool of the service; give your function another one.`,
    )
  }
}

const functionOf = ({ name, tool }: OfferedTool): FunctionTool => ({
  type: 'function',
  name,
  description: tool.description,
  parameters: tool.parameters,
})

/** The choice, if it names a tool of the service by its type, in any form of the three interfaces. */
const chosenTool = (call: Call, offered: ReadonlyMap<ProviderTool, OfferedTool>): ToolChoice | null => {
  const choice = call.body.value('tool_choice')
  const type = isObject(choice) ? choice['type'] : undefined
  if (typeof type !== 'string') return null
  const named = type === 'tool' && isObject(choice) ? choice['name'] : type
  const chosen = [...offered.values()].find(
    ({ asked }) => asked.askedAs === named || (typeof named === 'string' && serverToolName(named) === asked.tool) || asked.tool === named,
  )
  return chosen === undefined ? null : { type: 'tool', name: chosen.name }
}
