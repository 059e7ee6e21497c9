import { isDeepStrictEqual } from 'node:util'

import { type Selectable, type Transaction } from 'kysely'

import type { GuardrailResource, GuardrailSettings } from '../../contract/guardrail.ts'
import type { Slice } from '../../contract/paging.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { dollars, nanosOf } from '../../lib/money.ts'
import { type AuditedChange, type Change, type ChangedBy, recordChange } from '../changes/audit-log.ts'
import type { Database } from '../database.ts'
import { shownIfReadable } from '../rows/damaged-row.ts'
import { readSettings } from './stored-settings.ts'
import { changeAssignments } from './guardrail-assignment-store.ts'
import type { GuardrailsTable } from '../tables/guardrail-tables.ts'
import type { Once } from '../changes/idempotency.ts'
import { readModels } from '../keys/key-record.ts'
import type { Schema } from '../tables/schema.ts'
import { flag } from '../statements/sql-values.ts'
import { type Page, readPage } from '../statements/page.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'

/** Why a guardrail applies to a caller. */
export type AppliedBy = 'key' | 'member' | 'workspace'

export interface GuardrailStore {
  insert(guardrail: GuardrailResource, by: ChangedBy, once?: Once<void>): Promise<void>
  /** Null if the workspace has no such guardrail; this also holds for the methods that change one. */
  get(workspaceId: string, id: string): Promise<GuardrailResource | null>
  /** Null for a guardrail that was never written. */
  workspaceOf(id: string): Promise<string | null>
  /** The ids of all workspaces. */
  workspaceIds(): Promise<readonly string[]>
  /** Reads, changes and writes in one transaction; `edit` may be called several times. */
  update(
    workspaceId: string,
    id: string,
    edit: (settings: GuardrailResource) => GuardrailSettings,
    change: Change,
  ): Promise<GuardrailResource | null>
  /** Changes the workspace's default guardrail; creates it from `made` if there is none yet. */
  upsertDefault(
    made: GuardrailResource,
    edit: (settings: GuardrailResource) => GuardrailSettings,
    change: Change,
  ): Promise<GuardrailResource>
  /** Also deletes its assignments. */
  delete(workspaceId: string, id: string, change: Change): Promise<boolean>
  /** Newest first. */
  list(workspaceId: string, slice: Slice): Promise<Page<GuardrailResource>>
  /** At most three: the key's, the member's and the workspace's, in this order. */
  applyingTo(caller: {
    workspaceId: string
    keyHash: string
    userId: string
  }): Promise<readonly { guardrail: GuardrailResource; by: AppliedBy }[]>
  /** The models that the key may call; null means any. */
  modelsOf(keyHash: string): Promise<readonly string[] | null>
}

export const createGuardrailStore = (database: Database): GuardrailStore => ({
  insert: (guardrail, by, once) =>
    recordChange<void>(database, { by, now: guardrail.created_at, once }, async (transaction) => {
      await lockWorkspace(transaction, guardrail.workspace_id)
      await transaction.insertInto('guardrails').values(newRow(guardrail, false)).execute()
      return { result: undefined, audit: audited('created', null, guardrail) }
    }),

  async get(workspaceId, id) {
    const row = await database.kysely
      .selectFrom('guardrails')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .executeTakeFirst()
    return row === undefined ? null : toGuardrail(row)
  },

  async workspaceOf(id) {
    const row = await database.kysely.selectFrom('guardrails').select('workspace_id').where('id', '=', id).executeTakeFirst()
    return row?.workspace_id ?? null
  },

  async workspaceIds() {
    const rows = await database.kysely.selectFrom('workspaces').select('id').where('deleted_at', 'is', null).execute()
    return rows.map(({ id }) => id)
  },

  update: (workspaceId, id, edit, change) =>
    recordChange<GuardrailResource | null>(database, change, async (transaction) => {
      const before = await lock(transaction, workspaceId, id)
      if (before === null) return { result: null, audit: null }
      const changed = { ...before, ...edit(before) }
      if (isDeepStrictEqual(changed, before)) return { result: before, audit: null }
      const after = await write(transaction, { ...changed, updated_at: change.now })
      return { result: after, audit: audited('updated', before, after) }
    }),

  upsertDefault: (made, edit, change) =>
    recordChange(database, change, async (transaction) => {
      await lockWorkspace(transaction, made.workspace_id)
      const fresh = await transaction
        .insertInto('guardrails')
        .values(newRow(made, true))
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .executeTakeFirst()
      const before = (await lock(transaction, made.workspace_id, made.id)) ?? made
      const changed = { ...before, ...edit(before) }
      if (fresh === undefined && isDeepStrictEqual(changed, before)) return { result: before, audit: null }
      const after = await write(transaction, { ...changed, updated_at: change.now })
      return { result: after, audit: fresh === undefined ? audited('updated', before, after) : audited('created', null, after) }
    }),

  delete: (workspaceId, id, change) =>
    changeAssignments(database, workspaceId, change, async (transaction) => {
      await transaction.deleteFrom('guardrail_assignments').where('workspace_id', '=', workspaceId).where('guardrail_id', '=', id).execute()
      const row = await transaction
        .deleteFrom('guardrails')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined) return { result: false, audit: null }
      const before = shownIfReadable(() => auditView(toGuardrail(row)))
      return { result: true, audit: { workspaceId, action: 'deleted', objectType: 'guardrail', objectId: id, before, after: null } }
    }),

  async list(workspaceId, slice) {
    const sorted = database.kysely
      .selectFrom('guardrails')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
    return readPage(sorted, slice, toGuardrail)
  },

  async modelsOf(keyHash) {
    const row = await database.kysely.selectFrom('api_keys').select('allowed_models').where('hash', '=', keyHash).executeTakeFirst()
    return row === undefined ? null : readModels(keyHash, row.allowed_models)
  },

  async applyingTo({ workspaceId, keyHash, userId }) {
    const rows = await database.kysely
      .selectFrom('guardrails')
      .leftJoin('guardrail_assignments', 'guardrail_assignments.guardrail_id', 'guardrails.id')
      .selectAll('guardrails')
      .select(['guardrail_assignments.subject_kind', 'guardrail_assignments.subject'])
      .where('guardrails.workspace_id', '=', workspaceId)
      .where((eb) =>
        eb.or([
          eb('guardrails.is_default', '=', 1),
          eb.and([eb('guardrail_assignments.subject_kind', '=', 'key'), eb('guardrail_assignments.subject', '=', keyHash)]),
          eb.and([eb('guardrail_assignments.subject_kind', '=', 'member'), eb('guardrail_assignments.subject', '=', userId)]),
        ]),
      )
      .execute()
    const by = (kind: 'key' | 'member', subject: string) =>
      rows.filter((row) => row.subject_kind === kind && row.subject === subject).map((row) => ({ guardrail: toGuardrail(row), by: kind }))
    const ofWorkspace = rows.find(({ is_default }) => is_default === 1)
    return [
      ...by('key', keyHash),
      ...by('member', userId),
      ...(ofWorkspace === undefined ? [] : [{ guardrail: toGuardrail(ofWorkspace), by: 'workspace' as const }]),
    ]
  },
})

/** An update that changes nothing takes the lock on both engines. */
const lock = async (transaction: Transaction<Schema>, workspaceId: string, id: string): Promise<GuardrailResource | null> => {
  const row = await transaction
    .updateTable('guardrails')
    .set({ id })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  return row === undefined ? null : toGuardrail(row)
}

const write = async (transaction: Transaction<Schema>, guardrail: GuardrailResource): Promise<GuardrailResource> => {
  const { id, workspace_id: _, is_default: __, created_at: ___, ...columns } = newRow(guardrail, false)
  await transaction.updateTable('guardrails').set(columns).where('id', '=', id).execute()
  return guardrail
}

const audited = (action: string, before: GuardrailResource | null, after: GuardrailResource): AuditedChange => ({
  workspaceId: after.workspace_id,
  action,
  objectType: 'guardrail',
  objectId: after.id,
  before: before && auditView(before),
  after: auditView(after),
})

/** An absent member is left out instead of being undefined. */
const auditView = ({ content_filter_builtins: builtins, ...rest }: GuardrailResource): JsonObject => ({
  ...rest,
  content_filter_builtins:
    builtins?.map(({ scan_scope, ...entry }) => (scan_scope === undefined ? entry : { ...entry, scan_scope })) ?? null,
})

const newRow = (guardrail: GuardrailResource, isDefault: boolean): Selectable<GuardrailsTable> => {
  const { id, workspace_id, name, limit_usd, reset_interval, include_byok_in_budgets, created_at, updated_at, ...settings } = guardrail
  return {
    id,
    workspace_id,
    is_default: flag(isDefault),
    name,
    limit_nanos: limit_usd === null ? null : nanosOf(limit_usd),
    reset_interval,
    include_byok: flag(include_byok_in_budgets),
    settings: JSON.stringify(settings),
    created_at,
    updated_at,
  }
}

const toGuardrail = (row: Selectable<GuardrailsTable>): GuardrailResource => ({
  id: row.id,
  name: row.name,
  workspace_id: row.workspace_id,
  limit_usd: row.limit_nanos === null ? null : dollars(row.limit_nanos),
  reset_interval: row.reset_interval,
  include_byok_in_budgets: row.include_byok === 1,
  ...readSettings(row.id, row.settings),
  created_at: row.created_at,
  updated_at: row.updated_at,
})
