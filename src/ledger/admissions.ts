/** Admits requests that have limits: those of one turn of the event loop are decided in one transaction. */
import { GatewayError } from '../errors.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { nextStage } from '../lib/cohort.ts'
import type { IdSource } from '../lib/id.ts'
import type { HoldStore, LedgerNode } from '../storage/ledger/hold-store.ts'
import type { Admission } from '../storage/ledger/admit-requests.ts'
import type { LedgerStore } from '../storage/ledger/ledger-store.ts'
import type { WindowKey } from '../storage/ledger/scope-windows.ts'
import { StorageConflict, StorageUnavailable } from '../storage/storage-errors.ts'
import { decide, type InFlightSettings, type Refusal } from './decide.ts'
import { expectRoom, type ExpectedRoom } from './expect-room.ts'
import { MOST_NANOS } from './estimate.ts'
import { refusalError } from './refusal.ts'
import type { Scope, Spender } from './scope.ts'
import { windowOf } from './windows.ts'

/** A request that asks for admission. */
export interface Demand {
  readonly id: string
  readonly spender: Spender
  /** The time of arrival: the request is charged to the windows of this instant, whenever it ends. */
  readonly atMs: number
  /** At least one scope, in the order in which they are checked. */
  readonly scopes: readonly Scope[]
  readonly estimateNanos: number
  /** The amount charged if this process dies before it reports more. */
  readonly promptNanos: number
  readonly provider: string | null
  readonly expectedMs: number
}

export interface Admissions {
  /** Resolves when the hold is written. Throws 402 and 403, and 503 if storage does not answer. */
  admit(demand: Demand): Promise<void>
  /** For an admitted request: holds the estimate of this demand instead of the amount held so far. Throws as `admit` does. */
  grow(demand: Demand): Promise<void>
}

/** Null for a request that is admitted. */
type Decision = Refusal | GatewayError | null

const BATCH_MAX = 256
/**
 * The maximum time that a request waits for storage. While storage has not answered for that long, new requests do not wait at all: waiting
 * requests take places from all others.
 */
const PATIENCE_MS = 3000
/** How long a hold outlives the last sign of life from its node. */
export const LEASE_MS = 60_000

interface Waiting {
  readonly demand: Demand
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

export const createAdmissions = (parts: {
  readonly store: LedgerStore
  readonly holds: HoldStore
  readonly node: LedgerNode
  readonly clock: Clock
  readonly sharedNow: () => number
  readonly ids: IdSource
  /** Reads the settings as the configuration has them now. */
  readonly inFlight: () => InFlightSettings
  /** Writes the settlements of requests that have ended here. */
  readonly settleFirst: () => Promise<void>
  /** Called with rejected requests whose hold may have been written nevertheless. */
  readonly onUnknown: (requests: readonly string[]) => void
}): Admissions => {
  const { store, node, clock, sharedNow, inFlight } = parts
  let waiting: Waiting[] = []
  let working = false
  /** True if storage has not answered within the time limit, and still may. */
  let late = false

  const work = async (): Promise<void> => {
    try {
      // Requests that arrive in the same turn are decided in the same batch.
      await nextStage
      while (waiting.length > 0) {
        const batch = waiting.slice(0, BATCH_MAX)
        waiting = waiting.slice(BATCH_MAX)
        await admitBatch(batch)
      }
    } finally {
      working = false
    }
  }

  /** Rejects the queued requests too: they would only wait for the same storage. */
  const turnAllAway = (batch: readonly Waiting[], cause: unknown): void => {
    const all = [...batch, ...waiting]
    waiting = []
    for (const { reject } of all) reject(storageAway(cause))
  }

  /** Calls `onLate` if the answer does not come in time, and still waits for it. */
  const watched = async <Answer>(answer: Promise<Answer>, onLate: () => void): Promise<Answer> => {
    // An answer that arrived while this process was busy is read before it counts as late.
    let cancel = clock.after(PATIENCE_MS, () => {
      cancel = clock.after(1, () => {
        late = true
        onLate()
      })
    })
    try {
      return await answer
    } finally {
      cancel()
    }
  }

  const admitBatch = async (batch: readonly Waiting[]): Promise<void> => {
    const requests = batch.map(({ demand }) => demand.id)
    const deciding = tryTwice(batch.map(({ demand }) => admissionOf(demand)))
    let decisions: readonly Decision[]
    try {
      decisions = await watched(deciding, () =>
        turnAllAway(batch, new StorageUnavailable(`Storage did not answer within ${PATIENCE_MS} ms.`)),
      )
    } catch (cause) {
      // Limits must hold: a request that cannot be counted is not admitted.
      forget(cause, requests)
      if (cause instanceof StorageUnavailable) turnAllAway(batch, cause)
      else for (const { reject } of batch) reject(storageAway(cause))
      late = false
      return
    }
    if (late) {
      // These requests were already rejected, so the holds that were written for them must be removed.
      parts.onUnknown(requests)
      late = false
      return
    }
    const refused: Promise<void>[] = []
    const room = expectRoom(parts)
    for (const [index, { demand, resolve, reject }] of batch.entries()) {
      const decision = decisions[index] ?? null
      if (decision === null) resolve()
      else if (decision instanceof GatewayError) reject(decision)
      else refused.push(errorOf(decision, demand, room).catch(storageAway).then(reject))
    }
    await Promise.all(refused)
  }

  const errorOf = async (refusal: Refusal, { spender, atMs }: Demand, room: ExpectedRoom): Promise<GatewayError> => {
    const seconds = refusal.cause === 'busy' ? await room.secondsUntil(windowOf(refusal.bound.scope, spender, atMs), refusal.shortNanos) : 0
    return refusalError(refusal, atMs, seconds)
  }

  /** If storage fails here, at worst a hold is too large, and it ends with its request. */
  const grow = async (demand: Demand): Promise<void> => {
    const admission = admissionOf(demand)
    let refusal: Refusal | 'gone' | null
    try {
      refusal = await store.grow(admission)
      if (refusal !== null && refusal !== 'gone' && refusal.cause === 'busy') {
        await parts.settleFirst()
        refusal = await store.grow(admission)
      }
    } catch (cause) {
      throw storageAway(cause)
    }
    if (refusal === 'gone') throw storageAway(new Error('The hold of a running request is gone.'))
    if (refusal !== null) throw await errorOf(refusal, demand, expectRoom(parts))
  }

  /** If a limit is full, requests that have ended here may still wait to be settled; after that their holds are free. */
  const tryTwice = async (admissions: readonly Admission<Refusal>[]): Promise<readonly Decision[]> => {
    const first = await store.admit(admissions)
    const full = admissions.filter((_, index) => first[index]?.cause === 'busy')
    if (full.length === 0) return first
    await parts.settleFirst()
    let second: readonly Decision[]
    try {
      second = await store.admit(full)
    } catch (cause) {
      // The others are already admitted. Holds of these may have been written, so "full" would be wrong: no other request may take the id.
      forget(
        cause,
        full.map(({ hold }) => hold.request_id),
      )
      second = full.map(() => storageAway(cause))
    }
    return admissions.map((admission, index) => {
      const again = full.indexOf(admission)
      return again < 0 ? (first[index] ?? null) : (second[again] ?? null)
    })
  }

  /** A conflict wrote nothing; after any other failure it is unknown what was written. */
  const forget = (cause: unknown, requests: readonly string[]): void => {
    if (!(cause instanceof StorageConflict)) parts.onUnknown(requests)
  }

  const admissionOf = (demand: Demand): Admission<Refusal> => {
    // Several turns of an answer may each cost the most.
    const estimateNanos = Math.min(demand.estimateNanos, MOST_NANOS)
    const windows: WindowKey[] = []
    const placed = demand.scopes.map((scope) => {
      const key = windowOf(scope, demand.spender, demand.atMs)
      const place = windows.findIndex(({ subject, span }) => subject === key.subject && span === key.span)
      return { scope, place: place < 0 ? windows.push(key) - 1 : place }
    })
    return {
      hold: {
        request_id: demand.id,
        key_hash: demand.spender.keyHash,
        workspace_id: demand.spender.workspaceId,
        user_id: demand.spender.userId,
        node_id: node.id,
        node_epoch: node.epoch,
        provider: demand.provider,
        amount_n: estimateNanos,
        charge_n: Math.min(demand.promptNanos, estimateNanos),
        created_at: isoTimestamp(demand.atMs),
        ends_at: isoTimestamp(demand.atMs + demand.expectedMs),
        lease_until: isoTimestamp(sharedNow() + LEASE_MS),
      },
      windows,
      decide: (figures) =>
        decide(
          placed.flatMap(({ scope, place }) => {
            const window = figures[place]
            return window === undefined ? [] : [{ scope, window }]
          }),
          estimateNanos,
          inFlight(),
        ),
    }
  }

  return {
    grow,
    admit: (demand) =>
      new Promise((resolve, reject) => {
        if (late) return reject(storageAway(new StorageUnavailable('Storage has not answered earlier requests.')))
        waiting.push({ demand, resolve, reject })
        if (working) return
        working = true
        void work()
      }),
  }
}

export const storageAway = (cause: unknown): GatewayError =>
  cause instanceof GatewayError
    ? cause
    : new GatewayError('provider_overloaded', 'The budgets of this key cannot be checked now. Try again in a second.', {
        status: 503,
        retryAfterSeconds: 1,
        cause,
      })
