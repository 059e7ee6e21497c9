/** The keys in storage, and what a change of a key changes with it: its audit entry, its sessions, its codes. */
import { type Selectable, sql, type Transaction, type Updateable } from 'kysely'

import type { KeyFilter } from '../../contract/key-filter.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { type AuditedChange, type Change, type ChangedBy, recordChange } from '../changes/audit-log.ts'
import { shownIfReadable } from '../rows/damaged-row.ts'
import type { Database } from '../database.ts'
import type { Once } from '../changes/idempotency.ts'
import type { ApiKeysTable } from '../tables/key-tables.ts'
import type { Schema } from '../tables/schema.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'
import { deleteCodesOfKey } from '../workspaces/oauth-code-store.ts'
import { endSessionsOfKey } from '../workspaces/session-store.ts'
import { listKeys, type KeyListInput } from './key-list.ts'
import { auditView, changedColumns, type KeyPatch, type KeyRecord, newRow, toKey } from './key-record.ts'
import { type KeyUsage, NOTHING_USED, readKeyUsage } from './key-usage.ts'

/** It is made once for its `Idempotency-Key`. */
type OnceChange = Change & { readonly once?: Once<KeyRecord | null> | undefined }

export interface KeyStore {
  /** Throws `not_found` if the workspace was deleted, as `insertPlayground` does. */
  insert(key: KeyRecord, by: ChangedBy, once?: Once<void>): Promise<void>
  /** Returns false if the person already has a key for the playground. */
  insertPlayground(key: KeyRecord, by: ChangedBy): Promise<boolean>
  /** The person's key for the playground. */
  playground(workspaceId: string, userId: string): Promise<KeyRecord | null>
  /** Ends the sessions that the key opened, except the one that asks, and the codes that it made. Null if the scope has no such key. */
  rotate(scope: string | null, hash: string, secret: RotatedSecret, change: OnceChange): Promise<KeyRecord | null>
  /** Uses by key hash. A use earlier than the known one changes nothing. */
  noteUses(uses: ReadonlyMap<string, string>): Promise<void>
  /** Null for an unknown key and for a revoked one, which stays invalid for ever. */
  get(hash: string): Promise<KeyRecord | null>
  /** The key with any of these digests, including a retired digest that is still valid; null as for `get`. */
  find(digests: readonly string[], now: string): Promise<KeyRecord | null>
  /** From now on the key is looked up by this digest. */
  renewDigest(hash: string, digest: string, pepperId: string): Promise<void>
  /** Live keys that have not been used since the pepper became this one. */
  countOtherPeppers(pepperId: string): Promise<number>
  list(input: KeyListInput): Promise<{ readonly items: readonly KeyRecord[]; readonly next: KeyFilter['after']; readonly isCut: boolean }>
  /** Null if the scope (one workspace, or all of them if null) has no such key. */
  update(scope: string | null, hash: string, patch: KeyPatch, change: Change): Promise<KeyRecord | null>
  /** Returns false if the scope has no such key (any more). */
  revoke(scope: string | null, hash: string, change: Change): Promise<boolean>
  usage(hash: string, now: string): Promise<KeyUsage>
  /** Says whether all of these are live keys of the workspace, or of any workspace if null. */
  hasAll(workspaceId: string | null, hashes: readonly string[]): Promise<boolean>
  /** One query; the result contains every hash that was asked for. */
  usageOfMany(hashes: readonly string[], now: string): Promise<ReadonlyMap<string, KeyUsage>>
}

export interface RotatedSecret {
  readonly digest: string
  readonly pepperId: string
  readonly label: string
  /** Until when the previous secret is valid too. */
  readonly retiredUntil: string
}

export const createKeyStore = (database: Database): KeyStore => ({
  insert: (key, by, once) =>
    recordChange<void>(database, { by, now: key.createdAt, once }, async (transaction) => {
      // A workspace is deleted only if it has no keys.
      await lockWorkspace(transaction, key.workspaceId)
      await transaction.insertInto('api_keys').values(newRow(key)).execute()
      return { result: undefined, audit: audited('created', key, null, auditView(key)) }
    }),

  async get(hash) {
    const row = await database.kysely
      .selectFrom('api_keys')
      .selectAll()
      .where('hash', '=', hash)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    return row === undefined ? null : toKey(row)
  },

  insertPlayground: (key, by) =>
    recordChange<boolean>(database, { by, now: key.createdAt }, async (transaction) => {
      await lockWorkspace(transaction, key.workspaceId)
      const made = await transaction
        .insertInto('api_keys')
        .values(newRow(key))
        .onConflict((conflict) => conflict.doNothing())
        .returning('hash')
        .executeTakeFirst()
      return { result: made !== undefined, audit: made === undefined ? null : audited('created', key, null, auditView(key)) }
    }),

  async playground(workspaceId, userId) {
    const row = await database.kysely
      .selectFrom('api_keys')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('creator_user_id', '=', userId)
      .where('purpose', '=', 'playground')
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    return row === undefined ? null : toKey(row)
  },

  rotate: (scope, hash, { digest, pepperId, label, retiredUntil }, change) =>
    changeLive(
      database,
      { scope, hash, change },
      'rotated',
      ({ digest: replaced }) => ({
        digest,
        pepper_id: pepperId,
        label,
        retired_digest: replaced,
        retired_until: retiredUntil,
        updated_at: change.now,
      }),
      async (transaction) => {
        await endSessionsOfKey(transaction, hash, change.by.sessionId ?? null)
        await deleteCodesOfKey(transaction, hash)
      },
    ),

  noteUses: (uses) =>
    database.transaction(async (transaction) => {
      // One parameter, however many keys were used.
      const used = JSON.stringify(Object.fromEntries(uses))
      const rows =
        database.engine === 'postgres'
          ? sql`jsonb_each_text(${used}::jsonb) as used (hash, at)`
          : sql`(select key as hash, value as at from json_each(${used})) as used`
      await sql`update api_keys set last_used_at = used.at from ${rows} where api_keys.hash = used.hash and api_keys.last_used_at < used.at`.execute(
        transaction,
      )
    }),

  async find(digests, now) {
    const row = await database.kysely
      .selectFrom('api_keys')
      .selectAll()
      .where((eb) => eb.or([eb('digest', 'in', digests), eb.and([eb('retired_digest', 'in', digests), eb('retired_until', '>', now)])]))
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    return row === undefined ? null : toKey(row)
  },

  renewDigest: (hash, digest, pepperId) =>
    database.transaction(async (transaction) => {
      await transaction.updateTable('api_keys').set({ digest, pepper_id: pepperId }).where('hash', '=', hash).execute()
    }),

  async countOtherPeppers(pepperId) {
    const { count } = await database.kysely
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('pepper_id', '!=', pepperId)
      .where('deleted_at', 'is', null)
      .executeTakeFirstOrThrow()
    return count
  },

  async list(input) {
    const { rows, ...rest } = await listKeys(database, input)
    return { items: rows.map(toKey), ...rest }
  },

  update: (scope, hash, patch, change) =>
    changeLive(
      database,
      { scope, hash, change },
      'updated',
      (before) => {
        const columns = changedColumns(patch)
        return Object.entries(columns).every(([name, value]) => before[name as keyof typeof before] === value)
          ? null
          : { ...columns, updated_at: change.now }
      },
      async (transaction, before) => {
        await deleteCodesOfKey(transaction, hash)
        // A key that works again opens none of the sessions that ended with it.
        const isOver = before.disabled === 1 || (before.expires_at !== null && before.expires_at <= change.now)
        if (isOver || patch.disabled === true) await endSessionsOfKey(transaction, hash, null)
      },
    ),

  revoke: (scope, hash, change) =>
    recordChange<boolean>(database, change, async (transaction) => {
      const row = await updateLive(transaction, scope, hash, { deleted_at: change.now })
      if (row === undefined) return { result: false, audit: null }
      const before = shownIfReadable(() => auditView(toKey(row)))
      return { result: true, audit: audited('revoked', { workspaceId: row.workspace_id, hash }, before, null) }
    }),

  usage: async (hash, now) => (await readKeyUsage(database, [hash], now)).get(hash) ?? NOTHING_USED,

  usageOfMany: (hashes, now) => readKeyUsage(database, hashes, now),

  async hasAll(workspaceId, hashes) {
    const distinct = [...new Set(hashes)]
    const { count } = await database.kysely
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('hash', 'in', distinct)
      .where('deleted_at', 'is', null)
      .$if(workspaceId !== null, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
      .executeTakeFirstOrThrow()
    return count === distinct.length
  },
})

/** `changesOf`: null if nothing would change. */
const changeLive = (
  database: Database,
  { scope, hash, change }: { scope: string | null; hash: string; change: OnceChange },
  action: 'updated' | 'rotated',
  changesOf: (before: Selectable<ApiKeysTable>) => Updateable<ApiKeysTable> | null,
  alongside: (transaction: Transaction<Schema>, before: Selectable<ApiKeysTable>) => Promise<void>,
): Promise<KeyRecord | null> =>
  recordChange(database, change, async (transaction) => {
    // An update that changes nothing takes the lock on both engines, so that the audit entry shows what this change replaced.
    const before = await updateLive(transaction, scope, hash, { hash })
    const changes = before === undefined ? null : changesOf(before)
    if (before !== undefined && changes === null) return { result: toKey(before), audit: null }
    const after = changes === null ? undefined : await updateLive(transaction, scope, hash, changes)
    if (before === undefined || after === undefined) return { result: null, audit: null }
    await alongside(transaction, before)
    const record = toKey(after)
    return { result: record, audit: audited(action, record, auditView(toKey(before)), auditView(record)) }
  })

/** Returns the row as it is then; undefined if the scope has no such key. */
const updateLive = (
  transaction: Transaction<Schema>,
  scope: string | null,
  hash: string,
  set: Updateable<ApiKeysTable>,
): Promise<Selectable<ApiKeysTable> | undefined> =>
  transaction
    .updateTable('api_keys')
    .set(set)
    .where('hash', '=', hash)
    .where('deleted_at', 'is', null)
    .$if(scope !== null, (query) => query.where('workspace_id', '=', scope ?? ''))
    .returningAll()
    .executeTakeFirst()

const audited = (
  action: string,
  key: Pick<KeyRecord, 'workspaceId' | 'hash'>,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditedChange => ({
  workspaceId: key.workspaceId,
  action,
  objectType: 'api_key',
  objectId: key.hash,
  before,
  after,
})
