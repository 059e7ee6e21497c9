/**
 * Decides which endpoints are asked, and in which order: the catalogue's candidates, filtered and ordered, combined with the customer's own
 * keys.
 */
import { withoutBarred } from '../../canonical/allowed-tools.ts'
import type { Call } from '../../canonical/call.ts'
import type { Steps } from '../../lib/steps.ts'
import type { FunctionTool, Prompt, Tool } from '../../canonical/prompt.ts'
import { GatewayError } from '../../errors.ts'
import { checkForm } from '../../formats/conversation-form.ts'
import { type Models, speaksDialectOf } from '../../models/models.ts'
import { parseModelReference } from '../../presets/model-reference.ts'
import { hasEmbeddings } from '../../providers/openai-chat/embeddings.ts'
import { hasOwnTemplates } from '../../providers/roles/role-rules.ts'
import { unheededVariant } from '../../routing/explain.ts'
import { type Plan, planAttempts } from '../../routing/plan-attempts.ts'
import { permits } from '../../routing/policy.ts'
import type { RoutingState } from '../../routing/routing-state.ts'
import type { CatalogueMemory } from '../../tools/deferred/catalogue-memory.ts'
import type { ToolKit } from '../../tools/kit.ts'
import type { ToolSettings } from '../../tools/settings.ts'
import type { ToolCaller } from '../../tools/tool.ts'
import type { SealedResults } from '../../tools/sealed-results.ts'
import type { SearchEngines } from '../../tools/web-search/search-engines.ts'
import { instructed } from './instruct.ts'
import { mayAskForTools, offerTools, ofPreset } from '../loop/offer-tools.ts'
import { isWrapperOf, offerWithheld } from '../loop/offer-withheld.ts'
import { replayedConversation, conversationFor } from '../loop/replayed-conversation.ts'
import { withCustomerKeys } from './plan-customer-keys.ts'
import { withinContext } from './within-context.ts'
import { type Planned, type Prepared, refuseLosses, type Screened } from '../request.ts'
import { refuseAdvisors } from './advisor-models.ts'
import { refuseVendorsTools } from '../web/denied-words.ts'
import { planSearch } from '../web/plan-search.ts'
import { type VendorTools, vendorToolsOf } from './vendor-tools.ts'
import type { Model, Provider } from '../../models/model.ts'

export interface PlanParts {
  readonly models: Models
  readonly routing: RoutingState
  readonly toolKit: ToolKit
  readonly searchEngines: SearchEngines
  readonly catalogues: CatalogueMemory
  /** Reads the settings as the configuration has them now. */
  readonly toolSettings: () => ToolSettings
  readonly sealedResults: SealedResults
}

/**
 * Throws for faults that need no provider to judge: an unknown model, requirements that no endpoint meets, an option that a strict request
 * cannot have, a malformed conversation.
 */
export function* plan(asked: Screened, parts: PlanParts): Steps<Planned> {
  const full = yield* instructed(asked)
  const { strict, apiType } = full
  const vendorTools = apiType === 'embeddings' ? null : yield* vendorToolsOf(full.call)
  const chosen = planFor(full, parts, vendorTools)
  const wide = apiType === 'embeddings' ? withEmbeddings(chosen) : withVendorTools(chosen, vendorTools, full, parts.models)
  refuseLosses(strict, wide.warnings)
  if (apiType === 'embeddings') return { ...full, plan: wide, tools: null, search: null }
  const { screened, planned } = yield* withinContext(full, wide)
  const { call } = screened
  yield
  yield* checkPrompt(call, planned)
  yield
  const replayed = replayedConversation(call, (sealed) => parts.sealedResults.open(screened.caller.workspaceId, sealed))
  yield* refuseVendorsTools(call, screened.deniedTools)
  yield* refuseAdvisors(call, screened.guardrails?.policy ?? null, parts.models)
  const found = planSearch(call, planned, {
    engines: parts.searchEngines,
    settings: parts.toolSettings().web_search,
    presetOf: (at) => (at === 'plugins' ? presetOf(screened, at) : presetOfModels(screened)),
    denied: screened.deniedTools,
  })
  const candidates = found?.attempts ?? planned.attempts
  const isWrapper = isWrapperOf(call)
  const asksForTools = yield* mayAskForTools(call)
  const served = asksForTools
    ? offerTools(call, candidates, {
        replayed: replayed?.prompt ?? null,
        rewritten: replayed !== null || found !== null || call.body.value('deferred_tools') !== undefined,
        isWrapper,
        kit: parts.toolKit,
        caller: toolCaller(screened, parts.models),
        settings: parts.toolSettings(),
        presetSlug: presetOf(screened, 'tools'),
        userAgent: screened.userAgent,
      })
    : null
  const warnings = [...(replayed?.warnings ?? []), ...(served?.warnings ?? [])]
  refuseLosses(strict, warnings)
  const { attempts, tools } = offerWithheld(call, served ?? { attempts: candidates, tools: null }, {
    workspaceId: screened.caller.workspaceId,
    catalogues: parts.catalogues,
    prompt: () =>
      withoutBarred(
        replayed === null ? call.prompt() : { ...replayed.prompt, messages: conversationFor(replayed.prompt.messages, isWrapper) },
      ),
  })
  const promptFor = tools?.promptFor ?? (replayed === null ? undefined : promptWithoutTools(replayed.prompt))
  const able = attempts === planned.attempts ? planned : { ...planned, attempts }
  return {
    ...screened,
    warnings: [...screened.warnings, ...warnings],
    plan: promptFor === undefined && found === null ? able : withVendorTools(able, vendorTools, screened, parts.models, true),
    tools,
    search: found?.search ?? null,
    promptFor,
  }
}

const promptWithoutTools = (replayed: Prompt): (() => Prompt) => {
  const prompt = { ...replayed, messages: conversationFor(replayed.messages, () => false) }
  return () => prompt
}

/** `rewritten`: no provider gets the request as the client wrote it. */
const withVendorTools = (planned: Plan, tools: VendorTools | null, asked: Screened, models: Models, rewritten = false): Plan => {
  if (tools === null) return planned
  try {
    return tools.keep(planned, () => modelsOf(asked, models), rewritten)
  } catch (thrown) {
    const slug = presetOf(asked, 'tools')
    throw slug !== null && thrown instanceof GatewayError ? ofPreset(thrown, slug) : thrown
  }
}

/** The listed models that the caller may use. */
const modelsOf = ({ guardrails }: Screened, models: Models): readonly Model[] =>
  models.list().filter((model) => model.listed !== false && permits(model, guardrails?.policy ?? null, models))

/** The slug of the preset that a field comes from; null if the request itself has the field. */
const presetOf = ({ body, preset }: Screened, field: string): string | null => (body.has(field) ? null : (preset?.slug ?? null))

/** The same as `presetOf`, for the names of models. */
const presetOfModels = ({ body, preset }: Screened): string | null => {
  const isOwn = parseModelReference(body.value('model'), null).model !== null || body.has('models') || body.has('fallbacks')
  return isOwn ? null : (preset?.slug ?? null)
}

const toolCaller = (asked: Screened, models: Models): ToolCaller => {
  const { requestId, caller, call, deniedTools } = asked
  return {
    workspaceId: caller.workspaceId,
    by: { requestId, userId: caller.userId, keyHash: caller.keyHash },
    sessionId: call.sessionId,
    denied: deniedTools,
    functions: () => (call.dialect === 'responses' ? withoutBarred(call.prompt()).tools.filter(isPlainFunction) : null),
    models: () => modelsOf(asked, models),
  }
}

/** A function without a namespace, which the client runs. */
const isPlainFunction = (tool: Tool): tool is FunctionTool =>
  tool.type === 'function' && tool.builtIn === undefined && tool.namespace === undefined

/** The same as `plan`, without the checks. */
export const planFor = (
  {
    call,
    caller,
    customerKeys,
    guardrails,
    deniedTools,
    locks,
  }: Pick<Prepared, 'call' | 'customerKeys' | 'guardrails' | 'deniedTools' | 'locks'> & {
    readonly caller: { readonly workspaceId: string }
  },
  { models, routing }: Pick<PlanParts, 'models' | 'routing'>,
  vendorTools: VendorTools | null = null,
): Plan => {
  const { health, sticky, random } = routing
  const policy = guardrails?.policy ?? null
  return withCustomerKeys(
    planAttempts({
      call,
      models,
      health,
      account: caller.workspaceId,
      sticky: sticky.find,
      random,
      policy,
      deniesSearch: deniedTools.includes('web_search'),
      locks,
      lackOf: vendorTools?.lackOf ?? null,
    }),
    customerKeys,
    models,
  )
}

/**
 * Our own check finds a malformed conversation, so that the error has our status and reaches no provider
 * (docs/contract/errors.md#own-checks). If every attempt stays in the client's dialect, nothing is parsed and only the form is checked.
 */
const checkPrompt = (call: Call, { attempts }: Plan): Steps<unknown> =>
  attempts.every(({ endpoint }) => speaksDialectOf(endpoint.provider, call.dialect))
    ? checkForm(call.dialect, call.body, attempts.every(({ endpoint }) => hasOwnTemplates(endpoint.provider.slug)) ? 'any' : 'known')
    : call.readingPrompt()

const withEmbeddings = (planned: Plan): Plan => {
  const attempts = planned.attempts.filter(({ endpoint }) => answersEmbeddings(endpoint.provider))
  if (attempts.length === 0) throw new GatewayError('unprocessable', 'No provider of this model has embeddings. Use an embedding model.')
  return planned.searches
    ? { ...planned, attempts, warnings: [...planned.warnings, unheededVariant(UNSEARCHED)] }
    : { ...planned, attempts }
}

const UNSEARCHED = 'Embeddings have no search: the variant :online was ignored.'

/** Embeddings are sent untranslated, so only to providers that speak the client's dialect. */
const answersEmbeddings = ({ slug, dialects }: Provider): boolean =>
  dialects.some((dialect) => dialect === 'openai-chat' || dialect === 'openai-responses') && hasEmbeddings({ provider: slug })
