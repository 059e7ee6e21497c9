/** Counters of limits that several nodes share: rates a minute, and how many requests of a key run at once. */

/** The bounds of a key; 0: nothing. */
export interface KeyBounds {
  readonly hash: string
  readonly concurrency: number
  readonly tokensPerMinute: number
  readonly requestsPerMinute: number
}

/** A request that asks to begin. */
export interface Claim extends KeyBounds {
  /** Requests of the key that run on this node or ask to, this one among them. */
  readonly running: number
}

export type Bound = 'concurrency' | 'tokens' | 'requests'

export interface BoundReached {
  readonly bound: Bound
  /** How much may still come at once. */
  readonly remaining: number
  /** Until one more would be let in; 0 where that is not known. */
  readonly retryAfterMs: number
  /** Until all of the rate is there again. */
  readonly resetMs: number
}

/** The facts that became known of a key after its requests were let in. */
export interface Correction extends Claim {
  /** Used beyond what was counted; negative gives back. */
  readonly usedTokens: number
  readonly usedRequests: number
}

/** Every method is one round trip, and rejects where the store is away, refuses or answers nonsense. */
export interface LimitStore {
  /** As the log names it. */
  readonly name: string
  /** Asked also where there is one node: another that joins then finds all that was counted. */
  readonly asksAlone: boolean
  /** Connects anew. It and `ping` are the methods that are called while the store is away. */
  connect(): Promise<void>
  /** Writes, where a server may read alone. */
  ping(): Promise<void>
  /** Null: let in, and counted. A request that is refused takes nothing. */
  enter(claim: Claim): Promise<BoundReached | null>
  correct(corrections: readonly Correction[]): Promise<void>
  /** Says for a while how this node's places are taken, in place of what it said before; answers what the others say. */
  exchangePlaces(report: string): Promise<readonly string[]>
  close(): Promise<void>
}

/** How long a node that says nothing more keeps the places of its requests. */
export const RUNNING_LEASE_MS = 10_000

/** How long the places that a node reported are believed. */
export const PLACES_LEASE_MS = 5000

/** As scripts and functions number what they refuse by; 0: nothing. */
const BOUNDS: readonly (Bound | undefined)[] = [undefined, 'concurrency', 'tokens', 'requests']

/** Four numbers, times in milliseconds. Throws where they are not. */
export const readVerdict = (answer: readonly unknown[]): BoundReached | null => {
  const [refusedBy, remaining, retryAfterMs, resetMs] = answer.map(Number)
  const isSound =
    answer.length === 4 && [refusedBy, remaining, retryAfterMs, resetMs].every((number) => number !== undefined && number >= 0)
  if (refusedBy === 0 && isSound) return null
  const bound = BOUNDS[refusedBy ?? -1]
  if (!isSound || bound === undefined) throw new TypeError('The store of limits does not answer as it should.')
  return { bound, remaining: remaining ?? 0, retryAfterMs: retryAfterMs ?? 0, resetMs: resetMs ?? 0 }
}
