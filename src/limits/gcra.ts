/**
 * Rate limits by the generic cell rate algorithm: one instant for each name instead of a window of requests. `limit` of them may come at
 * once, and after that one every `perMs / limit`. Pure in the times it is given; nothing has to be reset.
 */
export interface Rate {
  readonly limit: number
  readonly perMs: number
}

export interface RateVerdict {
  readonly allowed: boolean
  /** The amount that may still be taken at once. */
  readonly remaining: number
  /** Milliseconds until the requested amount would be allowed; 0 if it is allowed now. */
  readonly retryAfterMs: number
  /** Milliseconds until the whole limit is available again. */
  readonly resetMs: number
}

export interface RateMeter {
  /** Takes `amount` if it fits, capped at the whole limit: a larger amount fits when nothing else is used. */
  take(name: string, amount: number, rate: Rate, nowMs: number): RateVerdict
  /** Takes `amount` even if it does not fit, for usage that becomes known afterwards. A negative amount gives back. */
  settle(name: string, amount: number, rate: Rate, nowMs: number): void
  /** The number of names that are remembered. */
  readonly size: number
}

/** `maxNames`: beyond this number, names with the least usage tend to be forgotten, which can only admit more. */
export const createRateMeter = (maxNames: number): RateMeter => {
  /** The instant at which the whole limit is available again; a name without an entry has used nothing. */
  const fullAt = new Map<string, number>()

  const write = (name: string, atMs: number, nowMs: number): void => {
    // The name written last is last in the map, so the first ones are the likeliest to be fully available again.
    fullAt.delete(name)
    if (atMs > nowMs) fullAt.set(name, atMs)
    if (fullAt.size > maxNames) forgetSome(fullAt, nowMs)
  }

  return {
    take(name, amount, { limit, perMs }, nowMs) {
      const costMs = Math.min(amount, limit) * (perMs / limit)
      const at = Math.max(fullAt.get(name) ?? 0, nowMs)
      const after = at + costMs
      const overMs = after - nowMs - perMs
      // A rounding error must not refuse the last unit of the limit.
      const allowed = overMs < 1e-6
      const usedUntil = allowed ? after : at
      if (allowed) write(name, after, nowMs)
      return {
        allowed,
        remaining: Math.max(0, Math.floor((perMs - (usedUntil - nowMs)) * (limit / perMs) + 1e-9)),
        retryAfterMs: allowed ? 0 : overMs,
        resetMs: usedUntil - nowMs,
      }
    },
    settle(name, amount, { limit, perMs }, nowMs) {
      write(name, Math.max(fullAt.get(name) ?? 0, nowMs) + amount * (perMs / limit), nowMs)
    },
    get size() {
      return fullAt.size
    },
  }
}

/** How many names are examined at a time, from the oldest on. */
const FORGET = 64

const forgetSome = (fullAt: Map<string, number>, nowMs: number): void => {
  const oldest = [...fullAt.entries().take(FORGET)]
  const over = oldest.filter(([, atMs]) => atMs <= nowMs)
  for (const [name] of over.length > 0 ? over : oldest.slice(0, 1)) fullAt.delete(name)
}
