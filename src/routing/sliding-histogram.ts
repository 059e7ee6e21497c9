/** Percentiles of measurements in a recent time span: a logarithmic histogram in slices of time. A fixed size, no timers. */
export const PERCENTILES = ['p50', 'p75', 'p90', 'p99'] as const
export type PercentileName = (typeof PERCENTILES)[number]
export type Percentiles = Readonly<Record<PercentileName, number>>

/** Each bucket is wider than the one before by this factor, so a result is off by at most half of that. */
const RATIO = 1.05
const LOG_RATIO = Math.log(RATIO)
/** From 1 to four million: a millisecond to over an hour. */
const BUCKETS = 312
const SLICES = 10

export class SlidingHistogram {
  readonly #sliceMs: number
  readonly #slices: Uint16Array[] = []
  readonly #total = new Uint32Array(BUCKETS)
  #count = 0
  #slice = 0

  /** The span is exact to a tenth of it. */
  constructor(spanMs: number) {
    this.#sliceMs = spanMs / SLICES
    for (let index = 0; index < SLICES; index += 1) this.#slices.push(new Uint16Array(BUCKETS))
  }

  add(nowMs: number, value: number): void {
    this.#advance(nowMs)
    const bucket = value <= 1 ? 0 : Math.min(BUCKETS - 1, Math.floor(Math.log(value) / LOG_RATIO))
    const counts = this.#slices[this.#slice % SLICES]
    const count = counts?.[bucket]
    // Further values of a full bucket would hardly change the percentiles.
    if (counts === undefined || count === undefined || count === 0xffff) return
    counts[bucket] = count + 1
    this.#total[bucket] = (this.#total[bucket] ?? 0) + 1
    this.#count += 1
  }

  /** Null if nothing was measured. */
  percentiles(nowMs: number): Percentiles | null {
    this.#advance(nowMs)
    return this.#count === 0 ? null : { p50: this.#at(0.5), p75: this.#at(0.75), p90: this.#at(0.9), p99: this.#at(0.99) }
  }

  #at(share: number): number {
    const wanted = Math.ceil(this.#count * share)
    let passed = 0
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      passed += this.#total[bucket] ?? 0
      if (passed >= wanted) return RATIO ** (bucket + 0.5)
    }
    return RATIO ** BUCKETS
  }

  #advance(nowMs: number): void {
    const slice = Math.floor(nowMs / this.#sliceMs)
    const steps = Math.min(slice - this.#slice, SLICES)
    for (let step = 1; step <= steps; step += 1) this.#clear(this.#slices[(this.#slice + step) % SLICES])
    this.#slice = Math.max(slice, this.#slice)
  }

  #clear(counts: Uint16Array | undefined): void {
    if (counts === undefined) return
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      const count = counts[bucket] ?? 0
      if (count === 0) continue
      this.#total[bucket] = (this.#total[bucket] ?? 0) - count
      this.#count -= count
      counts[bucket] = 0
    }
  }
}
