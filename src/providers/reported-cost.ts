import { isObject } from '../lib/json/json.ts'
import { nanosOf } from '../lib/money.ts'

/** A higher cost is a fault of the sender, not a bill, and a much higher one is a number that storage cannot write. */
const DOLLARS_MAX = 10_000

/** Nano-dollars of a cost that a provider reports in dollars; null if the value cannot be one. */
const reportedNanos = (dollars: unknown): number | null =>
  typeof dollars === 'number' && dollars >= 0 && dollars <= DOLLARS_MAX ? nanosOf(dollars) : null

/**
 * The cost in the usage of either of OpenAI's dialects, in nano-dollars: in dollars (OpenRouter), in dollars by kind and in total
 * (Perplexity), or in ticks, ten of which are one nano-dollar (xAI).
 */
export const reportedCost = (usage: Readonly<Record<string, unknown>>): number | null => {
  const { cost, cost_in_usd_ticks: ticks } = usage
  const reported = reportedNanos(isObject(cost) ? cost['total_cost'] : cost)
  if (reported !== null) return reported + upstreamCharge(usage)
  return Number.isSafeInteger(ticks) ? reportedNanos(Number(ticks) / TICKS_PER_DOLLAR) : null
}

/** If OpenRouter asks a vendor with the account's own key there, its cost is its fee alone, and the vendor charges the account beside it. */
const upstreamCharge = ({ is_byok: isByok, cost_details: details }: Readonly<Record<string, unknown>>): number =>
  isByok === true && isObject(details) ? (reportedNanos(details['upstream_inference_cost']) ?? 0) : 0

const TICKS_PER_DOLLAR = 10_000_000_000
