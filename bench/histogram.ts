/** Latencies in buckets 1 % apart: memory is constant, whatever the number of requests. */

export interface Histogram {
  add(milliseconds: number): void
  /** The latency that this share (0 to 1) of the requests did not exceed, to within 1 %. */
  percentile(share: number): number
}

const SMALLEST_MS = 0.01
const STEP = Math.log(1.01)
const BUCKETS = 2000

export const createHistogram = (): Histogram => {
  const counts = new Uint32Array(BUCKETS)
  let total = 0
  return {
    add(milliseconds) {
      const bucket = Math.floor(Math.log(Math.max(milliseconds, SMALLEST_MS) / SMALLEST_MS) / STEP)
      counts[Math.min(bucket, BUCKETS - 1)]! += 1
      total += 1
    },
    percentile(share) {
      let left = Math.max(1, Math.ceil(total * share))
      const bucket = counts.findIndex((count) => (left -= count) <= 0)
      return SMALLEST_MS * Math.exp((bucket + 1) * STEP)
    },
  }
}
