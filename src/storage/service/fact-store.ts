import type { Database } from '../database.ts'

/** `database-id` is missing here because only the engine uses it (sqlite.ts). */
type FactName = 'secret-check' | 'preset-key' | 'first-start' | 'ledger-after' | 'address'

export interface FactStore {
  /** Null if the fact was never established. */
  read(name: FactName): Promise<string | null>
  /** Overwrites the current value. */
  replace(name: FactName, value: string): Promise<void>
  /** Afterwards it is as if the fact had never been established. */
  forget(name: FactName): Promise<void>
  /** Writes the fact if it does not exist yet; returns the current value, and whether this call wrote it. */
  establish(name: FactName, value: string): Promise<{ readonly value: string; readonly written: boolean }>
}

export const createFactStore = (database: Database): FactStore => ({
  async read(name) {
    const fact = await database.kysely.selectFrom('service_facts').select('value').where('name', '=', name).executeTakeFirst()
    return fact?.value ?? null
  },
  replace: (name, value) =>
    database.transaction(async (transaction) => {
      await transaction.updateTable('service_facts').set({ value }).where('name', '=', name).execute()
    }),
  forget: (name) =>
    database.transaction(async (transaction) => {
      await transaction.deleteFrom('service_facts').where('name', '=', name).execute()
    }),
  establish: (name, value) =>
    database.transaction(async (transaction) => {
      const written = await transaction
        .insertInto('service_facts')
        .values({ name, value })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .returning('value')
        .executeTakeFirst()
      if (written !== undefined) return { value, written: true }
      const standing = await transaction.selectFrom('service_facts').select('value').where('name', '=', name).executeTakeFirstOrThrow()
      return { value: standing.value, written: false }
    }),
})
