/**
 * Admits requests: the figures of their windows are locked, each request is decided in turn,
 * and the amounts of admitted requests are held.
 */
import type { Transaction } from 'kysely'

import { bulkInsert } from '../statements/bulk-insert.ts'
import { earliest } from './charge.ts'
import type { Database } from '../database.ts'
import type { HoldScopeTable, HoldTable, ScopeWindowTable } from '../tables/ledger-tables.ts'
import { lockWindows, windowName, type WindowKey } from './scope-windows.ts'
import type { Schema } from '../tables/schema.ts'
import { utcDay } from '../usage/usage-windows.ts'

export interface Admission<Refusal> {
  readonly hold: Omit<HoldTable, 'state'>
  /** Without duplicates. */
  readonly windows: readonly WindowKey[]
  /** Called under the locks with the figures in the order of `windows`; returns null to admit. May be called several times. */
  readonly decide: (figures: readonly ScopeWindowTable[]) => Refusal | null
}

interface Attempted<Refusal> {
  readonly refusals: readonly (Refusal | null)[]
  /** If this is not empty, nothing was decided. */
  readonly missing: readonly WindowKey[]
}

export const admitRequests = async <Refusal>(
  transaction: Transaction<Schema>,
  { engine }: Database,
  admissions: readonly Admission<Refusal>[],
): Promise<Attempted<Refusal>> => {
  const subjects = new Set(admissions.flatMap(({ windows }) => windows.map(({ subject }) => subject)))
  const firstDay = earliest(admissions.map(({ hold }) => utcDay(hold.created_at)))
  const windows = await lockWindows(transaction, engine, [...subjects], firstDay)
  const missing = new Map<string, WindowKey>()
  const found = admissions.map(({ windows: bounding }) =>
    bounding.flatMap((key) => {
      const row = windows.find(key)
      if (row === undefined) missing.set(windowName(key), key)
      return row ?? []
    }),
  )
  if (missing.size > 0) return { refusals: [], missing: [...missing.values()] }
  const holds: HoldTable[] = []
  const scopes: HoldScopeTable[] = []
  const refusals = admissions.map(({ hold, decide }, index) => {
    const figures = found[index] ?? []
    const refusal = decide(figures)
    if (refusal !== null) return refusal
    for (const row of figures) {
      windows.hold(row, hold.amount_n)
      const { subject, span, window_start } = row
      scopes.push({ request_id: hold.request_id, subject, span, window_start, amount_n: hold.amount_n })
    }
    holds.push({ ...hold, state: 'held' })
    return null
  })
  // At once: while a server is far away, each wait for an answer would be one more under the locks.
  await Promise.all([windows.write(), insertHolds(transaction, engine, holds), insertHoldScopes(transaction, engine, scopes)])
  return { refusals, missing: [] }
}

const insertHolds = bulkInsert<HoldTable>((transaction, rows) => transaction.insertInto('hold').values(rows).compile())

const insertHoldScopes = bulkInsert<HoldScopeTable>((transaction, rows) => transaction.insertInto('hold_scope').values(rows).compile())
