/** Runs the queries of Kysely on an open handle of bun:sqlite. */
import type { Database as SqliteHandle, SQLQueryBindings, Statement } from 'bun:sqlite'
import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from 'kysely'

import { type RetryOptions, retryConflicts } from '../database.ts'
import { refuseStreams } from '../connections/refuse-streams.ts'
import { refuseNulCharacters, requireSafeInteger } from '../statements/sql-values.ts'
import { createTurns } from '../../lib/turns.ts'
import { fileFault, retryableFailure } from './sqlite-failures.ts'
import type { FilePlace } from './sqlite-place.ts'

/**
 * One connection, handed out in turns: an open transaction spans awaits, and statements that
 * others ran meanwhile would become part of it.
 */
export const createDriver = (handle: SqliteHandle, place: FilePlace, options: RetryOptions): Driver => {
  const statements = createStatementCache(handle)
  const turns = createTurns()

  const execute = <R>({ sql, parameters }: CompiledQuery): QueryResult<R> => {
    refuseNulCharacters(parameters)
    const bindings = parameters as SQLQueryBindings[]
    try {
      const statement = statements.get(sql)
      if (statement.columnNames.length > 0) return { rows: requireSafeIntegers(statement.all(...bindings)) as R[] }
      const { changes, lastInsertRowid } = statement.run(...bindings)
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    } catch (thrown) {
      throw fileFault(handle.filename, thrown) ?? thrown
    }
  }

  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery) {
      if (handle.inTransaction) return execute<R>(query)
      // In WAL mode a reader meets a lock only in rare moments: a recovery, or another process that opens or closes the file.
      return retryConflicts(async () => execute<R>(query), { ...options, retryableFailure, startMs: options.clock.monotonicMs() })
    },
    streamQuery: refuseStreams,
  }

  return {
    init: async () => {},
    async acquireConnection() {
      await turns.take()
      return connection
    },
    releaseConnection: async () => turns.pass(),
    async beginTransaction() {
      place.require()
      execute(BEGIN)
    },
    commitTransaction: async () => void execute(COMMIT),
    async rollbackTransaction() {
      // A full disk or an I/O error has rolled back already; a second rollback would fail and hide the first error.
      if (handle.inTransaction) execute(ROLLBACK)
    },
    async destroy() {
      await turns.take()
      statements.clear()
    },
  }
}

/**
 * Always IMMEDIATE: a transaction that begins as a reader fails at its first write if another one wrote meanwhile
 * (docs/contract/operating.md#sqlite).
 */
const BEGIN = CompiledQuery.raw('BEGIN IMMEDIATE')
const COMMIT = CompiledQuery.raw('COMMIT')
const ROLLBACK = CompiledQuery.raw('ROLLBACK')

/** Statements differ in the number of rows they insert; this many are kept compiled. */
const STATEMENTS_MAX = 256

/** `Database.query` caches too, but only the first twenty statements that it meets. */
const createStatementCache = (handle: SqliteHandle) => {
  const statements = new Map<string, Statement<Record<string, unknown>, SQLQueryBindings[]>>()
  return {
    get(sql: string) {
      const known = statements.get(sql)
      if (known !== undefined) {
        // The most recently used statement is the last in the map, so the first is the one to drop.
        statements.delete(sql)
        statements.set(sql, known)
        return known
      }
      const statement = handle.prepare<Record<string, unknown>, SQLQueryBindings[]>(sql)
      statements.set(sql, statement)
      for (const [oldestSql, oldest] of statements) {
        if (statements.size <= STATEMENTS_MAX) break
        statements.delete(oldestSql)
        oldest.finalize()
      }
      return statement
    },
    clear(): void {
      for (const statement of statements.values()) statement.finalize()
      statements.clear()
    },
  }
}

const requireSafeIntegers = (rows: Record<string, unknown>[]): Record<string, unknown>[] => {
  for (const row of rows) {
    for (const column in row) {
      const value = row[column]
      // None of our columns holds a fraction, so every number must be an exact integer.
      if (typeof value === 'number') requireSafeInteger(value)
    }
  }
  return rows
}
