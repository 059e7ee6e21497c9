/** Counters of limits that several nodes share: rates per minute, and how many requests of a key run at once. */

/** The limits of a key; 0 means no limit. */
export interface KeyBounds {
  readonly hash: string
  readonly concurrency: number
  readonly tokensPerMinute: number
  readonly requestsPerMinute: number
}

/** A request that asks to begin. */
export interface Claim extends KeyBounds {
  /** Requests of the key that run or ask to run on this node, including this one. */
  readonly running: number
}

export type Bound = 'concurrency' | 'tokens' | 'requests'

export interface BoundReached {
  readonly bound: Bound
  /** How many more would be admitted now. */
  readonly remaining: number
  /** Milliseconds until one more would be admitted; 0 if that is not known. */
  readonly retryAfterMs: number
  /** Milliseconds until the whole rate is available again. */
  readonly resetMs: number
}

/** Facts about a key's requests that became known after they were admitted. */
export interface Correction extends Claim {
  /** Usage beyond what was counted; a negative number gives back. */
  readonly usedTokens: number
  readonly usedRequests: number
}

/** Every method takes one round trip, and rejects if the store is away, refuses, or sends an invalid answer. */
export interface LimitStore {
  /** The name used in the log. */
  readonly name: string
  /** True if the store is also used while there is only one node, so that a node that joins later finds everything that was counted. */
  readonly asksAlone: boolean
  /** Opens a new connection. Only this method and `ping` are called while the store is away. */
  connect(): Promise<void>
  /** Writes something, if the server may be read-only. */
  ping(): Promise<void>
  /** Returns null if the request was admitted and counted; a refused request takes nothing. */
  enter(claim: Claim): Promise<BoundReached | null>
  correct(corrections: readonly Correction[]): Promise<void>
  /** Publishes for a while how this node's places are taken, replacing its previous report; returns the reports of the other nodes. */
  exchangePlaces(report: string): Promise<readonly string[]>
  close(): Promise<void>
}

/** How long a node that no longer reports keeps the places of its requests. */
export const RUNNING_LEASE_MS = 10_000

/** How long a node's report of its places is valid. */
export const PLACES_LEASE_MS = 5000

/** Indexed by the number with which scripts and functions say which bound refused; 0 means none. */
const BOUNDS: readonly (Bound | undefined)[] = [undefined, 'concurrency', 'tokens', 'requests']

/** The answer is four numbers, with times in milliseconds. Throws if it is not. */
export const readVerdict = (answer: readonly unknown[]): BoundReached | null => {
  const [refusedBy, remaining, retryAfterMs, resetMs] = answer.map(Number)
  const isSound =
    answer.length === 4 && [refusedBy, remaining, retryAfterMs, resetMs].every((number) => number !== undefined && number >= 0)
  if (refusedBy === 0 && isSound) return null
  const bound = BOUNDS[refusedBy ?? -1]
  if (!isSound || bound === undefined) throw new TypeError('The store of limits does not answer as it should.')
  return { bound, remaining: remaining ?? 0, retryAfterMs: retryAfterMs ?? 0, resetMs: resetMs ?? 0 }
}
