/** A request that was let in: one id, one permit, one hold and one settlement, however many runs its answer takes. */
import type { Call } from '../canonical/call.ts'
import { NO_COST } from '../canonical/cost.ts'
import { inputTokens, type Iteration, NO_USAGE, outputTokens } from '../canonical/usage.ts'
import type { Warning } from '../canonical/warning.ts'
import { errorRow, type GatewayError } from '../errors.ts'
import { isGuardrailBlock } from '../guardrails/detections.ts'
import type { Clock } from '../lib/clock.ts'
import type { CacheHit, CacheUse } from './cache/cache-use.ts'
import type { Hold } from './hold.ts'
import { isJudges, type Judge } from './judge/judge.ts'
import { isServiceStop } from './service-stop.ts'
import type { LoopReport } from './loop/loop-report.ts'
import { AttemptLog } from './run/attempt-log.ts'
import type { AttemptOutcome } from './run/attempt-outcome.ts'
import { billOf, joinedBills, withFees, withInner, type Bill, type BillTerms } from './run/bill.ts'
import { Connection } from './run/connection.ts'
import type { Planned } from './stages.ts'

/** The time when it was planned, and the id under which it is recorded. */
export interface Identity {
  readonly generationId: string
  /** By the wall clock, and by the monotonic one. */
  readonly createdMs: number
  readonly startedMs: number
}

/** The terms that its admission settled. */
export interface Terms extends BillTerms {
  /** Null where nothing bounds its caller. */
  readonly hold: Hold | null
  /** The budgets do not bear the service's keys, so only the customer's own keys are used. */
  readonly ownKeysOnly: boolean
  /** Endpoints without a known price are not asked. */
  readonly refusesUnpriced: boolean
}

/** A request whose answer has ended: nothing about it changes any more. */
export interface Finished extends Pick<
  Admitted,
  | 'request'
  | 'generationId'
  | 'createdMs'
  | 'hold'
  | 'log'
  | 'connection'
  | 'loop'
  | 'searched'
  | 'innerAttempts'
  | 'warnings'
  | 'httpStatus'
  | 'cache'
  | 'hit'
> {
  readonly bill: Bill
}

/** The record's account of a search before the answer. */
export interface SearchBefore {
  readonly engine: string
  readonly results: number
}

/** The part that writes the answer knows its status. */
export interface StatusReporter {
  /** Null where no status is sent. */
  statusOf(log: Pick<AttemptLog, 'error' | 'cancelled'>): number | null
}

const REAL_STATUS: StatusReporter = { statusOf: ({ error, cancelled }) => (cancelled ? null : (error?.status ?? 200)) }

export class Admitted {
  readonly request: Planned
  readonly generationId: string
  readonly createdMs: number
  readonly hold: Hold | null
  readonly log: AttemptLog
  readonly connection: Connection
  readonly terms: Terms
  /** Inferences that it needed, each with a run of its own: what they cost is the price of a tool. */
  readonly #inner: Admitted[] = []
  /** The bill for the turns before the current one: an answer that runs tools takes several. */
  #earlier: Bill | null = null
  /** The same turns one by one. */
  readonly #turns: Iteration[] = []
  /** The turn of the outer answer behind which it was asked, and whether an advisor asked it. */
  #behindTurn = 0
  isAdvice = false
  #feeNanos = 0
  /** The account of its tools; null where the service runs none. */
  loop: LoopReport | null = null
  /** The search that went before the answer; null: none was made. */
  searched: SearchBefore | null = null
  statusReporter = REAL_STATUS
  /** The work of the response cache for it; null: it was not asked. */
  cache: CacheUse | null = null
  /** The judge of its messages; null: none. */
  judge: Judge | null = null

  constructor(request: Planned, { generationId, createdMs, startedMs }: Identity, terms: Terms, clock: Clock) {
    this.request = request
    this.generationId = generationId
    this.createdMs = createdMs
    this.hold = terms.hold
    this.log = new AttemptLog(request, clock, startedMs)
    this.connection = new Connection(this.log, clock)
    this.terms = terms
  }

  /** Worked out from the log as it stands. */
  get bill(): Bill {
    if (this.hit !== null) return NOTHING_USED
    const own = this.#ownBill
    return this.#inner.length === 0 ? own : this.#inner.reduce((sum, { bill }) => withInner(sum, bill.cost), own)
  }

  /** The kept answer that it gets; null: it is answered anew. */
  get hit(): CacheHit | null {
    return this.cache?.outcome === 'hit' ? this.cache : null
  }

  /** Without what it needed of other models. */
  get #ownBill(): Bill {
    const turn = billOf(this.log, this.terms)
    const turns = this.#earlier === null ? turn : joinedBills(this.#earlier, turn)
    return this.#feeNanos === 0 ? turns : withFees(turns, this.#feeNanos)
  }

  /** Prompt and completion of all models that it needed beside its own. */
  get innerTokens(): number {
    return this.#inner.reduce((sum, { bill, innerTokens }) => sum + inputTokens(bill.usage) + outputTokens(bill.usage) + innerTokens, 0)
  }

  /** The attempts at other models that it needed. */
  get innerAttempts(): readonly AttemptOutcome[] {
    return this.#inner.flatMap(({ log, innerAttempts }) => [...log.attempts, ...innerAttempts])
  }

  /** The model goes on after its tools: what it said so far is counted, and its hold shrinks by that cost. */
  nextTurn(): void {
    const turn = billOf(this.log, this.terms)
    this.#earlier = this.#earlier === null ? turn : joinedBills(this.#earlier, turn)
    this.#turns.push(this.#iteration(turn))
    this.log.nextTurn()
    this.hold?.spend(this.#spentNanos)
  }

  /** The calls of models that are in its answer, in order: of its own turns, each with the advice that was asked behind it. */
  get iterations(): readonly Iteration[] {
    const turns = [...this.#turns, this.#iteration(billOf(this.log, this.terms))]
    return turns
      .flatMap((turn, index) => [
        turn,
        ...this.#inner.flatMap((inner) => (inner.isAdvice && inner.#behindTurn === index ? inner.iterations : [])),
      ])
      .filter(({ usage }) => inputTokens(usage) + outputTokens(usage) > 0)
  }

  #iteration({ usage }: Pick<Bill, 'usage'>): Iteration {
    const model = this.log.current?.planned.model.id ?? this.request.requested
    return { type: this.isAdvice ? 'advisor_message' : 'message', model, usage }
  }

  /** Says whether the budgets bear tools that may cost this much, and an end of the answer behind them. */
  canPay(feeNanos: number): true | Promise<boolean> {
    return this.hold === null || feeNanos === 0 ? true : this.hold.coversFees(this.#spentNanos, feeNanos)
  }

  /** Budgets may count what a customer's own key costs, too. */
  get #spentNanos(): number {
    const { totalNanos, customersNanos } = this.#ownBill.cost
    return totalNanos + customersNanos
  }

  /** Its answer needs another inference. The cost of that one is part of its own from now on, and it ends at the latest with this one. */
  needs(inner: Admitted): void {
    inner.#behindTurn = this.#turns.length
    this.#inner.push(inner)
  }

  /** A tool was paid for. */
  charge(feeNanos: number): void {
    this.#feeNanos += feeNanos
  }

  /** The losses of the answer: of the request itself, and of the translation to the provider that answers. */
  get warnings(): readonly Warning[] {
    const { trying, error, said } = this.log
    // While an attempt goes on, the last one's failure is not the answer.
    const answered = trying ? [] : answeredError(error, this.request.call)
    return [...this.request.warnings, ...this.request.plan.warnings, ...said.losses, ...answered]
  }

  /** The status that has been sent to the client by now; null where it left before. */
  get httpStatus(): number | null {
    return this.statusReporter.statusOf(this.log)
  }

  /**
   * Says whether a failure of this request is our own refusal: no provider was asked, a guardrail or a judge keeps the answer back, or the service stops
   * (docs/contract/errors.md#own-checks).
   */
  refuses(error: GatewayError): boolean {
    return !this.log.asked || isGuardrailBlock(error) || isJudges(error) || isServiceStop(error)
  }

  end(): Finished {
    const { request, generationId, createdMs, hold, log, connection, loop, searched, innerAttempts, cache, hit } = this
    for (const inner of this.#inner) inner.endWithin()
    log.end()
    connection.close()
    const { bill, warnings, httpStatus } = this
    return {
      request,
      generationId,
      createdMs,
      hold,
      log,
      connection,
      loop,
      searched,
      innerAttempts,
      warnings,
      bill,
      httpStatus,
      cache,
      hit,
    }
  }

  /** Ends an inference that another one needed: what it did not spend is free for the others. */
  endWithin(): void {
    if (this.log.ended) return
    this.end()
    this.hold?.end(this.#spentNanos)
  }
}

const NOTHING_USED: Bill = { usage: NO_USAGE, cost: NO_COST, costIsAssumed: false }

/** An error of length is an answer on Responses (docs/contract/errors.md#length-errors); nothing else in it says what happened. */
const answeredError = (error: GatewayError | null, { dialect }: Call): readonly Warning[] =>
  error === null || dialect !== 'responses' || errorRow(error.type).length !== true
    ? []
    : [{ code: 'answered_error', field: 'input', message: error.publicMessage, error_type: error.type }]
