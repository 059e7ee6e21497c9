import { nanosOf } from '../lib/money.ts'

/** A higher cost is a fault of the sender, not a bill, and a much higher one is a number that storage cannot write. */
const DOLLARS_MAX = 10_000

/** Nano-dollars of a cost that a provider reports in dollars; null if the value cannot be one. */
export const reportedNanos = (dollars: unknown): number | null =>
  typeof dollars === 'number' && dollars >= 0 && dollars <= DOLLARS_MAX ? nanosOf(dollars) : null
