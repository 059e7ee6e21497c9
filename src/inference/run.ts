/** One inference: what was asked, who is to answer, what happens to it, and what it costs. */
import type { Call } from '../canonical/call.ts'
import type { TakeFrames } from '../canonical/event.ts'
import type { Warning } from '../canonical/warning.ts'
import { errorRow, type GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { ModelEndpoint } from '../models/models.ts'
import type { UpstreamRequest } from '../providers/upstream.ts'
import type { Plan, PlannedAttempt } from '../routing/plan-attempts.ts'
import { AttemptLog } from './attempt-log.ts'
import { billOf, type Bill, type BillTerms } from './bill.ts'
import { Connection } from './connection.ts'
import type { InferenceRequest } from './inference-request.ts'

/** What a budget lets this run spend. */
export interface RunHold {
  /** The limit of output that goes to an endpoint whose dialect wants one; null where the request has its own. */
  outputTokens(endpoint: ModelEndpoint): number | null
  /** To be waited for before a body goes out. Throws 402, 403 and 503 where it may cost more than can be held. */
  cover(planned: PlannedAttempt, body: UpstreamRequest['body']): undefined | Promise<void>
}

/** What its admission settled. */
export interface RunTerms extends BillTerms {
  /** Null where nothing bounds its caller. */
  readonly hold: RunHold | null
}

type Answer = (run: Run, deliver: TakeFrames) => Promise<void>

export class Run {
  readonly request: InferenceRequest
  readonly generationId: string
  readonly createdMs: number
  readonly log: AttemptLog
  readonly connection: Connection
  readonly #answer: Answer
  #plan: Plan
  #terms: RunTerms = { hold: null, assumedPrices: null, emptyIsFree: false }

  constructor(request: InferenceRequest, plan: Plan, { clock, ids }: { readonly clock: Clock; readonly ids: IdSource }, answer: Answer) {
    this.request = request
    this.#plan = plan
    this.createdMs = clock.now()
    // Ids that grow with time land on neighbouring pages of their index: a random one costs storage twice the writing.
    this.generationId = ids.prefixed(`gen-${Math.floor(this.createdMs / 1000)}`)
    this.log = new AttemptLog(request, clock)
    this.connection = new Connection(this.log, clock)
    this.#answer = answer
  }

  get plan(): Plan {
    return this.#plan
  }

  get hold(): RunHold | null {
    return this.#terms.hold
  }

  /** The budgets let it begin, on these terms and with these attempts of its plan. */
  admitted(terms: RunTerms, attempts: Plan['attempts'] = this.#plan.attempts): void {
    this.#terms = terms
    if (attempts !== this.#plan.attempts) this.#plan = { ...this.#plan, attempts }
  }

  /**
   * Hands the answer to `deliver` as it comes, and resolves when it has ended and was settled. Rejects where nothing of it was
   * said; after that a failure is its last event. To be called once; who wants no more of it leaves.
   */
  answer(deliver: TakeFrames): Promise<void> {
    return this.#answer(this, deliver)
  }

  end(): void {
    this.log.end()
    this.connection.close()
  }

  /** Worked out from the log as it stands. */
  get bill(): Bill {
    return billOf(this.log, this.#terms)
  }

  /** What the answer could not honour: of the request itself, and of the translation to the provider that answers. */
  get warnings(): readonly Warning[] {
    const { trying, error, said } = this.log
    // While an attempt goes on, the last one's failure is not the answer.
    const answered = trying ? [] : answeredError(error, this.request.call)
    return [...this.request.warnings, ...this.#plan.warnings, ...said.losses, ...answered]
  }
}

/** An error of length is an answer on Responses (docs/contract/errors.md#length-errors), in which nothing else tells what happened. */
const answeredError = (error: GatewayError | null, { dialect }: Call): readonly Warning[] =>
  error === null || dialect !== 'responses' || errorRow(error.type).length !== true
    ? []
    : [{ code: 'answered_error', field: 'input', message: error.publicMessage, error_type: error.type }]
