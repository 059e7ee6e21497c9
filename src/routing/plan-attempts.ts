/** Who is asked, in which order, and why others are not: a pure function of the request, the catalogue and the providers' health. */
import type { CustomerKey } from '../byok/customer-keys.ts'
import type { Call } from '../canonical/call.ts'
import type { RoutingLocks } from '../canonical/routing-locks.ts'
import type { RoutingPolicy } from '../canonical/routing-policy.ts'
import type { Warning } from '../canonical/warning.ts'
import type { Models } from '../models/models.ts'
import { askedModels, type Strategy } from './asked-models.ts'
import { autoStrategy } from './auto-models.ts'
import { endpointKey, servesTier, type AskedModel, type Candidate } from './candidate.ts'
import { noProvider, unheededVariant, type Removed } from './explain.ts'
import { filtersOf } from './filters.ts'
import type { EndpointKey, HealthView } from './health.ts'
import { tierNames, warnOfLocks } from './heed-locks.ts'
import { keepCandidates, secondsUntilOne } from './keep-candidates.ts'
import { orderCandidates, type Ordered } from './order.ts'
import { preferredParameters } from './sent-parameters.ts'
import { conversationKey } from './sticky.ts'
import { readPreferences, type Preferences } from './preferences.ts'
import type { Model, ModelEndpoint } from '../models/model.ts'

export type { Removed } from './explain.ts'

/** More than this many tries cost more in waiting than they win (docs/contract/failover.md#attempts). */
export const ATTEMPTS_MAX = 4

export interface PlanInput {
  readonly call: Call
  readonly models: Models
  readonly health: HealthView
  /** The workspace that the conversations belong to. */
  readonly account: string
  /** The endpoint remembered for a conversation; looked up only where there is a choice. Null: nothing is remembered. */
  readonly sticky: ((key: string) => EndpointKey | null) | null
  /** In [0, 1): from a seed in tests. */
  readonly random: () => number
  /** Demands of guardrails; null or absent: nothing. */
  readonly policy?: RoutingPolicy | null
  /** Locks of the preset that names in the request could get around; null or absent: none. */
  readonly locks?: RoutingLocks | null
  /** Says in words which need of the request an endpoint does not meet. Those that meet all stay alone, where there are any; null or absent: there is no such need. */
  readonly lackOf?: LackOf | null
}

export type LackOf = (candidate: Pick<PlannedAttempt, 'model' | 'endpoint'>) => string | null

export interface PlannedAttempt {
  readonly model: Model
  readonly endpoint: ModelEndpoint
  readonly key: EndpointKey
  /** The service tier to ask for in place of the client's own word; null: that word goes as it is. */
  readonly serviceTier: string | null
  /** The customer's own key, instead of the service's. */
  readonly customerKey?: CustomerKey
}

export interface Plan {
  /** At least one. */
  readonly attempts: readonly PlannedAttempt[]
  /** How many could have answered, those beyond the attempts too. */
  readonly candidates: number
  readonly removed: readonly Removed[]
  /** Wishes of the request that are not heeded. */
  readonly warnings: readonly Warning[]
  readonly strategy: Strategy
  /** A name of a model asks for a search of the web before the answer. */
  readonly searches: boolean
  /** Why the attempts stand as they do: `price-weighted`, `provider.order`, `sort:price`, `sticky` … */
  readonly order: string
  /** The facts by which to remember this conversation after a success; null where its model has one endpoint alone, or `provider.order` chose. */
  readonly stickyKey: string | null
}

/**
 * Throws `not_found` where no model is known (with the nearest known ids), `invalid_request` where the preset refuses a
 * name, and `provider_overloaded` as 503 where no
 * provider meets the requirements, saying which filter removed which (docs/contract/routing.md#nobody-fits).
 */
export const planAttempts = (input: PlanInput): Plan => directPlan(input) ?? fullPlan(input)

/** Nearly every request: one model, served by one endpoint, and nothing asked of its routing. */
const directPlan = ({ call, models, health, policy }: PlanInput): Plan | null => {
  const { body } = call
  const [id] = call.models
  if (id === undefined || call.models.length > 1 || (policy ?? null) !== null || ROUTING_FIELDS.some((field) => body.has(field)))
    return null
  const model = autoStrategy(id) === null ? models.find(id) : undefined
  const [endpoint] = model?.endpoints ?? []
  if (model === undefined || endpoint === undefined || model.endpoints.length > 1) return null
  if (endpoint.serviceTier !== null) return null
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
  const filters = filtersOf(call, preferences, tierNames(preferences, locks), input.policy ?? null, input.models)
  const preferred = preferredParameters(call)
  const groups = asked
    .map((one) => keepCandidates(one, input.health, filters, preferred, removed, input.lackOf ?? null))
    .filter((group) => group.length > 0)
  if (groups.length === 0) throw noProvider(call.models, removed, secondsUntilOne(asked, removed, input.health))

  const together = preferences.partition === 'none' ? [groups.flat()] : groups
  // Where filters leave one endpoint alone, a later request of the conversation may have the choice, and goes on there.
  const isChoice = asked.length > 1 || (asked[0]?.model.endpoints.length ?? 0) > 1
  const stickyKey = isChoice && preferences.order.length === 0 ? conversationKey(call, input.account) : null
  const ordering = {
    preferences,
    inputTokens: call.body.searchable.length / CHARACTERS_PER_TOKEN,
    sticky: stickyKey === null || input.sticky === null ? null : input.sticky(stickyKey),
    random: input.random,
  }
  const inTurn = together.map((group) => orderCandidates(group, ordering))
  // Only among models of our own choosing: those that a request names have the order that it gives them.
  const isChosen = !isPinned && call.models.length === 1 && (strategy === 'auto' || strategy === 'free')
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

/** Without a tokenizer: a context is judged by what its text weighs. */
const CHARACTERS_PER_TOKEN = 4

/** An automatic choice stays with the model of the conversation while it is one of the choices (docs/contract/routing.md#sticky-routing). */
const stickyFirst = (groups: readonly Ordered[], sticky: EndpointKey | null): readonly Ordered[] =>
  groups.toSorted((a, b) => Number(b.candidates[0]?.key === sticky) - Number(a.candidates[0]?.key === sticky))

/** As many as are tried. A model that was named as a fallback has its turn, however many endpoints those before it have. */
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
 * An ordinary endpoint that stands in for one of a tier is asked as one: the tier is not to be paid for there. Where the
 * catalogue knows of no such endpoints the tier goes under the name that providers have for it, if its price may be unknown (call-at-tier.ts).
 */
const plannedAttempt = ({ model, endpoint, key }: Candidate, { tier, tierIsSpeed }: Preferences): PlannedAttempt => {
  if (tier === null) return { model, endpoint, key, serviceTier: endpoint.serviceTier }
  const otherwise = tier === 'flex' || tierIsSpeed ? null : 'priority'
  return { model, endpoint, key, serviceTier: endpoint.serviceTier ?? (servesTier(model, tier) ? 'default' : otherwise) }
}

const unheededVariants = (asked: readonly AskedModel[]): readonly Warning[] =>
  asked.flatMap(({ variant }) => (variant.unheeded === null ? [] : [unheededVariant(variant.unheeded)]))
