/**
 * A number that grows with every change of what processes keep in memory (keys, presets). Each process polls it and drops
 * its caches when it moved: the same mechanism for a CLI beside a running service and for many nodes on one PostgreSQL.
 */
import type { Transaction } from 'kysely'

import type { Database } from './database.ts'
import type { Schema } from './schema.ts'

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
 * The last statement of a transaction, always: its row is shared by all of them, so it is locked for the shortest time, and
 * taking it last everywhere means that no two transactions wait for each other.
 */
export const bumpChangeCounter = async (transaction: Transaction<Schema>): Promise<void> => {
  await transaction
    .updateTable('change_counter')
    .set((eb) => ({ value: eb('value', '+', 1) }))
    .where('id', '=', 1)
    .execute()
}
