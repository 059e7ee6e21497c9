/** Budgets as the rest of the service sees them: the limits of a caller, admission, and the maintenance of holds. */
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { repeat } from '../lib/repeat.ts'
import type { Database } from '../storage/database.ts'
import { createHoldStore, type LedgerNode } from '../storage/ledger/hold-store.ts'
import { createLedgerStore, type LedgerStore } from '../storage/ledger/ledger-store.ts'
import { createAdmissions, LEASE_MS, type Demand } from './admissions.ts'
import { inOrder, spentOf, type InFlightSettings } from './decide.ts'
import type { Scope, ScopeSource, Spender } from './scope.ts'
import { windowOf } from './windows.ts'

export interface ScopeFigures {
  readonly scope: Scope
  readonly spentNanos: number
  /** The amount that is held for running requests. */
  readonly heldNanos: number
}

export interface Ledger {
  /** All limits of this caller, in the order in which they are checked; without a promise if every source has them in memory. */
  scopesOf(spender: Spender): readonly Scope[] | Promise<readonly Scope[]>
  /** Writes the hold of a request. `costNanos` returns what it has cost so far. Throws 402, 403 and 503. */
  admit(demand: Demand, costNanos: () => number): Promise<void>
  /** Holds more for an admitted request that turns out to be more expensive: the estimate of this demand. Throws as `admit` does. */
  grow(demand: Demand): Promise<void>
  /** Call it when the request has ended; its settlement removes the hold. */
  ended(id: string): void
  /** The limits of this caller, with the figures that the next admission will see. */
  figures(spender: Spender, atMs: number): Promise<readonly ScopeFigures[]>
  /** Each line is the JSON of a settlement. */
  readonly settle: LedgerStore['settleLines']
  /** Clears what the sources have in memory. */
  refreshCache(): void
  /** One round of maintenance. After `start` it runs by itself, at once and then every ten seconds. */
  tend(): Promise<void>
  start(): () => Promise<void>
  /** The number of requests with a hold that run here. */
  readonly running: number
}

const TEND_MS = 10_000
/** The maximum number of holds that one transaction reaps. */
const REAP_MAX = 200
const RELEASE_MAX = 1000
const UNKNOWN_MAX = 100_000
/** Every ten minutes all windows are counted again, and in between those in which something runs: there may be one for each key and day. */
const FULL_RECOUNT_ROUNDS = 60

export const createLedger = (parts: {
  readonly database: Database
  readonly clock: Clock
  /** The time by which leases end, the same for all nodes: milliseconds since the epoch. */
  readonly sharedNow: () => number
  readonly ids: IdSource
  readonly sources: readonly ScopeSource[]
  readonly inFlight: () => InFlightSettings
  /** Writes the settlements of requests that have ended. */
  readonly settleFirst: () => Promise<void>
  readonly onError: (thrown: unknown, doing: string) => void
  /**
   * Called with the number of holds that were charged for a dead process; `onRepaired` with the number of windows whose figures were wrong
   * and have been corrected.
   */
  readonly onReaped: (holds: number) => void
  readonly onRepaired: (windows: number) => void
}): Ledger => {
  const { database, clock, sharedNow, ids, sources } = parts
  const store = createLedgerStore(database)
  const holds = createHoldStore(database)
  const node = newNode(database, clock, ids)
  const live = new Map<string, () => number>()
  let rounds = 0
  /** The cost at the last checkpoint of each request. */
  const checkpointed = new Map<string, number>()
  /** Requests rejected because storage failed: their holds may have been written nevertheless. */
  const unknown = new Set<string>()
  const admissions = createAdmissions({
    ...parts,
    store,
    holds,
    node,
    onUnknown: (requests) => requests.forEach((request) => unknown.size < UNKNOWN_MAX && unknown.add(request)),
  })

  const scopesOf = (spender: Spender): readonly Scope[] | Promise<readonly Scope[]> => {
    const found = sources.map((source) => source.scopes(spender))
    if (found.every(isKnown)) return inOrder(found.flat())
    return Promise.all(found.map(async (scopes) => scopes)).then((scopes) => inOrder(scopes.flat()))
  }

  const checkpoint = async (): Promise<void> => {
    const changed = new Map<string, number>()
    for (const [id, costNanos] of live) {
      const nanos = costNanos()
      if (nanos > (checkpointed.get(id) ?? 0)) changed.set(id, nanos)
    }
    if (changed.size === 0) return
    await holds.checkpoint(changed)
    for (const [id, nanos] of changed) if (live.has(id)) checkpointed.set(id, nanos)
  }

  const releaseUnknown = async (): Promise<void> => {
    while (unknown.size > 0) {
      const some = [...unknown].slice(0, RELEASE_MAX)
      await holds.release(some)
      for (const request of some) unknown.delete(request)
    }
  }

  const tend = async (): Promise<void> => {
    await releaseUnknown()
    if (live.size > 0) await holds.extendLeases(node, isoTimestamp(sharedNow() + LEASE_MS))
    await checkpoint()
    for (let reaped = REAP_MAX; reaped === REAP_MAX;) {
      reaped = await holds.reap(node, isoTimestamp(sharedNow()), REAP_MAX)
      if (reaped > 0) parts.onReaped(reaped)
    }
    const repaired = await holds.recount(rounds % FULL_RECOUNT_ROUNDS === 0 ? 'all' : 'running')
    rounds += 1
    if (repaired > 0) parts.onRepaired(repaired)
  }
  const failed = (thrown: unknown): void => parts.onError(thrown, 'holds not tended')

  return {
    scopesOf,
    async admit(demand, costNanos) {
      await admissions.admit(demand)
      live.set(demand.id, costNanos)
    },
    grow: admissions.grow,
    ended(id) {
      live.delete(id)
      checkpointed.delete(id)
    },
    async figures(spender, atMs) {
      const scopes = await scopesOf(spender)
      const windows = await store.read(scopes.map((scope) => windowOf(scope, spender, atMs)))
      return scopes.flatMap((scope, index) => {
        const window = windows[index]
        return window === undefined ? [] : [{ scope, spentNanos: spentOf({ scope, window }), heldNanos: window.held_n }]
      })
    },
    settle: store.settleLines,
    refreshCache: () => sources.forEach((source) => source.refreshCache?.()),
    tend,
    start() {
      let round = tend()
      round.catch(failed)
      const stop = repeat(clock, TEND_MS, () => (round = tend()), failed)
      return async () => {
        stop()
        // The caller closes storage next.
        await round.catch(() => undefined)
        // Only this process knows that these requests were rejected: the next one would take their holds for those of requests that ran,
        // and charge them.
        await releaseUnknown().catch(failed)
      }
    },
    get running() {
      return live.size
    },
  }
}

const isKnown = (scopes: ReturnType<ScopeSource['scopes']>): scopes is readonly Scope[] => !(scopes instanceof Promise)

/**
 * On SQLite only one service uses a file, so all holds of an earlier process are over at once. On PostgreSQL a dead node cannot be
 * distinguished from a slow one before its leases have expired.
 */
const newNode = ({ engine }: Database, clock: Clock, ids: IdSource): LedgerNode => ({
  id: engine === 'sqlite' ? 'local' : ids.uuid(),
  epoch: clock.now(),
})
