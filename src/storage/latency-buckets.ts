/** Latencies as counts in 24 buckets: sums of sums, from which any percentile of any selection can be read again. */

const BUCKETS = 24
const FIRST_MS = 10
/** Each bucket ends at so many times the end of the one before it: the last one begins at five minutes. */
const GROWTH = 1.6

/** Where each bucket but the last one ends, in milliseconds. */
export const BUCKET_ENDS: readonly number[] = Array.from({ length: BUCKETS - 1 }, (_, index) => Math.round(FIRST_MS * GROWTH ** index))

export const bucketOf = (ms: number): number => {
  const index = BUCKET_ENDS.findIndex((end) => ms < end)
  return index === -1 ? BUCKETS - 1 : index
}

export const LATENCIES = ['ttft', 'total'] as const
export type Latency = (typeof LATENCIES)[number]

/** The column that counts a bucket. */
export const bucketColumn = (latency: Latency, bucket: number): BucketColumn => `${latency}_${bucket}`

export type BucketColumn = `${Latency}_${number}`

export const BUCKET_COLUMNS: readonly BucketColumn[] = LATENCIES.flatMap((latency) =>
  Array.from({ length: BUCKETS }, (_, bucket) => bucketColumn(latency, bucket)),
)

/** The percentile that lies in the buckets, as if those of a bucket lay evenly in it; null where there is nothing in any. */
export const percentileOf = (counts: readonly number[], share: number): number | null => {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all <= 0) return null
  let below = 0
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && below + count >= share * all) {
      const start = BUCKET_ENDS[bucket - 1] ?? 0
      const end = BUCKET_ENDS[bucket] ?? start * GROWTH
      return Math.round(start + ((end - start) * (share * all - below)) / count)
    }
    below += count
  }
  return null
}
