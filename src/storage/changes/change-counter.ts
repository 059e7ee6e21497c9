/**
 * A number that grows with every change of what processes cache (keys, presets). Each process polls it and drops its caches when it has
 * changed. The same mechanism serves a CLI beside a running service and many nodes on one PostgreSQL.
 */
import type { Transaction } from 'kysely'

import type { Database } from '../database.ts'
import type { Schema } from '../tables/schema.ts'

export interface ChangeCounter {
  read(): Promise<number>
}

export const createChangeCounter = (database: Database): ChangeCounter => ({
  async read() {
    const { value } = await database.kysely.selectFrom('change_counter').select('value').executeTakeFirstOrThrow()
    return value
  },
})

/**
 * This must be the last statement of a transaction: all transactions share its row, so it is locked for the shortest
 * time, and taking it last everywhere prevents deadlocks.
 */
export const bumpChangeCounter = async (transaction: Transaction<Schema>): Promise<void> => {
  await transaction
    .updateTable('change_counter')
    .set((eb) => ({ value: eb('value', '+', 1) }))
    .where('id', '=', 1)
    .execute()
}
