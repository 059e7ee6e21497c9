/** The rows against which every limit is checked, under their locks. */
import { CompiledQuery, type QueryExecutorProvider, type RawBuilder, sql, type Transaction } from 'kysely'

import { createMemory } from '../../lib/remember.ts'
import type { Database } from '../database.ts'
import type { Engine } from '../engine.ts'
import type { ScopeWindowTable, Span } from '../tables/ledger-tables.ts'
import type { Schema } from '../tables/schema.ts'
import { ADDS_SPEND } from '../usage/workspace-spend.ts'

/** The `subject` of a row: whose spending is counted. */
export const SUBJECTS = {
  key: (hash: string): string => `key:${hash}`,
  member: (workspaceId: string, userId: string): string => `member:${workspaceId}:${userId}`,
  workspace: (id: string): string => `workspace:${id}`,
} as const

export interface WindowKey {
  readonly subject: string
  readonly span: Span
  /** A UTC day; '' for a lifetime. */
  readonly start: string
  readonly end: string | null
}

export const windowName = ({ subject, span, start }: Pick<WindowKey, 'subject' | 'span' | 'start'>): string => `${subject} ${span} ${start}`

/** Windows that a transaction has locked and changes in memory; `write` stores those that changed. */
export interface LockedWindows {
  find(key: Pick<WindowKey, 'subject' | 'span' | 'start'>): ScopeWindowTable | undefined
  /** Adds to every window of the subject that covers the day; the figures never fall below zero. */
  charge(subject: string, day: string, amountNanos: number, byokNanos: number): void
  /** Adds to what a window that `find` returned holds; nothing happens if it found none. */
  hold(window: ScopeWindowTable | undefined, amountNanos: number): void
  write(): Promise<void>
}

/** The windows of the subjects that end after `fromDay`. They are always locked in the same order, so that two nodes never deadlock. */
export const lockWindows = async (
  transaction: Transaction<Schema>,
  engine: Engine,
  subjects: readonly string[],
  fromDay: string,
): Promise<LockedWindows> => {
  const rows = subjects.length === 0 ? [] : await selectWindows(transaction, engine, subjects, fromDay)
  const byName = new Map(rows.map((row) => [windowName({ subject: row.subject, span: row.span, start: row.window_start }), row]))
  const bySubject = Map.groupBy(rows, ({ subject }) => subject)
  const changed = new Set<ScopeWindowTable>()
  return {
    find: (key) => byName.get(windowName(key)),
    charge(subject, day, amountNanos, byokNanos) {
      for (const row of bySubject.get(subject) ?? []) {
        if (day < row.window_start || (row.window_end !== null && day >= row.window_end)) continue
        row.committed_n += amountNanos
        row.byok_n += byokNanos
        changed.add(row)
      }
    },
    hold(row, amountNanos) {
      if (row === undefined) return
      row.held_n += amountNanos
      changed.add(row)
    },
    async write() {
      await Promise.all([...changed].map((row) => transaction.executeQuery(updateOf(engine, row))))
    },
  }
}

const selectWindows = async (
  transaction: Transaction<Schema>,
  engine: Engine,
  subjects: readonly string[],
  fromDay: string,
): Promise<ScopeWindowTable[]> => {
  const statement = statements(`${engine} ${subjects.length}`, () => selectOf(engine, subjects.length))
  const { rows } = await transaction.executeQuery<ScopeWindowTable>({ ...statement, parameters: [...subjects, fromDay] })
  return rows
}

/**
 * By the engine and the number of subjects. These statements run for every request, so their SQL text is written by hand: a syntax tree
 * costs more than the statement, and so does a new CompiledQuery, which freezes its values.
 */
const statements = createMemory<CompiledQuery>(50)

const selectOf = (engine: Engine, subjects: number): CompiledQuery => {
  const mark = engine === 'postgres' ? (position: number) => `$${position}` : () => '?'
  const marks = Array.from({ length: subjects }, (_, index) => mark(index + 1)).join(', ')
  return CompiledQuery.raw(
    `select subject, span, window_start, window_end, committed_n, byok_n, held_n from scope_window
     where subject in (${marks}) and (window_end is null or window_end > ${mark(subjects + 1)})
     order by subject, span, window_start${engine === 'postgres' ? ' for update' : ''}`,
  )
}

const UPDATE: Readonly<Record<Engine, CompiledQuery>> = {
  sqlite: CompiledQuery.raw(
    'update scope_window set committed_n = ?, byok_n = ?, held_n = ? where subject = ? and span = ? and window_start = ?',
  ),
  postgres: CompiledQuery.raw(
    'update scope_window set committed_n = $1, byok_n = $2, held_n = $3 where subject = $4 and span = $5 and window_start = $6',
  ),
}

const updateOf = (engine: Engine, row: ScopeWindowTable): CompiledQuery => ({
  ...UPDATE[engine],
  parameters: [row.committed_n, row.byok_n, row.held_n, row.subject, row.span, row.window_start],
})

/** Any number that nothing else in the database uses for an advisory lock. */
const WINDOWS_LOCK = 7_224_201

/**
 * Every transaction that charges must call this first. A new window begins with what was spent in it so far, and would miss a charge that
 * is being committed meanwhile. SQLite allows only one writer anyhow. The setting says that the transaction itself adds to what its
 * workspaces spent; for processes of the previous version, a trigger of 0030 does so.
 */
export const holdOffNewWindows = async (transaction: Transaction<Schema>, engine: Engine): Promise<void> => {
  if (engine === 'postgres') {
    await sql`select pg_advisory_xact_lock_shared(${sql.lit(WINDOWS_LOCK)}), ${ADDS_SPEND}`.execute(transaction)
  }
}

/** On PostgreSQL: waits until no settlement is under way, and lets none go on before this transaction ends. */
export const holdOffSettlements = async (transaction: QueryExecutorProvider): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${sql.lit(WINDOWS_LOCK)})`.execute(transaction)
}

/** Creates the missing windows, with what their subjects have already spent in them. */
export const createWindows = (database: Database, keys: readonly WindowKey[]): Promise<void> =>
  database.transaction(async (transaction) => {
    if (database.engine === 'postgres') await holdOffSettlements(transaction)
    const create = async (key: WindowKey): Promise<void> => {
      const { committed, byok } = await spentBy(transaction, key)
      await transaction
        .insertInto('scope_window')
        .values({
          subject: key.subject,
          span: key.span,
          window_start: key.start,
          window_end: key.end,
          committed_n: committed,
          byok_n: byok,
          held_n: 0,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    }
    await Promise.all(keys.map(create))
  })

const spentBy = async (transaction: Transaction<Schema>, key: WindowKey): Promise<{ committed: number; byok: number }> => {
  const { rows } = await sql<{ committed: number; byok: number }>`
    select ${total('cost_nanos')} as committed, ${total('byok_cost_nanos')} as byok from key_usage_days
    where key_hash in (${keysOf(key.subject)}) and day >= ${key.start} and day < ${key.end ?? END_OF_TIME}`.execute(transaction)
  return rows[0] ?? { committed: 0, byok: 0 }
}

/** Sorts after every day. */
const END_OF_TIME = '9999-99-99'

/** The cast is needed because PostgreSQL sums bigints into a numeric, which has no exact form in JavaScript. */
const total = (column: string): RawBuilder<number> => sql`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`

/** The hashes of a subject's keys, including revoked ones. */
const keysOf = (subject: string): RawBuilder<unknown> => {
  const [type = '', id = '', ...rest] = subject.split(':')
  if (type === 'key') return sql`${id}`
  if (type === 'workspace') return sql`select hash from api_keys where workspace_id = ${id}`
  return sql`select hash from api_keys where workspace_id = ${id} and creator_user_id = ${rest.join(':')}`
}
