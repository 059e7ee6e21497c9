/** The outcome of the response cache for one request. */
import type { CachedAnswer } from './cached-answer.ts'

export type CacheUse = CacheHit | CacheMiss

export interface CacheHit {
  readonly outcome: 'hit'
  readonly answer: CachedAnswer
  readonly ageSeconds: number
  /** The remaining time for which the answer stays cached. */
  readonly ttlSeconds: number
}

export interface CacheMiss {
  readonly outcome: 'miss'
  /** The name under which the answer will be cached, and for how long. */
  readonly name: string
  readonly ttlSeconds: number
}
