/** A higher count than any model can reach in one answer is a fault of the sender, not a bill. */
const TOKENS_MAX = 1_000_000_000

/** Reads a count that a provider reports: zero if it reports none, null if the value cannot be a count. */
export const tokenCount = (value: unknown): number | null => {
  if (value === undefined || value === null) return 0
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : null
}

/**
 * The sum of the valid counts. `unreported`: the first count, which every answer should have, is absent, or one of them cannot be a count.
 */
export const reportedTotal = (first: unknown, ...others: readonly unknown[]): { readonly tokens: number; readonly unreported: boolean } => {
  let tokens = sideCount(first)
  for (const value of others) tokens += sideCount(value)
  return { tokens, unreported: first === undefined || first === null || isSenseless(first, ...others) }
}

/**
 * Reads the parts into which a total is split. Null if they cannot be right, because one is no count or their sum exceeds the total; then
 * only the total is known.
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

/** True if one of these values cannot be a count: then the bill is an estimate. */
export const isSenseless = (...reported: readonly unknown[]): boolean => reported.some(isNoCount)

const isNoCount = (value: unknown): boolean => tokenCount(value) === null

/** A count that is not part of the total; zero if the value cannot be a count. */
export const sideCount = (value: unknown): number => tokenCount(value) ?? 0
