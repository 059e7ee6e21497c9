/**
 * Limits for the requests of one key: how many run at once, and how many requests and tokens per minute. The counts are this process's own.
 */
import type { Clock } from '../lib/clock.ts'
import type { BoundReached, Correction, KeyBounds } from '../storage/limits/limit-store.ts'
import { createRateMeter, type Rate, type RateVerdict } from './gcra.ts'

export interface KeyMeter {
  /** Returns null if the request was admitted (the caller must then call `leave` or `giveBack`); otherwise the limit that it hit, with nothing taken. */
  enter(bounds: KeyBounds): BoundReached | null | Promise<BoundReached | null>
  /** `tokens`: all input and output tokens; one of them was counted on entry. */
  leave(bounds: KeyBounds, tokens: number): void
  /** In place of `leave`, for a request that could not begin after all: it gives back everything that it took. */
  giveBack(bounds: KeyBounds): void
}

export interface LocalMeter {
  /**
   * Checks if one more request fits, which `running` already includes. `nodes`: this process has one of that many equal parts of the
   * limits.
   */
  take(bounds: KeyBounds, running: number, nodes: number): BoundReached | null
  /** Counts usage that was admitted elsewhere or became known afterwards. */
  note(bounds: KeyBounds, used: Pick<Correction, 'usedTokens' | 'usedRequests'>, nodes: number): void
}

const MINUTE_MS = 60_000
/** The maximum number of remembered rates; each key has two. */
const RATE_NAMES_MAX = 100_000

export const createLocalMeter = (clock: Pick<Clock, 'monotonicMs'>): LocalMeter => {
  const rates = createRateMeter(RATE_NAMES_MAX)
  return {
    take(bounds, running, nodes) {
      const { concurrency, tokensPerMinute, requestsPerMinute } = bounds
      if (concurrency > 0 && running > partOf(concurrency, nodes))
        return { bound: 'concurrency', remaining: 0, retryAfterMs: 0, resetMs: 0 }
      const nowMs = clock.monotonicMs()
      // The number of tokens is not known yet: the request is admitted while one is left, and charged after the tokens are counted.
      const tokens = tokensPerMinute === 0 ? null : rates.take(tokensOf(bounds), 1, rateOf(tokensPerMinute, nodes), nowMs)
      if (tokens?.allowed === false) return reached('tokens', tokens)
      const requests = requestsPerMinute === 0 ? null : rates.take(requestsOf(bounds), 1, rateOf(requestsPerMinute, nodes), nowMs)
      if (requests?.allowed !== false) return null
      if (tokens !== null) rates.settle(tokensOf(bounds), -1, rateOf(tokensPerMinute, nodes), nowMs)
      return reached('requests', requests)
    },
    note(bounds, { usedTokens, usedRequests }, nodes) {
      const { tokensPerMinute, requestsPerMinute } = bounds
      const nowMs = clock.monotonicMs()
      if (tokensPerMinute > 0) rates.settle(tokensOf(bounds), usedTokens, rateOf(tokensPerMinute, nodes), nowMs)
      if (requestsPerMinute > 0) rates.settle(requestsOf(bounds), usedRequests, rateOf(requestsPerMinute, nodes), nowMs)
    },
  }
}

/** At least 1, or a node would refuse every request. */
const partOf = (limit: number, nodes: number): number => Math.max(1, Math.floor(limit / nodes))

const rateOf = (limit: number, nodes: number): Rate => ({ limit: partOf(limit, nodes), perMs: MINUTE_MS })

/** The limit is part of the name, so changing it resets the counter. */
const tokensOf = ({ hash, tokensPerMinute }: KeyBounds): string => `tokens ${hash} ${tokensPerMinute}`
const requestsOf = ({ hash, requestsPerMinute }: KeyBounds): string => `requests ${hash} ${requestsPerMinute}`

const reached = (bound: 'tokens' | 'requests', { remaining, retryAfterMs, resetMs }: RateVerdict): BoundReached => ({
  bound,
  remaining,
  retryAfterMs,
  resetMs,
})

/** True if the key has any limit. */
export const isBounded = ({ concurrency, tokensPerMinute, requestsPerMinute }: KeyBounds): boolean =>
  concurrency > 0 || tokensPerMinute > 0 || requestsPerMinute > 0

/** The number of requests of each key that run here. */
export interface RunningCounts {
  of(hash: string): number
  add(hash: string, change: 1 | -1): void
}

export const createRunningCounts = (): RunningCounts => {
  const counts = new Map<string, number>()
  return {
    of: (hash) => counts.get(hash) ?? 0,
    add(hash, change) {
      const now = (counts.get(hash) ?? 0) + change
      if (now > 0) counts.set(hash, now)
      else counts.delete(hash)
    },
  }
}
