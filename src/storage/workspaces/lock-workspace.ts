import type { Transaction } from 'kysely'

import { GatewayError } from '../../errors.ts'
import type { Schema } from '../tables/schema.ts'

/**
 * Changes that lock the same workspace wait for each other until they commit, so that two that are made at once cannot both pass a check that
 * only one of them may pass. An update that changes nothing takes the lock on both engines. Throws `not_found` if the workspace was deleted.
 */
export const lockWorkspace = async (transaction: Transaction<Schema>, id: string): Promise<void> => {
  const row = await transaction.updateTable('workspaces').set({ id }).where('id', '=', id).returning('deleted_at').executeTakeFirst()
  if (typeof row?.deleted_at === 'string') throw unknownWorkspace()
}

export const unknownWorkspace = (): GatewayError => new GatewayError('not_found', 'There is no workspace with this id.')
