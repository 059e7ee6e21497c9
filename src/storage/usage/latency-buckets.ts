/** Latencies as counts in 24 buckets: the counts can be summed, and any percentile of any selection can still be read from the sums. */

const BUCKETS = 24
const FIRST_MS = 10
/** Each bucket's end is this many times the previous one's; the last bucket begins at five minutes. */
const GROWTH = 1.6

/** The end of each bucket except the last, in milliseconds. */
export const BUCKET_ENDS: readonly number[] = Array.from({ length: BUCKETS - 1 }, (_, index) => Math.round(FIRST_MS * GROWTH ** index))

export const bucketOf = (ms: number): number => {
  const index = BUCKET_ENDS.findIndex((end) => ms < end)
  return index === -1 ? BUCKETS - 1 : index
}

export const LATENCIES = ['ttft', 'total'] as const
export type Latency = (typeof LATENCIES)[number]

export const bucketColumn = (latency: Latency, bucket: number): BucketColumn => `${latency}_${bucket}`

export type BucketColumn = `${Latency}_${number}`

export const BUCKET_COLUMNS: readonly BucketColumn[] = LATENCIES.flatMap((latency) =>
  Array.from({ length: BUCKETS }, (_, bucket) => bucketColumn(latency, bucket)),
)

/** The percentile in the buckets, as if the values within a bucket were evenly spread; null if all buckets are empty. */
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
