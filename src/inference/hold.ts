/**
 * What is held of the budgets for one request. Nothing goes out that may cost more: each body is measured as it leaves,
 * after all that presets, rules and translations made of it, and where it may cost more, the hold grows first, or the
 * body stays here.
 */
import { GatewayError } from '../errors.ts'
import type { Demand } from '../ledger/admissions.ts'
import { type EstimateSettings, outgoingNanos, unlimitedOutput } from '../ledger/estimate.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { ModelEndpoint } from '../models/models.ts'
import { type UpstreamRequest, wireBody } from '../providers/upstream.ts'
import type { PlannedAttempt } from '../routing/plan-attempts.ts'
import { dialectOf } from './run/dialect-of.ts'
import type { Planned } from './stages.ts'

export class Hold {
  readonly #request: Planned
  readonly #demand: Demand
  readonly #settings: EstimateSettings
  readonly #ledger: Pick<Ledger, 'grow'>
  #nanos: number
  /** What earlier turns of the answer cost. */
  #spentNanos = 0
  /** How many times the cost of a body must fit: an answer that runs tools keeps enough for one more turn, which is longer. */
  #turns: number
  #ranDry = false

  constructor(request: Planned, demand: Demand, settings: EstimateSettings, ledger: Pick<Ledger, 'grow'>) {
    this.#request = request
    this.#demand = demand
    this.#settings = settings
    this.#ledger = ledger
    this.#nanos = demand.estimateNanos
    this.#turns = request.tools === null ? 1 : TURNS_HELD
  }

  /** A body could not go out for want of money. */
  get ranDry(): boolean {
    return this.#ranDry
  }

  /** What the turns so far cost, of which nothing is left for the next one. */
  spend(nanos: number): void {
    this.#spentNanos = nanos
  }

  /** The turn that follows is the last one. */
  useReserve(): void {
    this.#turns = 1
  }

  get nanos(): number {
    return this.#nanos
  }

  /** The limit of output that goes to an endpoint whose dialect wants one; null where the request has its own. */
  outputTokens(endpoint: ModelEndpoint): number | null {
    const { call } = this.#request
    return call.maxOutputTokens === null ? unlimitedOutput(call.body, endpoint, this.#settings) : null
  }

  /** To be waited for before a body goes out. Throws 402, 403 and 503 where it may cost more than can be held. */
  cover(planned: PlannedAttempt, body: UpstreamRequest['body']): undefined | Promise<void> {
    const { call, apiType } = this.#request
    const measured = outgoingNanos(wireBody(body), { dialect: dialectOf(planned, call), apiType }, planned, this.#settings)
    const needed = this.#spentNanos + measured * this.#turns
    return needed <= this.#nanos ? undefined : this.#grow(needed)
  }

  async #grow(estimateNanos: number): Promise<void> {
    try {
      await this.#ledger.grow({ ...this.#demand, estimateNanos })
      this.#nanos = estimateNanos
    } catch (refused) {
      this.#ranDry = refused instanceof GatewayError && (refused.status === 402 || refused.status === 403)
      throw refused
    }
  }
}

/** The turn itself, and a last one that has read all of it and says as much again. */
export const TURNS_HELD = 3
