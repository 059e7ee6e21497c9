/** Decides whether the budgets of the caller can pay for a planned request, and on which terms it is admitted. */
import { GatewayError } from '../../errors.ts'
import type { Demand } from '../../ledger/admissions.ts'
import { storageAway } from '../../ledger/admissions.ts'
import type { Durations } from '../../ledger/durations.ts'
import { estimateOf, type EstimateSettings } from '../../ledger/estimate.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Scope } from '../../ledger/scope.ts'
import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import { atOnce, inTurns, LARGE_BYTES, type Turn } from '../../lib/steps.ts'
import type { Plan } from '../../routing/plan-attempts.ts'
import { Admitted, type Identity, type Terms } from '../admitted.ts'
import { Hold, TURNS_HELD } from './hold.ts'
import { Purse } from './purse.ts'
import type { Planned } from '../request.ts'
import { searchNanos } from '../web/plan-search.ts'

export interface BudgetSettings extends EstimateSettings {
  /** Decides about a model without a known price when the caller has a budget: the request is refused, or default prices are assumed. */
  readonly unknownPrice: 'refuse' | 'default'
  readonly emptyAnswers: 'told' | 'free'
}

export interface AdmitParts {
  readonly ledger: Pick<Ledger, 'scopesOf' | 'admit' | 'grow'>
  readonly durations: Pick<Durations, 'expectedMs'>
  /** Reads the settings as the configuration has them now. */
  readonly settings: () => BudgetSettings
  readonly clock: Clock
  readonly ids: IdSource
  /** Lets other work run between two steps of the work on a large request. */
  readonly turn: Turn
}

/** Throws 402, 403 or 503. If no budget bounds the caller, the request is admitted at once and without a query. */
export type Admit = (planned: Planned) => Admitted | Promise<Admitted>

export const createAdmit = (parts: AdmitParts): Admit => {
  const { ledger, durations, clock, ids, turn } = parts

  const admitUnder = (planned: Planned, scopes: readonly Scope[]): Promise<Admitted> => {
    const identity = identityOf(clock, ids)
    const own = planned.plan.attempts.filter(({ customerKey }) => customerKey !== undefined)
    return own.length === 0 ? hold(planned, identity, scopes) : admitWithOwn(planned, own, identity, scopes)
  }

  /** `own`: the attempts with the customer's own keys. */
  const admitWithOwn = async (planned: Planned, own: Plan['attempts'], identity: Identity, scopes: readonly Scope[]): Promise<Admitted> => {
    if (own.length < planned.plan.attempts.length) {
      try {
        return await hold(planned, identity, scopes)
      } catch (refused) {
        if (!isRefusal(refused)) throw refused
      }
    }
    // A customer's own keys spend only from the scopes that count them; the service's keys are used only if the budgets can pay for them.
    const counting = scopes.filter(({ includeByok }) => includeByok)
    return hold({ ...planned, plan: { ...planned.plan, attempts: own } }, identity, counting, counting.length < scopes.length)
  }

  const hold = async (planned: Planned, identity: Identity, scopes: readonly Scope[], ownKeysOnly = false): Promise<Admitted> => {
    const settings = parts.settings()
    if (scopes.length === 0) return new Admitted(planned, identity, { ...unboundTerms(settings), ownKeysOnly }, clock)
    const { attempts } = planned.plan
    if (settings.unknownPrice === 'refuse') refuseUnpriced(planned)
    const estimating = estimateOf(planned, attempts, settings)
    const isLarge = planned.call.body.held.length > LARGE_BYTES
    const { mostNanos, promptNanos } = isLarge ? await inTurns(estimating, turn) : atOnce(estimating)
    const first = attempts[0]
    const demand: Demand = {
      id: identity.generationId,
      spender: planned.caller,
      atMs: identity.createdMs,
      scopes,
      estimateNanos: (planned.tools === null ? mostNanos : mostNanos * TURNS_HELD) + searchNanos(planned.search),
      // A customer's own key costs the service nothing, even if the process dies.
      promptNanos: first?.customerKey === undefined ? promptNanos : 0,
      provider: first?.endpoint.provider.slug ?? null,
      expectedMs: durations.expectedMs(first?.model.id ?? ''),
    }
    let admitted: Admitted | null = null
    await ledger.admit(demand, () => admitted?.bill.cost.totalNanos ?? 0)
    const terms = {
      ...unboundTerms(settings),
      hold: new Hold(planned, new Purse(demand, ledger), demand.estimateNanos, settings),
      assumedPrices: settings.assumedPrices,
      ownKeysOnly,
      refusesUnpriced: settings.unknownPrice === 'refuse',
    }
    admitted = new Admitted(planned, identity, terms, clock)
    return admitted
  }

  return (planned) => {
    const under = (scopes: readonly Scope[]): Admitted | Promise<Admitted> =>
      scopes.length === 0
        ? new Admitted(planned, identityOf(clock, ids), unboundTerms(parts.settings()), clock)
        : admitUnder(planned, scopes)
    const scopes = ledger.scopesOf(planned.caller)
    return scopes instanceof Promise ? scopes.then(under, (cause: unknown) => Promise.reject(storageAway(cause))) : under(scopes)
  }
}

/** Admits a request that is answered without a provider: it costs nothing, so no budget is asked. */
export const admitFree = (planned: Planned, clock: Clock, ids: IdSource): Admitted =>
  new Admitted(planned, identityOf(clock, ids), FREE, clock)

const FREE: Terms = { hold: null, assumedPrices: null, emptyIsFree: true, ownKeysOnly: false, refusesUnpriced: false }

/**
 * Ids that grow with time land on neighbouring pages of their index. Random ids cost storage twice the writing, and so do ids whose time
 * part is only a second that they share with a thousand others.
 */
const identityOf = (clock: Clock, ids: IdSource): Identity => {
  const createdMs = clock.now()
  return { generationId: ids.prefixed(`gen-${Math.floor(createdMs)}`), createdMs, startedMs: clock.monotonicMs() }
}

const refuseUnpriced = ({ plan }: Planned): void => {
  const unpriced = plan.attempts.find(({ endpoint }) => endpoint.prices === null)
  if (unpriced !== undefined) throw unknownPrice(unpriced)
}

/** The terms of a request whose caller has no budgets. */
const unboundTerms = ({ emptyAnswers }: BudgetSettings): Terms => ({
  hold: null,
  assumedPrices: null,
  emptyIsFree: emptyAnswers === 'free',
  ownKeysOnly: false,
  refusesUnpriced: false,
})

/**
 * Admits an inference that an already admitted one needs, such as the question that a tool asks a model, on the terms of the outer one. Its
 * cost is held when its body goes out. Throws 402 and 403.
 */
export const admitWithin = (outer: Admitted, planned: Planned, clock: Clock, isAdvice = false): Admitted => {
  const { ownKeysOnly, refusesUnpriced } = outer.terms
  const attempts = planned.plan.attempts.filter(({ customerKey }) => customerKey !== undefined || !ownKeysOnly)
  if (attempts.length === 0) throw new GatewayError('payment_required', OWN_KEYS_ONLY)
  const asked = { ...planned, plan: { ...planned.plan, attempts } }
  if (refusesUnpriced) refuseUnpriced(asked)
  const hold = outer.hold?.within(asked) ?? null
  const identity = { generationId: outer.generationId, createdMs: clock.now(), startedMs: clock.monotonicMs() }
  const inner = new Admitted(asked, identity, { ...outer.terms, hold }, clock)
  outer.needs(inner, isAdvice)
  return inner
}

const OWN_KEYS_ONLY = 'This request may use only your own provider keys, and you have none for this model.'

/**
 * Says whether the error means that the money is not there. Any other fault, such as unavailable storage, may have left a hold under this
 * id.
 */
const isRefusal = (thrown: unknown): boolean => thrown instanceof GatewayError && (thrown.status === 402 || thrown.status === 403)

const unknownPrice = ({ model, endpoint }: Plan['attempts'][number]): GatewayError =>
  new GatewayError(
    'permission_denied',
    `No price is configured for ${model.id} at ${endpoint.provider.name}, so the budgets of this key cannot be enforced. ` +
      `The operator can set its prices, or budgets.unknown_price: default.`,
    { metadata: { reason: 'unknown_price', model: model.id, provider_name: endpoint.provider.name } },
  )
