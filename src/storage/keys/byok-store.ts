/** Customers' own provider keys as stored: sealed, so nothing here can read them. */
import type { Selectable, Transaction } from 'kysely'
import { z } from 'zod'

import { type Reach, scopeOf } from '../../canonical/reach.ts'
import type { ByokUse } from '../../contract/byok.ts'
import type { Slice } from '../../contract/paging.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { type AuditedChange, type Change, type ChangedBy, recordChange } from '../changes/audit-log.ts'
import type { Database } from '../database.ts'
import { readStoredJson, shownIfReadable } from '../rows/damaged-row.ts'
import type { Once } from '../changes/idempotency.ts'
import type { ByokKeysTable } from '../tables/management-tables.ts'
import type { Schema } from '../tables/schema.ts'
import { flag } from '../statements/sql-values.ts'
import { type Page, readPage } from '../statements/page.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'

export interface ByokRecord {
  readonly id: string
  /** Null means all workspaces. */
  readonly workspaceId: string | null
  readonly provider: string
  readonly label: string
  readonly use: ByokUse
  /** Incremented with every new secret. */
  readonly version: number
  /** byok/envelope.ts */
  readonly sealedSecret: string
  readonly wrappedDataKey: string
  readonly kekId: string
  readonly createdAt: string
  readonly updatedAt: string
}

export interface ByokStore {
  /** `auditWorkspaceId` is the workspace whose audit log gets the entry, because the key may be for all workspaces. */
  insert(record: ByokRecord, auditWorkspaceId: string, by: ChangedBy, once?: Once<void>): Promise<void>
  get(id: string): Promise<ByokRecord | null>
  /** By provider and sort order. `everywhere` includes the keys for all workspaces. */
  list(filter: ByokFilter & Slice): Promise<Page<ByokRecord>>
  /** All keys that requests of the workspace may use, in the order in which they are tried. */
  inForce(workspaceId: string): Promise<readonly ByokRecord[]>
  /** Replaces the record if it is still as it was when `record` was derived from it; returns false otherwise. */
  replace(record: ByokRecord, before: ByokRecord, auditWorkspaceId: string, by: ChangedBy): Promise<boolean>
  /** Deletes the row with the sealed secret, and returns whose it was; null if none is in reach. */
  delete(reach: Reach, id: string, change: Change): Promise<Pick<ByokRecord, 'workspaceId'> | null>
  nextSortOrder(workspaceId: string | null, provider: string): Promise<number>
  /** The records whose data key is sealed under another key, at most `limit`. */
  sealedUnderOther(kekId: string, limit: number): Promise<readonly ByokRecord[]>
  /** Stores this version's data key as sealed under another key. */
  rewrap(record: ByokRecord): Promise<void>
}

interface ByokFilter {
  readonly workspaceId: string
  readonly everywhere: boolean
  readonly provider?: string | undefined
}

export const createByokStore = (database: Database): ByokStore => ({
  insert: (record, auditWorkspaceId, by, once) =>
    recordChange<void>(database, { by, now: record.createdAt, once }, async (transaction) => {
      if (record.workspaceId !== null) await lockWorkspace(transaction, record.workspaceId)
      await transaction.insertInto('byok_keys').values(toRow(record)).execute()
      return { result: undefined, audit: audited('created', auditWorkspaceId, record.id, null, auditView(record)) }
    }),

  async get(id) {
    const row = await database.kysely.selectFrom('byok_keys').selectAll().where('id', '=', id).executeTakeFirst()
    return row === undefined ? null : toRecord(row)
  },

  async list({ workspaceId, everywhere, provider, ...slice }) {
    const sorted = database.kysely
      .selectFrom('byok_keys')
      .selectAll()
      .where((eb) =>
        everywhere ? eb.or([eb('workspace_id', '=', workspaceId), eb('workspace_id', 'is', null)]) : eb('workspace_id', '=', workspaceId),
      )
      .$if(provider !== undefined, (query) => query.where('provider', '=', provider ?? ''))
      .orderBy('provider')
      .orderBy('sort_order')
      .orderBy('created_at')
      .orderBy('id')
    return readPage(sorted, slice, toRecord)
  },

  async inForce(workspaceId) {
    const rows = await database.kysely
      .selectFrom('byok_keys')
      .selectAll()
      .where((eb) => eb.or([eb('workspace_id', '=', workspaceId), eb('workspace_id', 'is', null)]))
      .where('disabled', '=', 0)
      .orderBy('sort_order')
      .orderBy('created_at')
      .orderBy('id')
      .limit(IN_FORCE_MAX)
      .execute()
    return rows.map(toRecord)
  },

  replace: (record, before, auditWorkspaceId, by) =>
    recordChange(database, { by, now: record.updatedAt }, async (transaction) => {
      const row = await changeAsRead(transaction, before, record)
      return { result: row, audit: row ? audited('updated', auditWorkspaceId, record.id, auditView(before), auditView(record)) : null }
    }),

  delete: (reach, id, change) =>
    recordChange<Pick<ByokRecord, 'workspaceId'> | null>(database, change, async (transaction) => {
      const scope = scopeOf(reach)
      const row = await transaction
        .deleteFrom('byok_keys')
        .where('id', '=', id)
        .where((eb) =>
          eb.or([
            scope === null ? eb('workspace_id', 'is not', null) : eb('workspace_id', '=', scope),
            ...(reach.isOperator ? [eb('workspace_id', 'is', null)] : []),
          ]),
        )
        .returningAll()
        .executeTakeFirst()
      if (row === undefined) return { result: null, audit: null }
      const workspaceId = row.workspace_id
      const before = shownIfReadable(() => auditView(toRecord(row)))
      return { result: { workspaceId }, audit: audited('deleted', workspaceId ?? reach.workspaceId, id, before, null) }
    }),

  async nextSortOrder(workspaceId, provider) {
    const last = await database.kysely
      .selectFrom('byok_keys')
      .select('sort_order')
      .where('workspace_id', workspaceId === null ? 'is' : '=', workspaceId)
      .where('provider', '=', provider)
      .orderBy('sort_order', 'desc')
      .executeTakeFirst()
    return last === undefined ? 0 : last.sort_order + 1
  },

  async sealedUnderOther(kekId, limit) {
    const rows = await database.kysely.selectFrom('byok_keys').selectAll().where('kek_id', '!=', kekId).orderBy('id').limit(limit).execute()
    return rows.map(toRecord)
  },

  rewrap: ({ id, version, wrappedDataKey, kekId }) =>
    database.transaction(async (transaction) => {
      await transaction
        .updateTable('byok_keys')
        .set({ wrapped_data_key: wrappedDataKey, kek_id: kekId })
        .where('id', '=', id)
        .where('version', '=', version)
        .execute()
    }),
})

/** More than anybody has; the work of a request must be bounded. */
const IN_FORCE_MAX = 1000

/**
 * Fails if the record was changed since it was read, since one of two concurrent changes would be lost. A rewrap is no such change: without
 * a new secret, the secret and its data key stay as they are stored.
 */
const changeAsRead = async (transaction: Transaction<Schema>, before: ByokRecord, record: ByokRecord): Promise<boolean> => {
  const changed = await transaction
    .updateTable('byok_keys')
    .set(record.version === before.version ? withoutSecret(record) : toRow(record))
    .where('id', '=', before.id)
    .where('version', '=', before.version)
    .where('updated_at', '=', before.updatedAt)
    .returning('id')
    .executeTakeFirst()
  return changed !== undefined
}

const audited = (
  action: string,
  workspaceId: string,
  objectId: string,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditedChange => ({ workspaceId, action, objectType: 'provider_key', objectId, before, after })

const auditView = ({ provider, label, workspaceId, version, use }: ByokRecord): JsonObject => ({
  provider,
  label,
  workspace_id: workspaceId,
  version,
  ...use,
})

const toRecord = (row: Selectable<ByokKeysTable>): ByokRecord => ({
  id: row.id,
  workspaceId: row.workspace_id,
  provider: row.provider,
  label: row.label,
  use: {
    name: row.name,
    disabled: row.disabled === 1,
    is_fallback: row.is_fallback === 1,
    is_required: row.is_required === 1,
    is_byok_only: row.is_byok_only === 1,
    declared_zdr: row.declared_zdr === null ? null : row.declared_zdr === 1,
    sort_order: row.sort_order,
    allowed_models: listOf(row.id, row.allowed_models),
    allowed_user_ids: listOf(row.id, row.allowed_user_ids),
    allowed_api_key_hashes: listOf(row.id, row.allowed_api_key_hashes),
  },
  version: row.version,
  sealedSecret: row.sealed_secret,
  wrappedDataKey: row.wrapped_data_key,
  kekId: row.kek_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const toRow = (record: ByokRecord): Selectable<ByokKeysTable> => ({
  ...withoutSecret(record),
  sealed_secret: record.sealedSecret,
  wrapped_data_key: record.wrappedDataKey,
  kek_id: record.kekId,
})

const withoutSecret = ({
  use,
  ...record
}: ByokRecord): Omit<Selectable<ByokKeysTable>, 'sealed_secret' | 'wrapped_data_key' | 'kek_id'> => ({
  id: record.id,
  workspace_id: record.workspaceId,
  provider: record.provider,
  label: record.label,
  name: use.name,
  disabled: flag(use.disabled),
  is_fallback: flag(use.is_fallback),
  is_required: flag(use.is_required),
  is_byok_only: flag(use.is_byok_only),
  declared_zdr: use.declared_zdr === null ? null : flag(use.declared_zdr),
  sort_order: use.sort_order,
  allowed_models: textOf(use.allowed_models),
  allowed_user_ids: textOf(use.allowed_user_ids),
  allowed_api_key_hashes: textOf(use.allowed_api_key_hashes),
  version: record.version,
  created_at: record.createdAt,
  updated_at: record.updatedAt,
})

const textList = z.array(z.string())

const listOf = (id: string, text: string | null): string[] | null =>
  text === null ? null : readStoredJson('byok_keys', id, textList, text)

const textOf = (list: readonly string[] | null): string | null => (list === null ? null : JSON.stringify(list))
