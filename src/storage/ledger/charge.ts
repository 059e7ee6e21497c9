/** Adds amounts that were written to the ledger, and subtracts released holds, in the figures of days and windows. */
import type { Transaction } from 'kysely'

import { bulkInsert } from '../statements/bulk-insert.ts'
import type { Database } from '../database.ts'
import type { HoldScopeTable, HoldTable, LedgerTable } from '../tables/ledger-tables.ts'
import { oneOf } from '../statements/one-of.ts'
import { lockWindows, SUBJECTS } from './scope-windows.ts'
import type { Schema } from '../tables/schema.ts'
import { addUsageDays, sumUsageDays, type UsageDay } from '../usage/usage-days.ts'
import { addWorkspaceSpend, sumWorkspaceSpend } from '../usage/workspace-spend.ts'

export interface Payer {
  readonly keyHash: string
  readonly workspaceId: string
  readonly userId: string
}

const subjectsOf = ({ keyHash, workspaceId, userId }: Payer): readonly string[] => [
  SUBJECTS.key(keyHash),
  SUBJECTS.member(workspaceId, userId),
  SUBJECTS.workspace(workspaceId),
]

export type RowName = Pick<LedgerTable, 'request_id' | 'attempt_no' | 'kind'>

export const insertLedger = bulkInsert<LedgerTable, RowName>((transaction, rows) =>
  transaction
    .insertInto('ledger')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning(['request_id', 'attempt_no', 'kind'])
    .compile(),
)

export const releaseScopes = async (
  transaction: Transaction<Schema>,
  { engine }: Database,
  holds: readonly Pick<HoldTable, 'request_id'>[],
): Promise<readonly HoldScopeTable[]> => {
  if (holds.length === 0) return []
  const ids = holds.map(({ request_id }) => request_id)
  return transaction
    .deleteFrom('hold_scope')
    .where(oneOf(engine, 'request_id', ids))
    .returningAll()
    .execute()
}

/** `days` must not be empty. */
export const earliest = (days: readonly string[]): string => days.reduce((a, b) => (a < b ? a : b))

export const charge = async (
  transaction: Transaction<Schema>,
  { engine }: Database,
  changes: {
    readonly rows: readonly LedgerTable[]
    readonly payers: ReadonlyMap<string, Payer>
    readonly tokens: ReadonlyMap<string, number>
    readonly released: readonly HoldScopeTable[]
    /** The earliest day of admission among the changes. */
    readonly firstDay: string
  },
): Promise<void> => {
  const charges = changes.rows.filter(({ kind }) => kind !== 'attempt')
  const days = sumUsageDays(
    charges.map((row): UsageDay => ({
      key_hash: row.key_hash,
      day: row.day,
      cost_nanos: row.amount_n,
      byok_cost_nanos: row.byok_n,
      requests: row.kind === 'adjust' ? 0 : 1,
      tokens: changes.tokens.get(row.request_id) ?? 0,
    })),
  )
  const counted = addUsageDays(transaction, engine, days)
  const spent = charges.flatMap((row) => {
    const payer = changes.payers.get(row.request_id)
    return payer === undefined || (row.amount_n === 0 && row.byok_n === 0) ? [] : subjectsOf(payer).map((subject) => ({ subject, row }))
  })
  const subjects = new Set([...spent, ...changes.released].map(({ subject }) => subject))
  const [windows] = await Promise.all([lockWindows(transaction, engine, [...subjects], changes.firstDay), counted])
  for (const { subject, row } of spent) windows.charge(subject, row.day, row.amount_n, row.byok_n)
  for (const { subject, span, window_start, amount_n } of changes.released) {
    windows.hold(windows.find({ subject, span, start: window_start }), -amount_n)
  }
  // Last, because all nodes share these rows.
  await Promise.all([windows.write(), addWorkspaceSpend(transaction, engine, sumWorkspaceSpend(charges))])
}
