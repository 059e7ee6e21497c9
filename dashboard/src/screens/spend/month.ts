/** The month of UTC, as budgets count it. */
export const monthStart = (nowMs: number): string => {
  const now = new Date(nowMs)
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).toISOString()
}

const DAY_MS = 86_400_000

/** The cost of the whole month at the pace so far. Its first day counts whole from the beginning: an hour says little about a month. */
export const forecastOf = (spent: number, nowMs: number): number => {
  const now = new Date(nowMs)
  const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  return (spent * (next - first)) / Math.max(nowMs - first, DAY_MS)
}
