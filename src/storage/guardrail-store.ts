import { type Selectable, type Transaction } from 'kysely'

import type { GuardrailResource, GuardrailSettings } from '../contract/guardrail.ts'
import type { Slice } from '../contract/paging.ts'
import { dollars, nanosOf } from '../lib/money.ts'
import { bumpChangeCounter } from './change-counter.ts'
import type { Database } from './database.ts'
import type { GuardrailsTable } from './guardrail-tables.ts'
import type { Page } from './preset-store.ts'
import type { Schema } from './schema.ts'
import { flag } from './sql-values.ts'

/** Why a guardrail applies to a caller. */
export type AppliedBy = 'key' | 'member' | 'workspace'

export interface GuardrailStore {
  insert(guardrail: GuardrailResource): Promise<void>
  /** Null if the workspace has no such guardrail, as for the next three. */
  get(workspaceId: string, id: string): Promise<GuardrailResource | null>
  /** Reads, changes and writes in one transaction; `change` may run several times. */
  update(
    workspaceId: string,
    id: string,
    change: (settings: GuardrailResource) => GuardrailSettings,
    now: string,
  ): Promise<GuardrailResource | null>
  /** That of the whole workspace; made, under this id, where there is none yet. */
  upsertDefault(
    made: GuardrailResource,
    change: (settings: GuardrailResource) => GuardrailSettings,
    now: string,
  ): Promise<GuardrailResource>
  /** With its assignments. */
  delete(workspaceId: string, id: string): Promise<boolean>
  /** Newest first. */
  list(workspaceId: string, slice: Slice): Promise<Page<GuardrailResource>>
  /** At most three: the key's, the member's, the workspace's, in this order. */
  applyingTo(caller: {
    workspaceId: string
    keyHash: string
    userId: string
  }): Promise<readonly { guardrail: GuardrailResource; by: AppliedBy }[]>
}

export const createGuardrailStore = (database: Database): GuardrailStore => ({
  insert: (guardrail) =>
    database.transaction(async (transaction) => {
      await transaction.insertInto('guardrails').values(newRow(guardrail, false)).execute()
      await bumpChangeCounter(transaction)
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

  update: (workspaceId, id, change, now) =>
    database.transaction(async (transaction) => updateIn(transaction, database.engine === 'postgres', { workspaceId, id, change, now })),

  upsertDefault: (made, change, now) =>
    database.transaction(async (transaction) => {
      await transaction
        .insertInto('guardrails')
        .values(newRow(made, true))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      const changed = await updateIn(transaction, database.engine === 'postgres', {
        workspaceId: made.workspace_id,
        id: made.id,
        change,
        now,
      })
      return changed ?? made
    }),

  delete: (workspaceId, id) =>
    database.transaction(async (transaction) => {
      await transaction.deleteFrom('guardrail_assignments').where('workspace_id', '=', workspaceId).where('guardrail_id', '=', id).execute()
      const deleted = await transaction
        .deleteFrom('guardrails')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
      if (deleted === undefined) return false
      await bumpChangeCounter(transaction)
      return true
    }),

  async list(workspaceId, { offset, limit }) {
    const ofWorkspace = database.kysely.selectFrom('guardrails').where('workspace_id', '=', workspaceId)
    const rows = await ofWorkspace.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').offset(offset).limit(limit).execute()
    const { count } = await ofWorkspace.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
    return { items: rows.map(toGuardrail), totalCount: count }
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

const updateIn = async (
  transaction: Transaction<Schema>,
  locks: boolean,
  { workspaceId, id, change, now }: { workspaceId: string; id: string; change: (was: GuardrailResource) => GuardrailSettings; now: string },
): Promise<GuardrailResource | null> => {
  const row = await transaction
    .selectFrom('guardrails')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst()
  if (row === undefined) return null
  const was = toGuardrail(row)
  const changed: GuardrailResource = { ...was, ...change(was), updated_at: now }
  const { id: _, workspace_id: __, is_default: ___, created_at: ____, ...columns } = newRow(changed, row.is_default === 1)
  await transaction.updateTable('guardrails').set(columns).where('id', '=', id).execute()
  await bumpChangeCounter(transaction)
  return changed
}

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

type OtherSettings = Omit<GuardrailSettings, 'name' | 'limit_usd' | 'reset_interval' | 'include_byok_in_budgets'>

const toGuardrail = (row: Selectable<GuardrailsTable>): GuardrailResource => ({
  id: row.id,
  name: row.name,
  workspace_id: row.workspace_id,
  limit_usd: row.limit_nanos === null ? null : dollars(row.limit_nanos),
  reset_interval: row.reset_interval,
  include_byok_in_budgets: row.include_byok === 1,
  ...(JSON.parse(row.settings) as OtherSettings),
  created_at: row.created_at,
  updated_at: row.updated_at,
})
