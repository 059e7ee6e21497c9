/** Runs and money: what a run may cost before it begins, and what it is charged when it has ended. */
import { type Usage, inputTokens, outputTokens } from '../canonical/usage.ts'
import { GatewayError } from '../errors.ts'
import { storageAway } from '../ledger/admissions.ts'
import type { Durations } from '../ledger/durations.ts'
import type { Demand } from '../ledger/admissions.ts'
import { estimateOf, type EstimateSettings, outgoingNanos, unlimitedOutput } from '../ledger/estimate.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Scope } from '../ledger/scope.ts'
import type { LedgerEntry, Settlement } from '../storage/settle-requests.ts'
import { dialectOf } from './dialect-of.ts'
import { costOf } from '../models/price.ts'
import { wireBody } from '../providers/upstream.ts'
import type { Plan } from '../routing/plan-attempts.ts'
import { generationRecord } from './generation-record.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import type { Run, RunHold, RunTerms } from './run.ts'

/** Lets a planned run in, or throws 402, 403 or 503. Where nothing bounds its caller, at once and without a query. */
export type Admit = (run: Run) => void | Promise<void>

export interface BudgetSettings extends EstimateSettings {
  /** What happens to a model without a known price, for a caller with a budget. */
  readonly unknownPrice: 'refuse' | 'default'
  readonly emptyAnswers: 'told' | 'free'
}

export interface BudgetedRuns {
  readonly admit: Admit
  /** Of a run that has ended, once. */
  settlement(run: Run): Settlement
}

export const createBudgetedRuns = (parts: {
  readonly ledger: Pick<Ledger, 'scopesOf' | 'admit' | 'grow' | 'ended'>
  readonly durations: Durations
  /** As the configuration has them now. */
  readonly settings: () => BudgetSettings
  /** Told of nano-dollars that a run cost beyond its hold. */
  readonly onOvershoot: (run: Run, nanos: number) => void
}): BudgetedRuns => {
  const { ledger, durations } = parts
  /** What is held for each run, from its admission to its end. */
  const held = new WeakMap<Run, number>()

  /** With a customer's own keys only those scopes are spent that count them; the service's keys are used where they are paid for. */
  const admitUnder = async (run: Run, scopes: readonly Scope[], settings: BudgetSettings): Promise<void> => {
    const { attempts } = run.plan
    const own = attempts.filter(({ customerKey }) => customerKey !== undefined)
    if (own.length < attempts.length) {
      try {
        await hold(run, attempts, scopes, settings)
        return
      } catch (refused) {
        if (own.length === 0 || !isRefusal(refused)) throw refused
      }
    }
    const counting = scopes.filter(({ includeByok }) => includeByok)
    await hold(run, own, counting, settings)
  }

  const hold = async (run: Run, attempts: Plan['attempts'], scopes: readonly Scope[], settings: BudgetSettings): Promise<void> => {
    if (scopes.length === 0) {
      run.admitted(unboundTerms(settings), attempts)
      return
    }
    const unpriced = attempts.find(({ endpoint }) => endpoint.prices === null)
    if (unpriced !== undefined && settings.unknownPrice === 'refuse') throw unknownPrice(unpriced)
    const { mostNanos, promptNanos } = estimateOf(run.request, attempts, settings)
    const first = attempts[0]
    const model = first?.model.id ?? ''
    const demand: Demand = {
      id: run.generationId,
      spender: run.request.caller,
      atMs: run.createdMs,
      scopes,
      estimateNanos: mostNanos,
      // A customer's own key is no cost of the service, whoever dies.
      promptNanos: first?.customerKey === undefined ? promptNanos : 0,
      provider: first?.endpoint.provider.slug ?? null,
      expectedMs: durations.expectedMs(model),
    }
    await ledger.admit(demand, () => run.bill.cost.totalNanos ?? 0)
    held.set(run, mostNanos)
    const terms = { ...unboundTerms(settings), hold: holdOf(run, demand, settings), assumedPrices: settings.assumedPrices }
    run.admitted(terms, attempts)
  }

  /**
   * Nothing goes out that may cost more than is held: each body is measured as it leaves, after all that presets, rules and
   * translations made of it, and where it may cost more, the hold grows first, or the body stays here.
   */
  const holdOf = (run: Run, demand: Demand, settings: BudgetSettings): RunHold => {
    const { call, apiType } = run.request
    return {
      outputTokens: (endpoint) => (call.maxOutputTokens === null ? unlimitedOutput(call.body, endpoint, settings) : null),
      cover(planned, body) {
        const dialect = dialectOf(planned, call)
        const estimateNanos = outgoingNanos(wireBody(body), { dialect, apiType }, planned, settings)
        if (estimateNanos <= (held.get(run) ?? 0)) return undefined
        return ledger.grow({ ...demand, estimateNanos }).then(() => void held.set(run, estimateNanos))
      },
    }
  }

  return {
    admit(run) {
      const settings = parts.settings()
      const under = (scopes: readonly Scope[]): void | Promise<void> =>
        scopes.length === 0 ? run.admitted(unboundTerms(settings)) : admitUnder(run, scopes, settings)
      const scopes = ledger.scopesOf(run.request.caller)
      return scopes instanceof Promise ? scopes.then(under, (cause: unknown) => Promise.reject(storageAway(cause))) : under(scopes)
    },
    settlement(run) {
      const record = generationRecord(run)
      const heldNanos = held.get(run)
      if (heldNanos !== undefined) {
        ledger.ended(run.generationId)
        const over = record.costNanos + record.byokCostNanos - heldNanos
        if (over > 0) parts.onOvershoot(run, over)
      }
      const { attempts, error, durationMs } = run.log
      if (error === null) durations.add(record.model, durationMs)
      const { usage, cost } = run.bill
      return {
        record,
        userId: run.request.caller.userId,
        held: heldNanos !== undefined,
        final: {
          attempt: Math.max(0, attempts.length - 1),
          provider: record.provider,
          amountNanos: record.costNanos,
          byokNanos: record.byokCostNanos,
          upstreamNanos: attempts.length === 0 ? null : cost.upstreamNanos,
          estimated: usage.estimated,
          usage: usageText(usage),
        },
        attempts: attempts.slice(0, -1).flatMap(failedAttempt),
      }
    },
  }
}

/** Nothing bounds its caller. */
const unboundTerms = ({ emptyAnswers }: BudgetSettings): RunTerms => ({
  hold: null,
  assumedPrices: null,
  emptyIsFree: emptyAnswers === 'free',
})

/** The money is not there. Anything else, such as storage that is away, may have left a hold behind under this very id. */
const isRefusal = (thrown: unknown): boolean => thrown instanceof GatewayError && (thrown.status === 402 || thrown.status === 403)

/** An attempt that used something and failed is on the operator's bill, perhaps, and never on the customer's. */
const failedAttempt = ({ planned, usage }: AttemptOutcome, attempt: number): readonly LedgerEntry[] => {
  if (inputTokens(usage) + outputTokens(usage) === 0) return []
  return [
    {
      attempt,
      provider: planned.endpoint.provider.slug,
      amountNanos: 0,
      byokNanos: 0,
      upstreamNanos: costOf(usage, planned.endpoint.prices).upstreamNanos,
      estimated: usage.estimated,
      usage: usageText(usage),
    },
  ]
}

/** What was counted, without the zeros. */
const usageText = (usage: Usage): string => {
  const counted: Record<string, Usage[keyof Usage]> = {}
  for (const [name, value] of Object.entries(usage)) if (value !== 0 && value !== null && value !== false) counted[name] = value
  return JSON.stringify(counted)
}

const unknownPrice = ({ model, endpoint }: Plan['attempts'][number]): GatewayError =>
  new GatewayError(
    'permission_denied',
    `No price is configured for ${model.id} at ${endpoint.provider.name}, so the budgets of this key cannot be enforced. ` +
      `The operator can set its prices, or budgets.unknown_price: default.`,
    { metadata: { reason: 'unknown_price', model: model.id, provider_name: endpoint.provider.name } },
  )
