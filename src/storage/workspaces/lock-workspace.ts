import type { Transaction } from 'kysely'

import type { Schema } from '../tables/schema.ts'

/**
 * Changes that lock the same workspace wait for each other until they commit, so that two that are made at once cannot both pass a check that
 * only one of them may pass. An update that changes nothing takes the lock on both engines.
 */
export const lockWorkspace = async (transaction: Transaction<Schema>, id: string): Promise<void> => {
  await transaction.updateTable('workspaces').set({ id }).where('id', '=', id).execute()
}
