/** The start of the month in UTC, as budgets count it. */
export const monthStart = (nowMs: number): string => {
  const now = new Date(nowMs)
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).toISOString()
}

const DAY_MS = 86_400_000

/**
 * The forecast for the whole month at the pace so far. The first day always counts as a whole day, since one hour says little about a
 * month.
 */
export const forecastOf = (spent: number, nowMs: number): number => {
  const now = new Date(nowMs)
  const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  return (spent * (next - first)) / Math.max(nowMs - first, DAY_MS)
}
