/**
 * Rates, by the generic cell rate algorithm: one instant for each name instead of a window of requests. `limit` of them
 * may come at once, and then one every `perMs / limit`. Pure over the times it is given; nothing has to be reset.
 */
export interface Rate {
  readonly limit: number
  readonly perMs: number
}

export interface RateVerdict {
  readonly allowed: boolean
  /** How much may still come at once. */
  readonly remaining: number
  /** Until what was asked for would be allowed; 0 where it is. */
  readonly retryAfterMs: number
  /** Until all of the limit is there again. */
  readonly resetMs: number
}

export interface RateMeter {
  /** Takes `amount` if it fits, and at most all of the limit: what is larger fits when nothing else is used. */
  take(name: string, amount: number, rate: Rate, nowMs: number): RateVerdict
  /** Takes `amount` whether it fits or not: what was learnt afterwards. Negative gives back. */
  settle(name: string, amount: number, rate: Rate, nowMs: number): void
  /** Names that are remembered. */
  readonly size: number
}

/** `maxNames`: beyond it those that owe least are forgotten, which only ever lets in more. */
export const createRateMeter = (maxNames: number): RateMeter => {
  /** The instant at which all of the limit is there again; a name without one has used nothing. */
  const fullAt = new Map<string, number>()

  const write = (name: string, atMs: number, nowMs: number): void => {
    // Last written is last in the map, so that the first ones are the likeliest to be full again.
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
      // A rounding error must not refuse the last one of the limit.
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

/** Looked at from the oldest on, in a bounded piece. */
const FORGET = 64

const forgetSome = (fullAt: Map<string, number>, nowMs: number): void => {
  const oldest = [...fullAt.entries().take(FORGET)]
  const over = oldest.filter(([, atMs]) => atMs <= nowMs)
  for (const [name] of over.length > 0 ? over : oldest.slice(0, 1)) fullAt.delete(name)
}
