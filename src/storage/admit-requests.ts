/**
 * Admits requests: the figures of their windows are locked, each request is decided in turn,
 * and the amounts of admitted requests are held.
 */
import type { Transaction } from 'kysely'

import { bulkInsert } from './bulk-insert.ts'
import { earliest } from './charge.ts'
import type { Database } from './database.ts'
import type { HoldScopeTable, HoldTable, ScopeWindowTable } from './ledger-tables.ts'
import { lockWindows, windowName, type WindowKey } from './scope-windows.ts'
import type { Schema } from './schema.ts'
import { utcDay } from './usage-windows.ts'

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
  const keys = new Map(admissions.flatMap(({ windows }) => windows.map((key) => [windowName(key), key] as const)))
  const subjects = [...new Set([...keys.values()].map(({ subject }) => subject))]
  const firstDay = earliest(admissions.map(({ hold }) => utcDay(hold.created_at)))
  const windows = await lockWindows(transaction, engine, subjects, firstDay)
  const missing = [...keys.values()].filter((key) => windows.find(key) === undefined)
  if (missing.length > 0) return { refusals: [], missing }
  const holds: HoldTable[] = []
  const scopes: HoldScopeTable[] = []
  const refusals = admissions.map(({ hold, windows: bounding, decide }) => {
    const refusal = decide(bounding.map((key) => windows.find(key)).filter((row) => row !== undefined))
    if (refusal !== null) return refusal
    for (const key of bounding) {
      windows.hold(key, hold.amount_n)
      scopes.push({
        request_id: hold.request_id,
        subject: key.subject,
        span: key.span,
        window_start: key.start,
        amount_n: hold.amount_n,
      })
    }
    holds.push({ ...hold, state: 'held' })
    return null
  })
  await windows.write()
  await insertHolds(transaction, engine, holds)
  await insertHoldScopes(transaction, engine, scopes)
  return { refusals, missing }
}

const insertHolds = bulkInsert<HoldTable>((transaction, rows) => transaction.insertInto('hold').values(rows).compile())

const insertHoldScopes = bulkInsert<HoldScopeTable>((transaction, rows) => transaction.insertInto('hold_scope').values(rows).compile())
