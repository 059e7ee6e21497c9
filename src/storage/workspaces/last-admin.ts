import type { Transaction } from 'kysely'

import { GatewayError } from '../../errors.ts'
import type { ChangedBy } from '../changes/audit-log.ts'
import type { Schema } from '../tables/schema.ts'
import { lockWorkspace } from './lock-workspace.ts'

/**
 * Refuses that a person who is signed in takes the role of the last admins of a workspace, most likely their own. A management key and
 * the shell may, since they can give it back (decisions/0183). Call it first in the transaction that changes roles, or removes members.
 */
export const requireAnotherAdmin = async (
  transaction: Transaction<Schema>,
  workspaceId: string,
  userIds: readonly string[],
  { sessionId }: ChangedBy,
): Promise<void> => {
  if (sessionId === undefined) return
  // Two admins who remove each other at once must not both succeed.
  await lockWorkspace(transaction, workspaceId)
  const admins = await transaction
    .selectFrom('workspace_members')
    .select('user_id')
    .where('workspace_id', '=', workspaceId)
    .where('role', '=', 'admin')
    .execute()
  if (admins.length === 0 || admins.some(({ user_id }) => !userIds.includes(user_id))) return
  throw new GatewayError('invalid_request', 'The workspace would have no admin: make another member an admin first.')
}
