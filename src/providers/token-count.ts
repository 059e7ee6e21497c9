/** More than any model can use in one answer is a fault of the sender, not a bill. */
const TOKENS_MAX = 1_000_000_000

/** A count that a provider reports: zero where it reports none, null where what it reports cannot be one. */
export const tokenCount = (value: unknown): number | null => {
  if (value === undefined || value === null) return 0
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : null
}

/** The sane part of a sum of counts. `unreported`: the first, which every answer has, is absent, or one of them cannot be a count. */
export const reportedTotal = (first: unknown, ...others: readonly unknown[]): { readonly tokens: number; readonly unreported: boolean } => {
  const counts = [first, ...others].map(tokenCount)
  return {
    tokens: counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    unreported: first === undefined || first === null || counts.includes(null),
  }
}

/**
 * A total split by parts that it includes. Null where they cannot be: one is no count, or together they are
 * more than the whole. Then nothing is known but the total.
 */
export const partsOf = (total: number, reported: readonly unknown[]): readonly number[] | null => {
  const parts: number[] = []
  let sum = 0
  for (const value of reported) {
    const count = tokenCount(value)
    if (count === null) return null
    parts.push(count)
    sum += count
  }
  return sum > total ? null : parts
}

/** True where one of these counts cannot be one: then the bill is an estimate. */
export const isSenseless = (...reported: readonly unknown[]): boolean => reported.some((value) => tokenCount(value) === null)

/** A count beside the total; zero for what cannot be one. */
export const sideCount = (value: unknown): number => tokenCount(value) ?? 0
