/** Counts successes and failures of a recent time span, in slices of time. O(1) to record, a fixed size, no timers. */
export class SlidingCounts {
  ok = 0
  failed = 0
  readonly #sliceMs: number
  readonly #oks: Uint32Array
  readonly #failures: Uint32Array
  #slice = 0

  /** The span is exact to one slice: between `slices - 1` and `slices` times `sliceMs`. */
  constructor(sliceMs: number, slices: number) {
    this.#sliceMs = sliceMs
    this.#oks = new Uint32Array(slices)
    this.#failures = new Uint32Array(slices)
  }

  add(nowMs: number, failed: boolean): void {
    this.advance(nowMs)
    const position = this.#slice % this.#oks.length
    if (failed) {
      this.failed += 1
      this.#failures[position] = (this.#failures[position] ?? 0) + 1
    } else {
      this.ok += 1
      this.#oks[position] = (this.#oks[position] ?? 0) + 1
    }
  }

  /** Drops counts that are older than the span. */
  advance(nowMs: number): this {
    const slice = Math.floor(nowMs / this.#sliceMs)
    const slices = this.#oks.length
    const steps = Math.min(slice - this.#slice, slices)
    for (let step = 1; step <= steps; step += 1) {
      const position = (this.#slice + step) % slices
      this.ok -= this.#oks[position] ?? 0
      this.failed -= this.#failures[position] ?? 0
      this.#oks[position] = 0
      this.#failures[position] = 0
    }
    this.#slice = Math.max(slice, this.#slice)
    return this
  }

  /** The share of successes, 0 to 1; null if there were no events. */
  share(nowMs: number): number | null {
    const { ok, failed } = this.advance(nowMs)
    return ok + failed === 0 ? null : ok / (ok + failed)
  }
}
