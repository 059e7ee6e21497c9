import { nanosOf } from '../lib/money.ts'

/** More than any answer costs is a fault of the sender, not a bill; and far more is no number that storage can write. */
const DOLLARS_MAX = 10_000

/** Nano-dollars of a cost that a provider reports in dollars; null for what cannot be one. */
export const reportedNanos = (dollars: unknown): number | null =>
  typeof dollars === 'number' && dollars >= 0 && dollars <= DOLLARS_MAX ? nanosOf(dollars) : null
