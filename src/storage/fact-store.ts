import type { Database } from './database.ts'

export interface FactStore {
  /** Writes the fact if it is not there yet; answers what stands now, and whether this call wrote it. */
  establish(name: 'secret-check' | 'first-start', value: string): Promise<{ readonly value: string; readonly written: boolean }>
}

export const createFactStore = (database: Database): FactStore => ({
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
