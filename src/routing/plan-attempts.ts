/**
 * Plans which endpoints are asked, in which order, and why others are not: a pure function of the request, the catalogue and the providers'
 * health.
 */
import type { CustomerKey } from '../byok/customer-keys.ts'
import type { Call } from '../canonical/call.ts'
import type { RoutingLocks } from '../canonical/routing-locks.ts'
import { searchesUnasked } from '../canonical/search-words.ts'
import type { RoutingPolicy } from '../canonical/routing-policy.ts'
import type { Warning } from '../canonical/warning.ts'
import type { Models } from '../models/models.ts'
import { askedModels, type Strategy } from './asked-models.ts'
import { autoStrategy } from './auto-models.ts'
import { endpointKey, servesTier, type AskedModel, type Candidate } from './candidate.ts'
import { noProvider, unheededVariant, type Removed } from './explain.ts'
import type { EndpointKey, HealthView } from './health.ts'
import { tierNames, warnOfLocks } from './heed-locks.ts'
import { type Conditions, keepCandidates, secondsUntilOne } from './keep-candidates.ts'
import { orderCandidates, type Ordered } from './order.ts'
import { preferredParameters, sentParameters } from './sent-parameters.ts'
import { conversationKey } from './sticky.ts'
import { readPreferences, type Preferences } from './preferences.ts'
import type { Model, ModelEndpoint } from '../models/model.ts'

export type { Removed } from './explain.ts'

/** Further attempts would cost more waiting time than they gain (docs/contract/failover.md#attempts). */
export const ATTEMPTS_MAX = 4

export interface PlanInput {
  readonly call: Call
  readonly models: Models
  readonly health: HealthView
  /** The workspace that the conversations belong to. */
  readonly account: string
  /** Finds the endpoint remembered for a conversation; called only if there is a choice. Null if nothing is remembered. */
  readonly sticky: ((key: string) => EndpointKey | null) | null
  /** A number in [0, 1); tests use a seed. */
  readonly random: () => number
  /** Demands of guardrails; null or absent if there are none. */
  readonly policy?: RoutingPolicy | null
  /** A tool that is denied rules out the models that search unasked. */
  readonly deniesSearch?: boolean
  /** Locks of the preset that names in the request could bypass; null or absent if there are none. */
  readonly locks?: RoutingLocks | null
  /**
   * Says which need of the request an endpoint does not meet. If some endpoints meet all needs, only they stay; null or absent if there is
   * no such need.
   */
  readonly lackOf?: LackOf | null
}

export type LackOf = (candidate: Pick<PlannedAttempt, 'model' | 'endpoint'>) => string | null

export interface PlannedAttempt {
  readonly model: Model
  readonly endpoint: ModelEndpoint
  readonly key: EndpointKey
  /** The service tier to request instead of the client's value; null to send that value unchanged. */
  readonly serviceTier: string | null
  /** The customer's own key, used instead of the service's. */
  readonly customerKey?: CustomerKey
}

export interface Plan {
  /** At least one. */
  readonly attempts: readonly PlannedAttempt[]
  /** The number of endpoints that could have answered, including those beyond the attempts. */
  readonly candidates: number
  readonly removed: readonly Removed[]
  /** Options of the request that are ignored. */
  readonly warnings: readonly Warning[]
  readonly strategy: Strategy
  /** True if a model's name asks for a web search before the answer. */
  readonly searches: boolean
  /** The reason for the order of the attempts: `price-weighted`, `provider.order`, `sort:price`, `sticky` … */
  readonly order: string
  /**
   * The key under which this conversation is remembered after a success; null if its model has only one endpoint, or `provider.order`
   * chose.
   */
  readonly stickyKey: string | null
}

/**
 * Throws `not_found` if no model is known (with the nearest known ids), `invalid_request` if the preset refuses a name, and
 * `provider_overloaded` as 503 if no provider meets the requirements, with the filter that removed each one
 * (docs/contract/routing.md#nobody-fits).
 */
export const planAttempts = (input: PlanInput): Plan => directPlan(input) ?? fullPlan(input)

/** The plan of nearly every request: one model, served by one endpoint, and no options for routing. */
const directPlan = ({ call, models, health, policy, deniesSearch = false }: PlanInput): Plan | null => {
  const { body } = call
  const [id] = call.models
  if (id === undefined || call.models.length > 1 || (policy ?? null) !== null || ROUTING_FIELDS.some((field) => body.has(field)))
    return null
  const model = autoStrategy(id) === null ? models.find(id) : undefined
  const [endpoint] = model?.endpoints ?? []
  if (model === undefined || endpoint === undefined || model.endpoints.length > 1) return null
  if (endpoint.serviceTier !== null || (deniesSearch && searchesUnasked(endpoint.upstreamModel))) return null
  const key = endpointKey(model, endpoint)
  if (health.of(key).breaker === 'open') return null
  return {
    attempts: [{ model, endpoint, key, serviceTier: null }],
    candidates: 1,
    removed: NONE,
    warnings: NONE,
    strategy: 'direct',
    searches: false,
    order: 'only candidate',
    stickyKey: null,
  }
}

const ROUTING_FIELDS = ['provider', 'service_tier', 'route'] as const
const NONE: readonly never[] = []

const fullPlan = (input: PlanInput): Plan => {
  const { call, locks = null } = input
  const preferences = readPreferences(call)
  const { asked, unknown, warnings, strategy, isPinned, held } = askedModels(input)
  const lockWarnings = locks === null ? NONE : warnOfLocks(held, asked, preferences, locks)
  const removed: Removed[] = [...unknown]
  const conditions: Conditions = {
    call,
    preferences,
    tierNames: tierNames(preferences, locks),
    policy: input.policy ?? null,
    models: input.models,
    deniesSearch: input.deniesSearch ?? false,
    required: preferences.requireParameters ? sentParameters(call) : [],
    health: input.health,
    lackOf: input.lackOf ?? null,
    preferred: preferredParameters(call),
  }
  const groups = asked.map((one) => keepCandidates(one, conditions, removed)).filter((group) => group.length > 0)
  if (groups.length === 0) throw noProvider(call.models, removed, secondsUntilOne(asked, removed, input.health))

  const together = preferences.partition === 'none' ? [groups.flat()] : groups
  // Even if filters leave only one endpoint, a later request of the conversation may have a choice, and should stay there.
  const isChoice = asked.length > 1 || (asked[0]?.model.endpoints.length ?? 0) > 1
  const stickyKey = isChoice && preferences.order.length === 0 ? conversationKey(call, input.account) : null
  const ordering = {
    preferences,
    inputTokens: call.body.held.length / CHARACTERS_PER_TOKEN,
    sticky: stickyKey === null || input.sticky === null ? null : input.sticky(stickyKey),
    random: input.random,
  }
  const inTurn = together.map((group) => orderCandidates(group, ordering))
  // Only for models of our own choice, when one name stands for several: models that a request names keep the order that it gives them.
  const isChosen = !isPinned && call.models.length === 1
  const ordered = isChosen ? stickyFirst(inTurn, ordering.sticky) : inTurn
  return {
    attempts: attempted(ordered, preferences).map((candidate) => plannedAttempt(candidate, preferences)),
    candidates: groups.reduce((sum, group) => sum + group.length, 0),
    removed,
    warnings: [...lockWarnings, ...warnings, ...unheededVariants(asked)],
    strategy,
    searches: asked.some(({ variant }) => variant.searches),
    order: ordered[0]?.why ?? 'only candidate',
    stickyKey,
  }
}

/** Without a tokenizer, tokens are estimated from the number of characters. */
const CHARACTERS_PER_TOKEN = 4

/**
 * An automatic choice stays with the model of the conversation for as long as it is among the candidates
 * (docs/contract/routing.md#sticky-routing).
 */
const stickyFirst = (groups: readonly Ordered[], sticky: EndpointKey | null): readonly Ordered[] =>
  groups.toSorted((a, b) => Number(b.candidates[0]?.key === sticky) - Number(a.candidates[0]?.key === sticky))

/** The endpoints that will be tried. Each fallback model gets at least one attempt, however many endpoints the models before it have. */
const attempted = (groups: readonly Ordered[], { allowFallbacks, order }: Preferences): readonly Candidate[] => {
  const most = allowFallbacks || order.length > 0 ? ATTEMPTS_MAX : 1
  const tried: Candidate[] = []
  for (const [index, { candidates }] of groups.entries()) {
    const later = groups.length - index - 1
    const left = most - tried.length
    tried.push(...candidates.slice(0, Math.min(left, Math.max(1, left - later))))
  }
  return tried
}

/**
 * An ordinary endpoint that replaces one of a tier is asked as an ordinary one, so that the tier is not paid for there. If the catalogue
 * knows no endpoints of the tier, the tier is sent under the name that providers use for it, unless call-at-tier.ts drops it because its
 * price is unknown.
 */
const plannedAttempt = ({ model, endpoint, key }: Candidate, { tier, tierIsSpeed }: Preferences): PlannedAttempt => {
  if (tier === null) return { model, endpoint, key, serviceTier: endpoint.serviceTier }
  const otherwise = tier === 'flex' || tierIsSpeed ? null : 'priority'
  return { model, endpoint, key, serviceTier: endpoint.serviceTier ?? (servesTier(model, tier) ? 'default' : otherwise) }
}

const unheededVariants = (asked: readonly AskedModel[]): readonly Warning[] =>
  asked.flatMap(({ variant }) => (variant.unheeded === null ? [] : [unheededVariant(variant.unheeded)]))
