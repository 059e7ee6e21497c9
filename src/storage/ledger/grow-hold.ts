/** Raises the hold of a running request that turns out to cost more than was held, if its windows still have room. */
import type { Transaction } from 'kysely'

import type { Admission } from './admit-requests.ts'
import type { Database } from '../database.ts'
import { lockWindows } from './scope-windows.ts'
import type { Schema } from '../tables/schema.ts'
import { utcDay } from '../usage/usage-windows.ts'

/**
 * `admission` is as it would be for the whole new amount. Its `decide` gets the figures without the amount that is held for this request.
 * Returns `gone` if the hold no longer exists, so nothing may be spent under it.
 */
export const growHold = async <Refusal>(
  transaction: Transaction<Schema>,
  { engine }: Database,
  { hold, windows: bounding, decide }: Admission<Refusal>,
): Promise<Refusal | 'gone' | null> => {
  const subjects = [...new Set(bounding.map(({ subject }) => subject))]
  // The hold before its windows, as wherever both are locked.
  const held = await transaction
    .selectFrom('hold')
    .select('amount_n')
    .where('request_id', '=', hold.request_id)
    .where('state', '=', 'held')
    .$if(engine === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst()
  const windows = await lockWindows(transaction, engine, subjects, utcDay(hold.created_at))
  const rows = bounding.map((key) => windows.find(key)).filter((row) => row !== undefined)
  if (held === undefined || rows.length < bounding.length) return 'gone'
  const refusal = decide(rows.map((row) => ({ ...row, held_n: row.held_n - held.amount_n })))
  if (refusal !== null) return refusal
  for (const row of rows) windows.hold(row, hold.amount_n - held.amount_n)
  await windows.write()
  const grown = await transaction
    .updateTable('hold')
    .set({ amount_n: hold.amount_n })
    .where('request_id', '=', hold.request_id)
    .where('state', '=', 'held')
    .executeTakeFirst()
  // Another node took this process for dead and has ended the hold since it was read: nothing is written.
  if (grown.numUpdatedRows !== 1n) throw new Error('The hold ended while it grew.')
  await transaction.updateTable('hold_scope').set({ amount_n: hold.amount_n }).where('request_id', '=', hold.request_id).execute()
  return null
}
