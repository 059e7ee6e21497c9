/** The money of the budgets that is held for one request. Each inference that its answer takes has a share of it, and may ask for more. */
import type { Demand } from '../../ledger/admissions.ts'
import type { Ledger } from '../../ledger/ledger.ts'

export class Purse {
  readonly #demand: Demand
  readonly #ledger: Pick<Ledger, 'grow'>
  #heldNanos: number
  /** The sum of all shares: never more than is held, except for what an answer cost beyond its share. */
  #sharedNanos: number
  /** Several inferences may ask at once: each waits for the one before, so that none counts money that another one takes. */
  #growing = Promise.resolve()

  constructor(demand: Demand, ledger: Pick<Ledger, 'grow'>) {
    this.#demand = demand
    this.#ledger = ledger
    this.#heldNanos = demand.estimateNanos
    this.#sharedNanos = demand.estimateNanos
  }

  get heldNanos(): number {
    return this.#heldNanos
  }

  /** Adds to a share. Wait for it before spending the money; throws 402, 403 and 503 if the budgets cannot pay for it. */
  add(nanos: number): Promise<void> {
    const grown = this.#growing.then(() => this.#grow(nanos))
    // The caller gets the failure; the next in the queue runs either way.
    this.#growing = grown.catch(() => undefined)
    return grown
  }

  /** An inference has ended: the part of its share that it did not spend is free for the next. */
  release(nanos: number): void {
    this.#sharedNanos -= nanos
  }

  async #grow(nanos: number): Promise<void> {
    const neededNanos = this.#sharedNanos + nanos
    if (neededNanos > this.#heldNanos) {
      await this.#ledger.grow({ ...this.#demand, estimateNanos: neededNanos })
      this.#heldNanos = neededNanos
    }
    this.#sharedNanos += nanos
  }
}
