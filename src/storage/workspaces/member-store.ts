/** The people of each workspace. */
import { isDeepStrictEqual } from 'node:util'

import type { Slice } from '../../contract/paging.ts'
import type { WorkspaceMemberResource } from '../../contract/workspace.ts'
import { type AuditedChange, type Change, recordChange } from '../changes/audit-log.ts'
import type { Database } from '../database.ts'
import { changeAssignments } from '../guardrails/guardrail-assignment-store.ts'
import { requireAnotherAdmin } from './last-admin.ts'
import type { Page } from '../statements/page.ts'
import { endSignInsOf } from './session-store.ts'
import { countOf } from '../usage/workspace-counts.ts'
import { lockWorkspace } from './lock-workspace.ts'

export interface MemberStore {
  list(workspaceId: string, slice: Slice): Promise<Page<WorkspaceMemberResource>>
  has(workspaceId: string, userId: string): Promise<boolean>
  /** Adds and returns the people who were not members yet. */
  add(members: readonly WorkspaceMemberResource[], change: Change): Promise<readonly WorkspaceMemberResource[]>
  /** Null if there is no such member. A change of role ends the person's sessions. */
  update(member: MemberToChange, patch: MemberChanges, change: Change): Promise<WorkspaceMemberResource | null>
  /** Returns how many were removed, or the ids of those who still have keys in the workspace; in that case nothing was changed. */
  remove(workspaceId: string, userIds: readonly string[], change: Change): Promise<number | readonly string[]>
}

export interface MemberToChange {
  readonly workspaceId: string
  readonly userId: string
}

export type MemberChanges = Partial<Pick<WorkspaceMemberResource, 'role' | 'name' | 'email'>>

export const createMemberStore = (database: Database): MemberStore => ({
  async list(workspaceId, { offset, limit }) {
    const wanted = database.kysely.selectFrom('workspace_members').where('workspace_id', '=', workspaceId)
    const items = await wanted.selectAll().orderBy('created_at').orderBy('id').offset(offset).limit(limit).execute()
    return { items, totalCount: await countOf(database.kysely, workspaceId, ['members']) }
  },

  async has(workspaceId, userId) {
    const row = await database.kysely
      .selectFrom('workspace_members')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return row !== undefined
  },

  add: (members, change) =>
    recordChange(database, change, async (transaction) => {
      // Two requests that add the same people must not wait for one another, so both write their rows in the same order.
      const inOrder = members.toSorted((one, other) => (one.user_id < other.user_id ? -1 : 1))
      const [first] = inOrder
      if (first === undefined) return { result: [], audit: null }
      await lockWorkspace(transaction, first.workspace_id)
      // A member may have a row already, if another workspace names the person too.
      await transaction
        .insertInto('users')
        .values(inOrder.map(({ user_id }) => ({ id: user_id, name: user_id, email: null, created_at: change.now })))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute()
      const added = await transaction
        .insertInto('workspace_members')
        .values(inOrder)
        .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id']).doNothing())
        .returningAll()
        .execute()
      return {
        result: added,
        audit: membersAudit(
          'members_added',
          first.workspace_id,
          added.map(({ user_id }) => user_id),
        ),
      }
    }),

  update: ({ workspaceId, userId }, patch, change) =>
    recordChange<WorkspaceMemberResource | null>(database, change, async (transaction) => {
      if (patch.role === 'member') await requireAnotherAdmin(transaction, workspaceId, [userId], change.by)
      const write = (set: MemberChanges | { id: string }) =>
        transaction
          .updateTable('workspace_members')
          .set(set)
          .where('workspace_id', '=', workspaceId)
          .where('user_id', '=', userId)
          .returningAll()
          .executeTakeFirst()
      const found = await transaction
        .selectFrom('workspace_members')
        .select('id')
        .where('workspace_id', '=', workspaceId)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      // An update that changes nothing takes the lock on both engines.
      const before = found === undefined ? undefined : await write({ id: found.id })
      if (before === undefined) return { result: null, audit: null }
      const wanted = memberView({ ...before, ...patch })
      if (isDeepStrictEqual(wanted, memberView(before))) return { result: before, audit: null }
      const after = (await write(wanted)) ?? before
      if (after.role !== before.role) await endSignInsOf(transaction, workspaceId, [userId])
      return {
        result: after,
        audit: {
          workspaceId,
          action: 'updated',
          objectType: 'member',
          objectId: userId,
          before: memberView(before),
          after: memberView(after),
        },
      }
    }),

  remove: (workspaceId, userIds, change) =>
    changeAssignments<number | readonly string[]>(database, workspaceId, change, async (transaction) => {
      await requireAnotherAdmin(transaction, workspaceId, userIds, change.by)
      const busy = await transaction
        .selectFrom('api_keys')
        .select('creator_user_id')
        .distinct()
        .where('workspace_id', '=', workspaceId)
        .where('creator_user_id', 'in', userIds)
        .where('deleted_at', 'is', null)
        .execute()
      if (busy.length > 0) return { result: busy.map(({ creator_user_id }) => creator_user_id), audit: null }
      const removed = await transaction
        .deleteFrom('workspace_members')
        .where('workspace_id', '=', workspaceId)
        .where('user_id', 'in', userIds)
        .returning('user_id')
        .execute()
      await transaction
        .deleteFrom('guardrail_assignments')
        .where('workspace_id', '=', workspaceId)
        .where('subject_kind', '=', 'member')
        .where('subject', 'in', userIds)
        .execute()
      await endSignInsOf(transaction, workspaceId, userIds)
      return {
        result: removed.length,
        audit: membersAudit(
          'members_removed',
          workspaceId,
          removed.map(({ user_id }) => user_id),
        ),
      }
    }),
})

const memberView = ({ role, name, email }: WorkspaceMemberResource) => ({ role, name, email })

/** Null if nobody was added or removed. */
const membersAudit = (action: string, workspaceId: string, userIds: readonly string[]): AuditedChange | null =>
  userIds.length === 0
    ? null
    : {
        workspaceId,
        action,
        objectType: 'workspace',
        objectId: workspaceId,
        before: null,
        after: { user_ids: userIds },
      }
