/** Destinations of traces. Their configuration is sealed as a whole, because addresses contain secrets too. */
import type { Selectable, Transaction } from 'kysely'

import { destinationSettings, type DestinationSettings, type DestinationType } from '../../contract/destination.ts'
import type { Slice } from '../../contract/paging.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { type AuditedChange, type Change, type ChangedBy, recordChange } from '../changes/audit-log.ts'
import type { Database } from '../database.ts'
import { readEach, type ReadRows, readStored, readStoredJson, shownIfReadable } from '../rows/damaged-row.ts'
import type { Once } from '../changes/idempotency.ts'
import type { DestinationsTable } from '../tables/management-tables.ts'
import { type Page, readPage } from '../statements/page.ts'
import type { Schema } from '../tables/schema.ts'
import type { TextSeal } from '../rows/seal.ts'
import { flag } from '../statements/sql-values.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'
import { readSettings } from '../workspaces/workspace-settings.ts'

export interface DestinationRecord {
  readonly id: string
  readonly workspaceId: string
  readonly type: DestinationType
  /** JSON, in the form in which it is stored. */
  readonly config: JsonObject
  readonly settings: DestinationSettings
  readonly createdAt: string
  readonly updatedAt: string
}

/** Why a destination was not stored. */
export type DestinationConflict = 'name' | 'count' | 'changed'

export interface DestinationStore {
  /** `shown` is the configuration without secrets, for the audit log. */
  insert(
    record: DestinationRecord,
    shown: JsonObject,
    by: ChangedBy,
    once?: Once<DestinationConflict | null>,
  ): Promise<DestinationConflict | null>
  get(scope: string | null, id: string): Promise<DestinationRecord | null>
  /** Oldest first. */
  list(workspaceId: string, slice: Slice): Promise<Page<DestinationRecord>>
  /** Replaces the record if it is still the same as `before`. */
  replace(before: DestinationRecord, after: DestinationRecord, shown: JsonObject, by: ChangedBy): Promise<DestinationConflict | null>
  /** The row stays for history, without its configuration. */
  delete(scope: string | null, id: string, change: Change): Promise<boolean>
  /** The enabled destinations of workspaces with broadcasting. */
  inForce(): Promise<ReadRows<DestinationRecord>>
}

/** The most destinations of one type in a workspace. */
export const DESTINATIONS_MAX = 5

export const createDestinationStore = (database: Database, seal: TextSeal): DestinationStore => {
  const toRow = (record: DestinationRecord): Selectable<DestinationsTable> => ({
    id: record.id,
    workspace_id: record.workspaceId,
    type: record.type,
    name: record.settings.name,
    enabled: flag(record.settings.enabled),
    settings: JSON.stringify(record.settings),
    sealed_config: seal.seal(JSON.stringify(record.config), contextOf(record.id)),
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    deleted_at: null,
  })
  const toRecord = (row: Selectable<DestinationsTable>): DestinationRecord => ({
    id: row.id,
    workspaceId: row.workspace_id,
    type: row.type,
    config: readStored(
      'observability_destinations',
      row.id,
      () => JSON.parse(seal.open(row.sealed_config, contextOf(row.id))) as JsonObject,
    ),
    settings: readDestinationSettings(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  })

  return {
    insert: (record, shown, by, once) =>
      recordChange<DestinationConflict | null>(database, { by, now: record.createdAt, once }, async (transaction) => {
        await lockWorkspace(transaction, record.workspaceId)
        const conflict = await conflictOf(transaction, record, true)
        if (conflict !== null) return { result: conflict, audit: null }
        await transaction.insertInto('observability_destinations').values(toRow(record)).execute()
        return { result: null, audit: audited('created', record, null, viewOf(record, shown)) }
      }),

    async get(scope, id) {
      const row = await database.kysely
        .selectFrom('observability_destinations')
        .selectAll()
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .$if(scope !== null, (query) => query.where('workspace_id', '=', scope ?? ''))
        .executeTakeFirst()
      return row === undefined ? null : toRecord(row)
    },

    async list(workspaceId, slice) {
      const sorted = database.kysely
        .selectFrom('observability_destinations')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('deleted_at', 'is', null)
        .orderBy('created_at')
        .orderBy('id')
      return readPage(sorted, slice, toRecord)
    },

    replace: (before, after, shown, by) =>
      recordChange<DestinationConflict | null>(database, { by, now: after.updatedAt }, async (transaction) => {
        await lockWorkspace(transaction, after.workspaceId)
        const conflict = await conflictOf(transaction, after, false)
        if (conflict !== null) return { result: conflict, audit: null }
        const changed = await transaction
          .updateTable('observability_destinations')
          .set(toRow(after))
          .where('id', '=', before.id)
          .where('updated_at', '=', before.updatedAt)
          .where('deleted_at', 'is', null)
          .returning('id')
          .executeTakeFirst()
        if (changed === undefined) return { result: 'changed', audit: null }
        return { result: null, audit: audited('updated', after, viewOf(before, null), viewOf(after, shown)) }
      }),

    delete: (scope, id, change) =>
      recordChange(database, change, async (transaction) => {
        const row = await transaction
          .updateTable('observability_destinations')
          .set({ deleted_at: change.now, sealed_config: '', enabled: 0 })
          .where('id', '=', id)
          .where('deleted_at', 'is', null)
          .$if(scope !== null, (query) => query.where('workspace_id', '=', scope ?? ''))
          .returning(['id', 'workspace_id', 'type', 'settings'])
          .executeTakeFirst()
        if (row === undefined) return { result: false, audit: null }
        const before = shownIfReadable(() => viewOf({ type: row.type, settings: readDestinationSettings(row) }, null))
        return { result: true, audit: audited('deleted', { id, workspaceId: row.workspace_id }, before, null) }
      }),

    async inForce() {
      const rows = await database.kysely
        .selectFrom('observability_destinations')
        .innerJoin('workspaces', 'workspaces.id', 'observability_destinations.workspace_id')
        .selectAll('observability_destinations')
        .select('workspaces.settings as workspace_settings')
        .where('observability_destinations.enabled', '=', 1)
        .where('observability_destinations.deleted_at', 'is', null)
        .where('workspaces.deleted_at', 'is', null)
        .execute()
      const { read, damaged } = readEach(rows, (row) =>
        readSettings(row.workspace_id, row.workspace_settings).is_observability_broadcast_enabled ? toRecord(row) : [],
      )
      return { read: read.flat(), damaged }
    },
  }
}

const readDestinationSettings = ({ id, settings }: Pick<Selectable<DestinationsTable>, 'id' | 'settings'>): DestinationSettings =>
  readStoredJson('observability_destinations', id, destinationSettings, settings)

const contextOf = (id: string): string => `observability-destination ${id}`

const conflictOf = async (
  transaction: Transaction<Schema>,
  { id, workspaceId, type, settings }: DestinationRecord,
  isNew: boolean,
): Promise<DestinationConflict | null> => {
  const others = await transaction
    .selectFrom('observability_destinations')
    .select(['name', 'type'])
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where('id', '!=', id)
    .execute()
  if (settings.name !== null && others.some(({ name }) => name === settings.name)) return 'name'
  return isNew && others.filter((other) => other.type === type).length >= DESTINATIONS_MAX ? 'count' : null
}

const audited = (
  action: string,
  record: Pick<DestinationRecord, 'id' | 'workspaceId'>,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditedChange => ({
  workspaceId: record.workspaceId,
  action,
  objectType: 'observability_destination',
  objectId: record.id,
  before,
  after,
})

const viewOf = ({ type, settings }: Pick<DestinationRecord, 'type' | 'settings'>, config: JsonObject | null): JsonObject =>
  ({ type, ...settings, ...(config === null ? {} : { config }) }) as JsonObject
