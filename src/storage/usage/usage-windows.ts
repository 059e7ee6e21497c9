/** The UTC days on which the current usage windows began: weeks start on Monday, months on the 1st (docs/contract/budgets.md#windows). */
export interface UsageWindows {
  /** Each as `YYYY-MM-DD`. */
  readonly day: string
  readonly week: string
  readonly month: string
}

const DAY_MS = 86_400_000

export const usageWindowsAt = (now: string): UsageWindows => {
  const day = utcDay(now)
  const startOfDay = new Date(`${day}T00:00:00.000Z`)
  const daysSinceMonday = (startOfDay.getUTCDay() + 6) % 7
  return {
    day,
    week: new Date(startOfDay.getTime() - daysSinceMonday * DAY_MS).toISOString().slice(0, 10),
    month: `${day.slice(0, 7)}-01`,
  }
}

/** The day of a stored timestamp; they are all in UTC. */
export const utcDay = (timestamp: string): string => timestamp.slice(0, 10)

/** The day after this one. */
export const nextDay = (day: string): string => new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10)

/** When the current UTC window ends: at midnight, on Monday, or on the 1st; null if it never ends. */
export const windowEnd = (reset: 'daily' | 'weekly' | 'monthly' | null, nowMs: number): string | null => {
  const now = new Date(nowMs)
  const year = now.getUTCFullYear()
  const month = now.getUTCMonth()
  const day = now.getUTCDate()
  switch (reset) {
    case null:
      return null
    case 'daily':
      return new Date(Date.UTC(year, month, day + 1)).toISOString()
    case 'weekly':
      return new Date(Date.UTC(year, month, day + ((8 - now.getUTCDay()) % 7 || 7))).toISOString()
    case 'monthly':
      return new Date(Date.UTC(year, month + 1, 1)).toISOString()
  }
}
