/** Holds are locked in one order, wherever several of them change, so that two transactions never wait for each other. */
import type { SelectQueryBuilder, Transaction } from 'kysely'

import type { Engine } from '../engine.ts'
import type { Schema } from '../tables/schema.ts'

/** The ids of holds, for the condition of a statement that changes them: on PostgreSQL their rows are locked first, in the order of ids. */
export const lockedHolds = (
  transaction: Transaction<Schema>,
  engine: Engine,
): SelectQueryBuilder<Schema, 'hold', { request_id: string }> => {
  const ids = transaction.selectFrom('hold').select('request_id')
  return engine === 'postgres' ? ids.orderBy('request_id').forUpdate() : ids
}
