/** Deletes rows of the ledger that are no longer needed. The usage of each key and day is kept for ever. */
import type { Database } from '../database.ts'

/**
 * Deletes up to `limit` rows of the ledger from before `day`, and after the last of them up to as many windows that are over; returns how
 * many of either it deleted. From `day` on, the ledger is complete.
 */
export const pruneLedger = (database: Database, day: string, limit: number): Promise<number> =>
  database.transaction(async (transaction) => {
    await transaction.updateTable('service_facts').set({ value: day }).where('name', '=', 'ledger-after').where('value', '<', day).execute()
    const { numDeletedRows } = await transaction
      .deleteFrom('ledger')
      .where(({ eb, selectFrom, refTuple }) =>
        eb(
          refTuple('request_id', 'attempt_no', 'kind'),
          'in',
          selectFrom('ledger')
            .select(['request_id', 'attempt_no', 'kind'])
            .where('day', '<', day)
            .orderBy('day')
            .limit(limit)
            .$asTuple('request_id', 'attempt_no', 'kind'),
        ),
      )
      .executeTakeFirstOrThrow()
    const deleted = Number(numDeletedRows)
    if (deleted === limit) return deleted
    // A request that was charged as dead and has not come back by now will not come back.
    await transaction.deleteFrom('hold').where('state', '=', 'reaped').where('created_at', '<', day).execute()
    const windows = await transaction
      .deleteFrom('scope_window')
      .where(({ eb, selectFrom, refTuple }) =>
        eb(
          refTuple('subject', 'span', 'window_start'),
          'in',
          selectFrom('scope_window')
            .select(['subject', 'span', 'window_start'])
            .where('window_end', '<=', day)
            .where('held_n', '=', 0)
            .limit(limit)
            // A locked window is still charged or released, and is left for the next portion: this waits for nobody.
            .$if(database.engine === 'postgres', (query) => query.forUpdate().skipLocked())
            .$asTuple('subject', 'span', 'window_start'),
        ),
      )
      .executeTakeFirstOrThrow()
    return Math.max(deleted, Number(windows.numDeletedRows))
  })
