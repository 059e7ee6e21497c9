/** A request that was admitted: one id, one permit, one hold and one settlement, however many runs its answer takes. */
import type { Call } from '../canonical/call.ts'
import { NO_COST } from '../canonical/cost.ts'
import { inputTokens, type Iteration, NO_USAGE, outputTokens } from '../canonical/usage.ts'
import type { Warning } from '../canonical/warning.ts'
import { errorRow, type GatewayError } from '../errors.ts'
import { isGuardrailBlock } from '../guardrails/detections.ts'
import type { KeepText } from '../formats/format.ts'
import type { Clock } from '../lib/clock.ts'
import type { CacheHit, CacheUse } from './cache/cache-use.ts'
import type { Hold } from './admit/hold.ts'
import { isJudges, type Judge } from './judge/judge.ts'
import { isServiceStop } from './service-stop.ts'
import type { LoopReport } from './loop/loop-report.ts'
import { AttemptLog } from './run/attempt-log.ts'
import type { AttemptOutcome } from './run/attempt-outcome.ts'
import { billOf, joinedBills, withFees, withInner, type Bill, type BillTerms } from './run/bill.ts'
import { Connection } from './run/connection.ts'
import type { Planned } from './request.ts'
import { isUnheldTools } from './unheld-tools.ts'

/** The time when the request was planned, and the id under which it is recorded. */
export interface Identity {
  readonly generationId: string
  /** The same moment by the wall clock and by the monotonic clock. */
  readonly createdMs: number
  readonly startedMs: number
}

/** The terms on which the request was admitted. */
export interface Terms extends BillTerms {
  /** Null if the caller has no budgets. */
  readonly hold: Hold | null
  /** The budgets cannot pay for the service's keys, so only the customer's own keys are used. */
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

/** The record's account of a search that was made before the answer. */
export interface SearchBefore {
  readonly engine: string
  readonly results: number
}

/** Reports the status of an answer; the code that writes the answer knows it. */
export interface StatusReporter {
  /** Null if no status is sent. */
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
  /** Inferences that the answer needed, each with a run of its own; their cost is the price of a tool. */
  readonly #inner: Admitted[] = []
  /** The bill for the turns before the current one: an answer that runs tools takes several turns. */
  #earlier: Bill | null = null
  /** The same earlier turns, one by one. */
  readonly #turns: Iteration[] = []
  /** For an inner inference: the index of the outer answer's turn after which it was asked, and whether an advisor asked it. */
  #behindTurn = 0
  #isAdvice = false
  #feeNanos = 0
  /** The report of the tool loop; null if the service runs no tools for this request. */
  loop: LoopReport | null = null
  /** The search that was made before the answer; null if none was made. */
  searched: SearchBefore | null = null
  statusReporter = REAL_STATUS
  /** The outcome of the response cache for this request; null if the cache was not asked. */
  cache: CacheUse | null = null
  /** Takes room for characters of the answer that its rendering keeps; see AnswerHead. */
  keepText: KeepText | undefined = undefined
  /** Judges the answer against the rules of the plugin `alignment`; null if there is no judge. */
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

  /** Computed from the log as it stands. */
  get bill(): Bill {
    if (this.hit !== null) return NOTHING_USED
    const own = this.#ownBill
    return this.#inner.length === 0 ? own : this.#inner.reduce((sum, { bill }) => withInner(sum, bill.cost), own)
  }

  /** The cached answer that the request gets; null if it is answered anew. */
  get hit(): CacheHit | null {
    return this.cache?.outcome === 'hit' ? this.cache : null
  }

  /** The bill without the inner inferences. */
  get #ownBill(): Bill {
    const turn = billOf(this.log, this.terms)
    const turns = this.#earlier === null ? turn : joinedBills(this.#earlier, turn)
    return this.#feeNanos === 0 ? turns : withFees(turns, this.#feeNanos)
  }

  get innerTokens(): number {
    return this.#inner.reduce((sum, { bill, innerTokens }) => sum + inputTokens(bill.usage) + outputTokens(bill.usage) + innerTokens, 0)
  }

  get innerAttempts(): readonly AttemptOutcome[] {
    return this.#inner.flatMap(({ log, innerAttempts }) => [...log.attempts, ...innerAttempts])
  }

  /** The model goes on after its tools: the turn so far is billed, and the hold counts its cost as spent. */
  nextTurn(): void {
    const turn = billOf(this.log, this.terms)
    this.#earlier = this.#earlier === null ? turn : joinedBills(this.#earlier, turn)
    this.#turns.push(this.#iteration(turn))
    this.log.nextTurn()
    this.hold?.spend(this.#spentNanos)
  }

  /** The calls of models that are in this answer, in order: its own turns, each followed by the advice that was asked after it. */
  get iterations(): readonly Iteration[] {
    const turns = [...this.#turns, this.#iteration(billOf(this.log, this.terms))]
    return turns
      .flatMap((turn, index) => [
        turn,
        ...this.#inner.flatMap((inner) => (inner.#isAdvice && inner.#behindTurn === index ? inner.iterations : [])),
      ])
      .filter(({ usage }) => inputTokens(usage) + outputTokens(usage) > 0)
  }

  #iteration({ usage }: Pick<Bill, 'usage'>): Iteration {
    const model = this.log.current?.planned.model.id ?? this.request.requested
    return { type: this.#isAdvice ? 'advisor_message' : 'message', model, usage }
  }

  /** True if the budgets can pay for tools that may cost this much, and for finishing the answer after them. */
  canPay(feeNanos: number): true | Promise<boolean> {
    return this.hold === null || feeNanos === 0 ? true : this.hold.coversFees(this.#spentNanos, feeNanos)
  }

  /** Budgets may also count what a customer's own key costs. */
  get #spentNanos(): number {
    const { totalNanos, customersNanos } = this.#ownBill.cost
    return totalNanos + customersNanos
  }

  /**
   * The answer needs another inference, such as an advisor's. Its cost is part of this one's from now on, and it ends no later than this
   * one.
   */
  needs(inner: Admitted, isAdvice: boolean): void {
    inner.#behindTurn = this.#turns.length
    inner.#isAdvice = isAdvice
    this.#inner.push(inner)
  }

  /** Adds the fee of a tool that was paid for. */
  charge(feeNanos: number): void {
    this.#feeNanos += feeNanos
  }

  /** The losses of the answer: those of the request itself, and those of its translation for the provider that answers. */
  get warnings(): readonly Warning[] {
    const { trying, error, said } = this.log
    // While an attempt goes on, the last one's failure is not the answer.
    const answered = trying ? NONE : answeredError(error, this.request.call)
    return [...this.request.warnings, ...this.request.plan.warnings, ...said.losses, ...answered]
  }

  /** The status that has been sent to the client by now; null if the client left before. */
  get httpStatus(): number | null {
    return this.statusReporter.statusOf(this.log)
  }

  /**
   * True if a failure of this request is our own refusal: no provider was asked, a guardrail or a judge withholds the answer, the budgets
   * cannot pay for its tools, or the service is stopping (docs/contract/errors.md#own-checks).
   */
  refuses(error: GatewayError): boolean {
    return !this.log.asked || isGuardrailBlock(error) || isJudges(error) || isUnheldTools(error) || isServiceStop(error)
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

const NONE: readonly Warning[] = []

const NOTHING_USED: Bill = { usage: NO_USAGE, cost: NO_COST, costIsAssumed: false }

/**
 * On Responses an error about length is given as an answer (docs/contract/errors.md#length-errors); only this warning says what happened.
 */
const answeredError = (error: GatewayError | null, { dialect }: Call): readonly Warning[] =>
  error === null || dialect !== 'responses' || errorRow(error.type).length !== true
    ? NONE
    : [{ code: 'answered_error', field: 'input', message: error.publicMessage, error_type: error.type }]
