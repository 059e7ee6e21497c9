/** More than any model can use in one answer is a fault of the sender, not a bill. */
const TOKENS_MAX = 1_000_000_000

/** A count that a provider tells; zero for what cannot be one. */
export const tokenCount = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : 0
