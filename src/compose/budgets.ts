/** The parts of budgets, built and joined. */
import { type Admit, type BudgetSettings, createAdmit } from '../inference/admit/admit.ts'
import { createTurn, type LargeStep } from '../inference/large-steps.ts'
import { createGenerationRecorder, type GenerationRecorder } from '../inference/settle/record-generations.ts'
import { createBudgets, type Budgets } from '../ledger/budgets.ts'
import { createCredits, type Credits } from '../ledger/credits.ts'
import type { InFlightSettings } from '../ledger/decide.ts'
import { createDurations, type Durations } from '../ledger/durations.ts'
import { createLedger, type Ledger } from '../ledger/ledger.ts'
import { keyLimitSource, type ScopeSource } from '../ledger/scope.ts'
import type { BudgetsFile } from '../ledger/settings.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { nanosOf } from '../lib/money.ts'
import type { Database } from '../storage/database.ts'
import type { Journal } from '../storage/journal.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Nodes } from './nodes.ts'

export interface BudgetParts {
  readonly ledger: Ledger
  readonly budgets: Budgets
  readonly credits: Credits
  readonly durations: Durations
  readonly admit: Admit
  /** The nano-dollars that a request cost beyond its hold. */
  readonly onOvershoot: (generationId: string, nanos: number) => void
  readonly recorder: GenerationRecorder
}

export const composeBudgets = (parts: {
  readonly database: Database
  readonly clock: Clock
  readonly nodes: Pick<Nodes, 'sharedClock'>
  readonly ids: IdSource
  readonly log: Log
  readonly metrics: Metrics
  /** The budget settings of the newest configuration file. */
  readonly file: () => BudgetsFile
  /** Sources of limits in addition to keys, workspace budgets and credit. */
  readonly sources?: readonly ScopeSource[]
  readonly journal: Journal | null
  readonly largeStep: LargeStep
}): BudgetParts => {
  const { database, clock, ids, log, metrics, file } = parts
  const budgets = createBudgets(parts)
  const credits = createCredits(parts)
  const creditsWhereOn: ScopeSource = {
    scopes: (spender) => (file().credits ? credits.scopes(spender) : []),
    refreshCache: credits.refreshCache,
  }
  const recorder = createGenerationRecorder({
    write: (batch) => ledger.settle(batch),
    clock,
    onError: (error, waiting) => log.error({ error, waiting }, 'generation records not written'),
    ...(parts.journal === null ? {} : { journal: parts.journal }),
  })
  const ledger = createLedger({
    database,
    clock,
    sharedNow: parts.nodes.sharedClock.now,
    ids,
    sources: [keyLimitSource, budgets, creditsWhereOn, ...(parts.sources ?? [])],
    inFlight: () => inFlightOf(file()),
    settleFirst: recorder.flush,
    onError: (error, doing) => log.error({ error }, doing),
    onReaped: (holds) => log.warn({ holds }, 'requests of a process that died were charged by their last checkpoint'),
    onRepaired: (windows) => log.error({ windows }, 'held amounts were not the sum of their holds; they are now'),
  })
  const overshoot = metrics.counter(
    'patchbay_budget_overshoot_nanos_total',
    'Nano-dollars that requests cost beyond what was held for them.',
    [],
  )
  metrics.gauge('patchbay_generation_records_dropped', 'Records lost because storage was away for too long.', () => recorder.dropped)
  metrics.gauge('patchbay_held_requests', 'Requests that run under a limit.', () => ledger.running)
  const durations = createDurations()
  const admit = createAdmit({ ledger, durations, settings: () => settingsOf(file()), clock, ids, turn: createTurn(clock, parts.largeStep) })
  const onOvershoot = (generationId: string, nanos: number): void => {
    overshoot.add([], nanos)
    log.warn({ generation_id: generationId, nanos }, 'a request cost more than was held for it')
  }
  return { ledger, budgets, credits, recorder, durations, admit, onOvershoot }
}

const inFlightOf = ({ in_flight }: BudgetsFile): InFlightSettings => ({
  fraction: in_flight.fraction,
  ceilingNanos: in_flight.ceiling_usd === null ? null : nanosOf(in_flight.ceiling_usd),
})

const settingsOf = (file: BudgetsFile): BudgetSettings => ({
  unknownPrice: file.unknown_price,
  assumedPrices: file.default_price,
  maxOutputTokens: file.max_output_tokens,
  emptyAnswers: file.empty_answers,
})
