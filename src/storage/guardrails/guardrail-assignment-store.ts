import type { Transaction } from 'kysely'

import type { KeyAssignmentResource, MemberAssignmentResource } from '../../contract/guardrail.ts'
import type { Slice } from '../../contract/paging.ts'
import { type AuditedChange, type Change, recordChange } from '../changes/audit-log.ts'
import type { Database } from '../database.ts'
import { deleteCodesOfKey } from '../workspaces/oauth-code-store.ts'
import type { Schema } from '../tables/schema.ts'
import { type Page, readPage } from '../statements/page.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'

export type SubjectKind = 'key' | 'member'

export interface NewAssignment {
  readonly id: string
  readonly subject: string
}

export interface AssignmentsQuery extends Slice {
  readonly workspaceId: string
  /** Null means all guardrails. */
  readonly guardrailId: string | null
}

export interface GuardrailAssignmentStore {
  /**
   * A subject has one guardrail: an assignment to another guardrail moves to this one. Returns how many subjects were not assigned to it
   * before, or which subjects the workspace does not have, or null if the guardrail is gone; in these cases nothing is changed.
   */
  assign(
    input: { workspaceId: string; guardrailId: string; kind: SubjectKind; assignments: readonly NewAssignment[] },
    change: Change,
  ): Promise<{ readonly assigned: number } | { readonly unknown: readonly string[] } | null>
  /** Returns how many were assigned. */
  unassign(
    input: { workspaceId: string; guardrailId: string; kind: SubjectKind; subjects: readonly string[] },
    change: Change,
  ): Promise<number>
  /** Newest first, without revoked keys. */
  keys(query: AssignmentsQuery): Promise<Page<KeyAssignmentResource>>
  members(query: AssignmentsQuery): Promise<Page<MemberAssignmentResource>>
}

export const createGuardrailAssignmentStore = (database: Database): GuardrailAssignmentStore => ({
  assign: ({ workspaceId, guardrailId, kind, assignments }, change) =>
    changeAssignments<{ assigned: number } | { unknown: readonly string[] } | null>(database, workspaceId, change, async (transaction) => {
      const guardrail = await transaction.selectFrom('guardrails').select('id').where('id', '=', guardrailId).executeTakeFirst()
      if (guardrail === undefined) return { result: null, audit: null }
      const subjects = assignments.map(({ subject }) => subject)
      const known = await knownOf(transaction, workspaceId, kind, subjects)
      const unknown = subjects.filter((subject) => !known.has(subject))
      if (unknown.length > 0) return { result: { unknown }, audit: null }
      const here = await transaction
        .selectFrom('guardrail_assignments')
        .select('subject')
        .where('guardrail_id', '=', guardrailId)
        .where('subject_kind', '=', kind)
        .where('subject', 'in', subjects)
        .execute()
      const already = new Set(here.map(({ subject }) => subject))
      const fresh = assignments.filter(({ subject }) => !already.has(subject))
      for (const { id, subject } of fresh) {
        await transaction
          .insertInto('guardrail_assignments')
          .values({
            id,
            guardrail_id: guardrailId,
            workspace_id: workspaceId,
            subject_kind: kind,
            subject,
            assigned_by: change.by.userId,
            created_at: change.now,
          })
          .onConflict((conflict) =>
            conflict
              .columns(['workspace_id', 'subject_kind', 'subject'])
              .doUpdateSet({ guardrail_id: guardrailId, assigned_by: change.by.userId, created_at: change.now }),
          )
          .execute()
        if (kind === 'key') await deleteCodesOfKey(transaction, subject)
      }
      const assigned = fresh.map(({ subject }) => subject)
      return { result: { assigned: assigned.length }, audit: audited('assigned', { workspaceId, guardrailId, kind, subjects: assigned }) }
    }),

  unassign: ({ workspaceId, guardrailId, kind, subjects }, change) =>
    changeAssignments(database, workspaceId, change, async (transaction) => {
      const removed = await transaction
        .deleteFrom('guardrail_assignments')
        .where('workspace_id', '=', workspaceId)
        .where('guardrail_id', '=', guardrailId)
        .where('subject_kind', '=', kind)
        .where('subject', 'in', subjects)
        .returning('subject')
        .execute()
      return {
        result: removed.length,
        audit: audited('unassigned', { workspaceId, guardrailId, kind, subjects: removed.map(({ subject }) => subject) }),
      }
    }),

  async keys({ workspaceId, guardrailId, ...slice }) {
    const sorted = database.kysely
      .selectFrom('guardrail_assignments')
      .innerJoin('api_keys', 'api_keys.hash', 'guardrail_assignments.subject')
      .where('guardrail_assignments.workspace_id', '=', workspaceId)
      .where('guardrail_assignments.subject_kind', '=', 'key')
      .where('api_keys.deleted_at', 'is', null)
      .$if(guardrailId !== null, (query) => query.where('guardrail_assignments.guardrail_id', '=', guardrailId ?? ''))
      .selectAll('guardrail_assignments')
      .select(['api_keys.name', 'api_keys.label'])
      .orderBy('guardrail_assignments.created_at', 'desc')
      .orderBy('guardrail_assignments.id', 'desc')
    return readPage(sorted, slice, ({ id, guardrail_id, subject, assigned_by, created_at, name, label }) => ({
      id,
      guardrail_id,
      key_hash: subject,
      key_name: name,
      key_label: label,
      assigned_by,
      created_at,
    }))
  },

  async members({ workspaceId, guardrailId, ...slice }) {
    const sorted = database.kysely
      .selectFrom('guardrail_assignments')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('subject_kind', '=', 'member')
      .$if(guardrailId !== null, (query) => query.where('guardrail_id', '=', guardrailId ?? ''))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
    return readPage(sorted, slice, ({ id, guardrail_id, subject, assigned_by, created_at }) => ({
      id,
      guardrail_id,
      user_id: subject,
      organization_id: workspaceId,
      assigned_by,
      created_at,
    }))
  },
})

/**
 * Changes assignments of a workspace, one request at a time: two that write the same rows in different orders would wait for one another
 * on PostgreSQL. Within this process they queue, so that only one of them occupies a connection.
 */
export const changeAssignments = <T>(
  database: Database,
  workspaceId: string,
  change: Change,
  work: (transaction: Transaction<Schema>) => Promise<{ result: T; audit: AuditedChange | null }>,
): Promise<T> =>
  database.inLine(`assignments ${workspaceId}`, () =>
    recordChange<T>(database, change, async (transaction) => {
      await lockWorkspace(transaction, workspaceId)
      return work(transaction)
    }),
  )

/** Returns the given keys or users that belong to the workspace; its creator counts as a member. */
const knownOf = async (
  transaction: Transaction<Schema>,
  workspaceId: string,
  kind: SubjectKind,
  subjects: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (kind === 'key') {
    const keys = await transaction
      .selectFrom('api_keys')
      .select('hash')
      .where('workspace_id', '=', workspaceId)
      .where('deleted_at', 'is', null)
      .where('hash', 'in', subjects)
      .execute()
    return new Set(keys.map(({ hash }) => hash))
  }
  const members = await transaction
    .selectFrom('workspace_members')
    .select('user_id')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', 'in', subjects)
    .union(
      transaction
        .selectFrom('workspaces')
        .select('created_by as user_id')
        .where('id', '=', workspaceId)
        .where('created_by', 'in', subjects),
    )
    .execute()
  return new Set(members.map(({ user_id }) => user_id))
}

/** Null if nothing was assigned or unassigned. */
const audited = (
  done: 'assigned' | 'unassigned',
  {
    workspaceId,
    guardrailId,
    kind,
    subjects,
  }: { workspaceId: string; guardrailId: string; kind: SubjectKind; subjects: readonly string[] },
): AuditedChange | null =>
  subjects.length === 0
    ? null
    : {
        workspaceId,
        action: `${kind}s_${done}`,
        objectType: 'guardrail',
        objectId: guardrailId,
        before: null,
        after: kind === 'key' ? { key_hashes: subjects } : { user_ids: subjects },
      }
