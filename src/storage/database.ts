/** A database as the stores see it: typed queries, and transactions that are retried after the usual conflicts. */
import type { Kysely, Transaction } from 'kysely'

import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { LimitStore } from './limits/limit-store.ts'
import { createLines } from './connections/lines.ts'
import type { Engine } from './engine.ts'
import type { GenerationContentsTable } from './tables/generation-tables.ts'
import type { Schema } from './tables/schema.ts'
import type { TracesWaitingTable } from './tables/trace-tables.ts'
import { StorageConflict, StorageUnavailable } from './storage-errors.ts'
import { createTurns } from '../lib/turns.ts'

export interface Database {
  readonly engine: Engine
  /** For reads. Writes go through `transaction`, because they would fail if another process holds a lock. */
  readonly kysely: Kysely<Schema>
  /** For queries by people, which may read many rows: nothing that a request to a model waits for is queued after them. */
  readonly reports: Kysely<Schema>
  /**
   * Runs `work` in one transaction and commits. `work` may run several times and must do nothing but query the given transaction. Throws
   * StorageConflict if the conflicts do not end, StorageUnavailable if the database does not answer.
   */
  transaction<T>(work: (transaction: Transaction<Schema>) => Promise<T>, durability?: Durability): Promise<T>
  /** Runs `work`, which writes to a row that many write to, after all earlier work of this process under the same name. */
  inLine<T>(row: string, work: () => Promise<T>): Promise<T>
  /** Runs `work` while this process runs no transaction that could conflict with another writer. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Runs `work`, which may read everything there is, without the time limits of requests. */
  patiently<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<T>
  /** Null if the database is a file of this process. */
  readonly server: DatabaseServer | null
  /** Settles finished requests in a separate thread: each line is the JSON of a `Settlement`. Null if there is no such thread. */
  readonly settleLines: ((lines: readonly string[]) => Promise<void>) | null
  /** Stores contents in the same thread. Null if there is no such thread. */
  readonly keepContents: ((rows: readonly GenerationContentsTable[]) => Promise<void>) | null
  /** Adds and removes waiting traces in the same thread. Null if there is no such thread. */
  readonly writeTraces: ((change: TraceChange) => Promise<void>) | null
  /** Resolves when the database answers a read of one of our tables. */
  ping(): Promise<void>
  /** Resolves when the database accepts a write; rejects as `transaction` does, and if its disk is full. */
  probe(): Promise<void>
  /** Writes committed data to where the loss of a log does not affect it. */
  checkpoint(): Promise<void>
  close(): Promise<void>
}

/** Changes to the waiting traces. */
export interface TraceChange {
  readonly rows: readonly TracesWaitingTable[]
  /** Ids of the traces to remove. */
  readonly remove: readonly string[]
  readonly hold: TraceHold
}

/** The process that holds the traces, and until when no other process takes them over. */
export interface TraceHold {
  readonly holder: string
  /** ISO timestamp. */
  readonly until: string
}

/**
 * The failures that a commit survives. `power`, the default: also a power failure. `process`: only a crash of this process; a power
 * failure loses the last moments. It is for what is written with every request (docs/contract/budgets.md#durability).
 */
export type Durability = 'power' | 'process'

/**
 * Why a transaction failed, if a retry may help. `locked`: it could not begin, because another process on
 * this machine is writing. `conflict`: it ran, and lost.
 */
export type RetryableFailure = 'locked' | 'conflict'

export interface ChangeListener {
  /** Another process may have changed something that this one caches, and the change counter says if it has. */
  heard(): void
  /** Anything may have changed, whatever the change counter says: it may be that of a standby which has taken the place of the server. */
  missed(): void
}

/** A database server that several nodes may share. */
export interface DatabaseServer {
  /** Returns a function that stops it. */
  listen(clock: Clock, listener: ChangeListener): () => void
  /** Counters of limits, on a connection of their own. */
  openLimits(node: string): LimitStore
}

/** An opened engine: what sqlite.ts and postgres.ts pass to open-database.ts. */
export interface EngineConnection {
  readonly engine: Engine
  readonly kysely: Kysely<Schema>
  readonly reports: Kysely<Schema>
  readonly server: DatabaseServer | null
  /** True if the engine allows only one writing transaction at a time. */
  readonly oneWriter: boolean
  /** Runs `work` in one transaction and commits, or rolls back if it throws. A server decides about the durability by itself. */
  transaction<T>(work: (transaction: Transaction<Schema>) => Promise<T>, durability: Durability): Promise<T>
  readonly retryableFailure: (error: unknown) => RetryableFailure | null
  /** Runs `work` on connections that may wait for the migration lock, and for their statements, without a time limit. */
  withMigrationAccess<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<T>
  /** Called once the schema is that of this program. */
  prepared(): Promise<void>
  /** Called after each transaction whose commit must survive a power failure. */
  noteChanges(): Promise<void>
  checkpoint(): Promise<void>
  /** Throws StorageUnavailable if the disk is full or the file is gone. */
  requireRoom(): Promise<void>
  close(): Promise<void>
}

export interface RetryOptions {
  readonly clock: Clock
  readonly ids: IdSource
}

/** The fact that a probe writes; nothing reads it. */
const PROBE = 'probe'
/** Where a write has failed, a few bytes may still fit that no change of ours would. */
const PROBE_AFTER_FAILURE = 256 * 1024

/** Up to 5 tries, 5-50 ms apart, and no new try after 2 s (docs/contract/presets.md#conflicts). */
const TRIES_MAX = 5
const RETRY_WINDOW_MS = 2000
const PAUSE_MIN_MS = 5
const PAUSE_MAX_MS = 50

export const createDatabase = (connection: EngineConnection, options: RetryOptions): Database => {
  const { engine, kysely, server, retryableFailure } = connection
  const writers = createTurns()
  const lines = createLines()
  let probes = 0
  /** True from a transaction that the storage could not write to the next probe that it could. */
  let writesFail = false
  const transaction: Database['transaction'] = (work, durability = 'power') => {
    const startMs = options.clock.monotonicMs()
    const begin = async () => {
      try {
        const result = await connection.transaction(work, durability)
        if (durability === 'power') await connection.noteChanges()
        return result
      } catch (thrown) {
        if (thrown instanceof StorageUnavailable) writesFail = true
        throw thrown
      }
    }
    const attempt = () => retryConflicts(begin, { ...options, retryableFailure, startMs })
    // Each try for SQLite's lock blocks the thread for a moment (sqlite.ts), so one writer tries at a time and the others wait for it.
    return connection.oneWriter ? writers.run(attempt) : attempt()
  }
  return {
    engine,
    kysely,
    reports: connection.reports,
    transaction,
    // With a single writer, all writers are in one queue anyhow.
    inLine: (row, work) => (connection.oneWriter ? work() : lines.run(row, work)),
    alone: (work) => (connection.oneWriter ? writers.run(work) : work()),
    patiently: (work) => connection.withMigrationAccess(work),
    server,
    settleLines: null,
    keepContents: null,
    writeTraces: null,
    async ping() {
      await kysely.selectFrom('change_counter').select('value').executeTakeFirstOrThrow()
    },
    async probe() {
      await connection.requireRoom()
      // SQLite writes nothing for a row that stays the same.
      probes += 1
      const value = String(probes % 10).repeat(writesFail ? PROBE_AFTER_FAILURE : 1)
      await transaction(async (probing) => {
        await probing
          .insertInto('service_facts')
          .values({ name: PROBE, value })
          .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
          .execute()
      }, 'process')
      writesFail = false
    },
    checkpoint: () => connection.checkpoint(),
    close: () => connection.close(),
  }
}

/**
 * Failing to get a lock costs nothing, so waiting for it is limited by time only, as `lock_timeout`
 * does on PostgreSQL; a try that ran and lost counts.
 */
export const retryConflicts = async <T>(
  attempt: () => Promise<T>,
  options: RetryOptions & {
    readonly retryableFailure: EngineConnection['retryableFailure']
    /** When the waiting began, on the monotonic clock. */
    readonly startMs: number
  },
): Promise<T> => {
  let lost = 0
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      const failure = options.retryableFailure(error)
      if (failure === null) throw error
      if (failure === 'conflict') lost += 1
      if (lost >= TRIES_MAX || options.clock.monotonicMs() - options.startMs >= RETRY_WINDOW_MS) throw new StorageConflict(error)
    }
    await pause(options)
  }
}

/** The pause is random, so that two transactions that collided do not collide again. */
const pause = ({ clock, ids }: RetryOptions): Promise<void> => {
  const share = (ids.bytes(1)[0] ?? 0) / 255
  return new Promise((resolve) => {
    clock.after(PAUSE_MIN_MS + share * (PAUSE_MAX_MS - PAUSE_MIN_MS), resolve)
  })
}
