import { isDeepStrictEqual } from 'node:util'

import { type Selectable, sql, type Transaction } from 'kysely'

import type { Slice } from '../../contract/paging.ts'
import { DEFAULT_SETTINGS, type WorkspaceSettings } from '../../contract/workspace-settings.ts'
import { type AuditedChange, type Change, type ChangedBy, recordChange } from '../changes/audit-log.ts'
import { shownIfReadable } from '../rows/damaged-row.ts'
import type { Database } from '../database.ts'
import type { Once } from '../changes/idempotency.ts'
import { DELETED_WITH_WORKSPACE, type Schema } from '../tables/schema.ts'
import type { WorkspacesTable } from '../tables/service-tables.ts'
import { type Page, readPage } from '../statements/page.ts'
import { readSettings } from './workspace-settings.ts'

export interface WorkspaceRecord {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly description: string | null
  readonly createdAt: string
  readonly createdBy: string
  readonly updatedAt: string
  readonly settings: WorkspaceSettings
}

/** A workspace apart from its settings, which a damaged row does not have. */
export type WorkspaceFound = Omit<WorkspaceRecord, 'settings'>

export type WorkspacePatch = Partial<Pick<WorkspaceRecord, 'slug' | 'name' | 'description'>> & {
  readonly settings: Partial<WorkspaceSettings>
}

export interface WorkspaceStore {
  /** The default workspace and its owner, created now if this database has none. The given ids are only used for that. */
  ensureDefaults(input: { workspaceId: string; userId: string; now: string }): Promise<{ workspaceId: string; userId: string }>
  /** By id or by slug; null if it does not exist or was deleted. */
  get(ref: string): Promise<WorkspaceRecord | null>
  /** Like `get`, without the settings. */
  find(ref: string): Promise<WorkspaceFound | null>
  /** Oldest first. `onlyId` restricts the list to that workspace. */
  list(input: { onlyId: string | null } & Slice): Promise<Page<WorkspaceRecord>>
  /** Returns false if the slug is taken. The creator is the first member. */
  create(workspace: WorkspaceRecord, memberId: string, by: ChangedBy, once?: Once<boolean>): Promise<boolean>
  update(id: string, patch: WorkspacePatch, change: Change): Promise<WorkspaceRecord | 'unknown' | 'slug-taken'>
  /** Refused while the workspace has keys that are not revoked. */
  delete(id: string, change: Change): Promise<'deleted' | 'unknown' | 'has-keys'>
}

export const createWorkspaceStore = (database: Database): WorkspaceStore => ({
  ensureDefaults: ({ workspaceId, userId, now }) =>
    database.transaction(async (transaction) => {
      // Two nodes may start at once: the unique slug makes the second one wait here for the first.
      const made = await transaction
        .insertInto('workspaces')
        .values(
          rowOf({
            id: workspaceId,
            slug: 'default',
            name: 'Default',
            description: null,
            createdAt: now,
            createdBy: userId,
            updatedAt: now,
            settings: DEFAULT_SETTINGS,
          }),
        )
        .onConflict((conflict) => conflict.column('slug').doNothing())
        .returning('id')
        .executeTakeFirst()
      if (made !== undefined) {
        await transaction.insertInto('users').values({ id: userId, name: 'Owner', email: null, created_at: now }).execute()
        await transaction
          .insertInto('workspace_members')
          .values({
            id: founderId(workspaceId),
            workspace_id: workspaceId,
            user_id: userId,
            role: 'admin',
            created_at: now,
            name: 'Owner',
            email: null,
          })
          .execute()
        return { workspaceId, userId }
      }
      const existing = await transaction
        .selectFrom('workspaces')
        .select(['id', 'created_by'])
        .where('slug', '=', 'default')
        .executeTakeFirstOrThrow()
      return { workspaceId: existing.id, userId: existing.created_by }
    }),

  async get(ref) {
    const row = await rowFor(database, ref)
    return row === undefined ? null : toWorkspace(row)
  },

  async find(ref) {
    const row = await rowFor(database, ref)
    return row === undefined ? null : toFound(row)
  },

  async list({ onlyId, ...slice }) {
    const sorted = database.kysely
      .selectFrom('workspaces')
      .selectAll()
      .where('deleted_at', 'is', null)
      .$if(onlyId !== null, (query) => query.where('id', '=', onlyId ?? ''))
      .orderBy('created_at')
      .orderBy('id')
    return readPage(sorted, slice, toWorkspace)
  },

  create: (workspace, memberId, by, once) =>
    recordChange<boolean>(database, { by, now: workspace.createdAt, once }, async (transaction) => {
      const made = await transaction
        .insertInto('workspaces')
        .values(rowOf(workspace))
        .onConflict((conflict) => conflict.column('slug').doNothing())
        .returning('id')
        .executeTakeFirst()
      if (made === undefined) return { result: false, audit: null }
      await transaction
        .insertInto('workspace_members')
        .values({
          id: memberId,
          workspace_id: workspace.id,
          user_id: workspace.createdBy,
          role: 'admin',
          created_at: workspace.createdAt,
          name: null,
          email: null,
        })
        .execute()
      return { result: true, audit: audited('created', workspace.id, null, workspace) }
    }),

  update: (id, patch, change) =>
    recordChange<WorkspaceRecord | 'unknown' | 'slug-taken'>(database, change, async (transaction) => {
      const row = await lock(transaction, id)
      if (row === undefined) return { result: 'unknown', audit: null }
      const before = toWorkspace(row)
      if (patch.slug !== undefined && (await slugIsTaken(transaction, patch.slug, id))) return { result: 'slug-taken', audit: null }
      const { settings, ...columns } = patch
      const changed: WorkspaceRecord = { ...before, ...columns, settings: { ...before.settings, ...settings } }
      if (isDeepStrictEqual(changed, before)) return { result: before, audit: null }
      const after = { ...changed, updatedAt: change.now }
      await transaction.updateTable('workspaces').set(rowOf(after)).where('id', '=', id).execute()
      return { result: after, audit: audited('updated', id, before, after) }
    }),

  delete: (id, change) =>
    recordChange<'deleted' | 'unknown' | 'has-keys'>(database, change, async (transaction) => {
      const row = await lock(transaction, id)
      if (row === undefined) return { result: 'unknown', audit: null }
      const key = await transaction
        .selectFrom('api_keys')
        .select('hash')
        .where('workspace_id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
      if (key !== undefined) return { result: 'has-keys', audit: null }
      await transaction
        .updateTable('observability_destinations')
        .set({ deleted_at: change.now, sealed_config: '', enabled: 0 })
        .where('workspace_id', '=', id)
        .execute()
      for (const table of DELETED_WITH_WORKSPACE) {
        await sql`delete from ${sql.table(table)} where workspace_id = ${id}`.execute(transaction)
      }
      // No slug that may be chosen contains a tilde.
      await transaction
        .updateTable('workspaces')
        .set({ deleted_at: change.now, slug: `${row.slug}~${id}` })
        .where('id', '=', id)
        .execute()
      const before = shownIfReadable(() => toWorkspace(row))
      return { result: 'deleted', audit: audited('deleted', id, before, null) }
    }),
})

/** The same id that 0018 gave to founders who had no row. */
const founderId = (workspaceId: string): string => `founder-${workspaceId}`

const rowFor = async ({ kysely }: Database, ref: string): Promise<Selectable<WorkspacesTable> | undefined> => {
  const rows = await kysely
    .selectFrom('workspaces')
    .selectAll()
    .where((eb) => eb.or([eb('id', '=', ref), eb('slug', '=', ref)]))
    .where('deleted_at', 'is', null)
    .execute()
  // A slug may equal another workspace's id, if it was given before ids were refused as slugs: the workspace with that id comes first.
  return rows.find(({ id }) => id === ref) ?? rows[0]
}

/** An update that changes nothing takes the lock on both engines. */
const lock = (transaction: Transaction<Schema>, id: string): Promise<Selectable<WorkspacesTable> | undefined> =>
  transaction.updateTable('workspaces').set({ id }).where('id', '=', id).where('deleted_at', 'is', null).returningAll().executeTakeFirst()

const slugIsTaken = async (transaction: Transaction<Schema>, slug: string, id: string): Promise<boolean> =>
  (await transaction.selectFrom('workspaces').select('id').where('slug', '=', slug).where('id', '!=', id).executeTakeFirst()) !== undefined

const audited = (action: string, id: string, before: WorkspaceRecord | null, after: WorkspaceRecord | null): AuditedChange => ({
  workspaceId: id,
  action,
  objectType: 'workspace',
  objectId: id,
  before: before === null ? null : auditView(before),
  after: after === null ? null : auditView(after),
})

const auditView = ({ slug, name, description, settings }: WorkspaceRecord) => ({ slug, name, description, ...settings })

const toWorkspace = (row: Selectable<WorkspacesTable>): WorkspaceRecord => ({
  ...toFound(row),
  settings: readSettings(row.id, row.settings),
})

const toFound = (row: Selectable<WorkspacesTable>): WorkspaceFound => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  description: row.description,
  createdAt: row.created_at,
  createdBy: row.created_by,
  updatedAt: row.updated_at,
})

const rowOf = (workspace: WorkspaceRecord): Selectable<WorkspacesTable> => ({
  id: workspace.id,
  slug: workspace.slug,
  name: workspace.name,
  description: workspace.description,
  created_at: workspace.createdAt,
  created_by: workspace.createdBy,
  updated_at: workspace.updatedAt,
  settings: JSON.stringify(workspace.settings),
  deleted_at: null,
})
