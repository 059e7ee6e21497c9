/** A database as the stores see it: typed queries, and transactions that survive the usual conflicts. */
import type { Kysely, Transaction } from 'kysely'

import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { LimitStore } from './limits/limit-store.ts'
import { createLines } from './lines.ts'
import type { Engine } from './engine.ts'
import type { GenerationContentsTable } from './generation-tables.ts'
import type { Schema } from './schema.ts'
import type { TracesWaitingTable } from './trace-tables.ts'
import { StorageConflict } from './storage-errors.ts'
import { createTurns } from './turns.ts'

export interface Database {
  readonly engine: Engine
  /** For reads. Writes go through `transaction`, or a lock held by another process fails them. */
  readonly kysely: Kysely<Schema>
  /** For the reads of people, which may look at many rows: nothing that a request for a model waits for stands behind them. */
  readonly reports: Kysely<Schema>
  /**
   * Runs `work` in one transaction and commits. `work` may run several times and must do nothing but queries on the
   * transaction it is given. Throws StorageConflict when the conflicts do not end, StorageUnavailable when the database does not answer.
   */
  transaction<T>(work: (transaction: Transaction<Schema>) => Promise<T>, durability?: Durability): Promise<T>
  /** Runs `work`, which writes to one row that many write to, behind all of this process that came before with the same name. */
  inLine<T>(row: string, work: () => Promise<T>): Promise<T>
  /** Runs `work` while no transaction of this process runs that another writer could meet. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Null: the database is a file of this process. */
  readonly server: DatabaseServer | null
  /** Settles finished requests in a thread of their own: each is JSON of a `Settlement`. Null: there is no such thread. */
  readonly settleLines: ((lines: readonly string[]) => Promise<void>) | null
  /** Stores contents in the same thread. Null: there is no such thread. */
  readonly keepContents: ((rows: readonly GenerationContentsTable[]) => Promise<void>) | null
  /** Writes traces that wait, and removes others, in the same thread. Null: there is no such thread. */
  readonly writeTraces: ((change: TraceChange) => Promise<void>) | null
  /** Resolves when the database answers a read of our own table. */
  ping(): Promise<void>
  /** Resolves when the database takes a write; rejects as `transaction` does, and where its disk is full. */
  probe(): Promise<void>
  /** Puts what was committed where the loss of a log does not reach it. */
  checkpoint(): Promise<void>
  close(): Promise<void>
}

/** The changes to the traces that wait. */
export interface TraceChange {
  readonly rows: readonly TracesWaitingTable[]
  /** By their ids. */
  readonly remove: readonly string[]
  readonly hold: TraceHold
}

/** The process that has them, and until when no other one takes them over. */
export interface TraceHold {
  readonly holder: string
  /** ISO timestamp. */
  readonly until: string
}

/**
 * The faults that a commit outlives. `power`, the default: a power failure as well. `process`: this process, and in a power failure the
 * last moments are lost; for what is written with every request (docs/contract/budgets.md#durability).
 */
export type Durability = 'power' | 'process'

/**
 * Why a transaction failed, where trying again may help. `locked`: it could not begin, because another process of this
 * machine writes. `conflict`: it ran, and lost.
 */
export type RetryableFailure = 'locked' | 'conflict'

/** A server that several nodes may share. */
export interface DatabaseServer {
  /** Calls `heard` when another process may have changed what this one knows; until stopped. */
  listen(clock: Clock, heard: () => void): () => void
  /** Counters of limits, on a connection of their own. */
  openLimits(node: string): LimitStore
}

/** An opened engine: what sqlite.ts and postgres.ts give to open-database.ts. */
export interface EngineConnection {
  readonly engine: Engine
  readonly kysely: Kysely<Schema>
  readonly reports: Kysely<Schema>
  readonly server: DatabaseServer | null
  /** Says whether the engine lets in one writing transaction at a time. */
  readonly oneWriter: boolean
  /** Holds for the transactions that begin from now on; only where there is one writer. */
  setDurability(durability: Durability): void
  readonly retryableFailure: (error: unknown) => RetryableFailure | null
  /** Runs `work` on connections that may wait for the migration lock for as long as it takes. */
  withMigrationAccess<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<T>
  /** Once the schema is that of this program. */
  prepared(): Promise<void>
  /** After each transaction whose commit outlives the power. */
  noteChanges(): Promise<void>
  checkpoint(): Promise<void>
  /** Throws StorageUnavailable where there is no room for more, or the file is gone. */
  requireRoom(): Promise<void>
  close(): Promise<void>
}

export interface RetryOptions {
  readonly clock: Clock
  readonly ids: IdSource
}

/** Up to 5 tries, 5-50 ms apart, and no new try after 2 s (docs/contract/presets.md#conflicts). */
const TRIES_MAX = 5
const RETRY_WINDOW_MS = 2000
const PAUSE_MIN_MS = 5
const PAUSE_MAX_MS = 50

export const createDatabase = (connection: EngineConnection, options: RetryOptions): Database => {
  const { engine, kysely, server, retryableFailure } = connection
  const writers = createTurns()
  const lines = createLines()
  const transaction: Database['transaction'] = (work, durability = 'power') => {
    const startMs = options.clock.monotonicMs()
    const begin = async () => {
      connection.setDurability(durability)
      const result = await kysely.transaction().execute(work)
      if (durability === 'power') await connection.noteChanges()
      return result
    }
    const attempt = () => retryConflicts(begin, { ...options, retryableFailure, startMs })
    // Each try for SQLite's lock holds up the thread a little (sqlite.ts): so one writer tries, and the others wait for it.
    return connection.oneWriter ? writers.run(attempt) : attempt()
  }
  return {
    engine,
    kysely,
    reports: connection.reports,
    transaction,
    // Where there is one writer, all writers stand in one line anyhow.
    inLine: (row, work) => (connection.oneWriter ? work() : lines.run(row, work)),
    alone: (work) => (connection.oneWriter ? writers.run(work) : work()),
    server,
    settleLines: null,
    keepContents: null,
    writeTraces: null,
    async ping() {
      await kysely.selectFrom('change_counter').select('value').executeTakeFirstOrThrow()
    },
    async probe() {
      await connection.requireRoom()
      await transaction(async (probing) => {
        await probing
          .updateTable('service_facts')
          .set((eb) => ({ value: eb.ref('value') }))
          .where('name', '=', 'secret-check')
          .execute()
      }, 'process')
    },
    checkpoint: () => connection.checkpoint(),
    close: () => connection.close(),
  }
}

/**
 * A lock that was never taken costs nothing, so waiting for it is bounded by the time alone, as `lock_timeout` does on
 * PostgreSQL; a try that ran and lost counts.
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

/** Random, so that two that met do not meet again. */
const pause = ({ clock, ids }: RetryOptions): Promise<void> => {
  const share = (ids.bytes(1)[0] ?? 0) / 255
  return new Promise((resolve) => {
    clock.after(PAUSE_MIN_MS + share * (PAUSE_MAX_MS - PAUSE_MIN_MS), resolve)
  })
}
