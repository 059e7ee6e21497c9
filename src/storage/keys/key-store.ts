import { type Selectable, sql, type Transaction, type Updateable } from 'kysely'

import { z } from 'zod'

import type { KeyFilter } from '../../contract/key-filter.ts'
import type { ProviderFailureMode } from '../../contract/provider-failure.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { dollars } from '../../lib/money.ts'
import { type AuditedChange, type Change, type ChangedBy, recordChange } from '../audit-log.ts'
import type { Database } from '../database.ts'
import { readStoredJson, shownIfReadable } from '../damaged-row.ts'
import type { Once } from '../idempotency.ts'
import { listKeys, type KeyListInput } from './key-list.ts'
import type { ApiKeysTable } from '../tables/key-tables.ts'
import { type KeyUsage, NOTHING_USED, readKeyUsage } from './key-usage.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'
import { deleteCodesOfKey } from '../workspaces/oauth-code-store.ts'
import type { Schema } from '../tables/schema.ts'
import { endSessionsOfKey } from '../workspaces/session-store.ts'
import { flag } from '../sql-values.ts'

/** An API key as stored: without the key itself. A revoked key is never returned. */
export interface KeyRecord {
  /** 64 hex digits: the key's id. */
  readonly hash: string
  /** The HMAC by which the key is looked up, made with the pepper of `pepperId`. */
  readonly digest: string
  readonly pepperId: string
  readonly kind: 'management' | 'inference'
  readonly name: string
  readonly label: string
  readonly workspaceId: string
  readonly creatorUserId: string
  readonly disabled: boolean
  readonly limitNanos: number | null
  readonly limitReset: 'daily' | 'weekly' | 'monthly' | null
  readonly includeByokInLimit: boolean
  /** Requests with this key are refused if they ask for something that cannot be honoured. */
  readonly strict: boolean
  /** Requests and tokens per minute; null means the default of the configuration file. */
  readonly rpmLimit: number | null
  readonly tpmLimit: number | null
  /** How a provider's failure reaches the client; null means the server's default. */
  readonly providerFailure: ProviderFailureMode | null
  /** Who uses the key, as its creator wrote it. */
  readonly externalUser: string | null
  /**
   * `playground`: made for a person's playground; `application`: made for an application that the person
   * allowed; null: made by somebody who manages keys.
   */
  readonly purpose: 'playground' | 'application' | null
  /** Models that the key may call; null means any. */
  readonly allowedModels: readonly string[] | null
  /** The secret before the last rotation, which is still valid until then. */
  readonly retired: { readonly digest: string; readonly until: string } | null
  readonly expiresAt: string | null
  readonly createdAt: string
  readonly updatedAt: string | null
  /** When the record was read, accurate to some seconds; null means never. */
  readonly lastUsedAt: string | null
}

/** An absent field is left alone; null clears it. */
export type KeyPatch = Partial<
  Pick<
    KeyRecord,
    | 'name'
    | 'disabled'
    | 'limitNanos'
    | 'limitReset'
    | 'includeByokInLimit'
    | 'strict'
    | 'rpmLimit'
    | 'tpmLimit'
    | 'providerFailure'
    | 'expiresAt'
  >
>

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

const auditView = (key: KeyRecord): JsonObject => ({
  kind: key.kind,
  name: key.name,
  label: key.label,
  creator_user_id: key.creatorUserId,
  disabled: key.disabled,
  limit: key.limitNanos === null ? null : dollars(key.limitNanos),
  limit_reset: key.limitReset,
  include_byok_in_limit: key.includeByokInLimit,
  strict: key.strict,
  rpm_limit: key.rpmLimit,
  tpm_limit: key.tpmLimit,
  provider_failure: key.providerFailure,
  external_user: key.externalUser,
  purpose: key.purpose,
  allowed_models: key.allowedModels,
  expires_at: key.expiresAt,
})

const modelList = z.array(z.string())

/** Parses the stored form. */
export const readModels = (keyHash: string, text: string | null): readonly string[] | null =>
  text === null ? null : readStoredJson('api_keys', keyHash, modelList, text)

const toKey = (row: Selectable<ApiKeysTable>): KeyRecord => ({
  hash: row.hash,
  digest: row.digest,
  pepperId: row.pepper_id,
  kind: row.kind,
  name: row.name,
  label: row.label,
  workspaceId: row.workspace_id,
  creatorUserId: row.creator_user_id,
  disabled: row.disabled === 1,
  limitNanos: row.limit_nanos,
  limitReset: row.limit_reset,
  includeByokInLimit: row.include_byok_in_limit === 1,
  strict: row.strict === 1,
  rpmLimit: row.rpm_limit,
  tpmLimit: row.tpm_limit,
  providerFailure: row.provider_failure,
  externalUser: row.external_user,
  purpose: row.purpose,
  allowedModels: readModels(row.hash, row.allowed_models),
  retired: row.retired_digest === null || row.retired_until === null ? null : { digest: row.retired_digest, until: row.retired_until },
  expiresAt: row.expires_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  lastUsedAt: row.last_used_at === '' ? null : row.last_used_at,
})

const newRow = (key: KeyRecord): Selectable<ApiKeysTable> => ({
  hash: key.hash,
  digest: key.digest,
  pepper_id: key.pepperId,
  kind: key.kind,
  name: key.name,
  label: key.label,
  workspace_id: key.workspaceId,
  creator_user_id: key.creatorUserId,
  disabled: flag(key.disabled),
  limit_nanos: key.limitNanos,
  limit_reset: key.limitReset,
  include_byok_in_limit: flag(key.includeByokInLimit),
  strict: flag(key.strict),
  rpm_limit: key.rpmLimit,
  tpm_limit: key.tpmLimit,
  provider_failure: key.providerFailure,
  external_user: key.externalUser,
  purpose: key.purpose,
  allowed_models: key.allowedModels === null ? null : JSON.stringify(key.allowedModels),
  retired_digest: null,
  retired_until: null,
  expires_at: key.expiresAt,
  created_at: key.createdAt,
  updated_at: key.updatedAt,
  last_used_at: key.lastUsedAt ?? '',
  deleted_at: null,
})

const changedColumns = (patch: KeyPatch): Updateable<ApiKeysTable> => ({
  ...(patch.name !== undefined && { name: patch.name }),
  ...(patch.disabled !== undefined && { disabled: flag(patch.disabled) }),
  ...(patch.limitNanos !== undefined && { limit_nanos: patch.limitNanos }),
  ...(patch.limitReset !== undefined && { limit_reset: patch.limitReset }),
  ...(patch.includeByokInLimit !== undefined && { include_byok_in_limit: flag(patch.includeByokInLimit) }),
  ...(patch.strict !== undefined && { strict: flag(patch.strict) }),
  ...(patch.rpmLimit !== undefined && { rpm_limit: patch.rpmLimit }),
  ...(patch.tpmLimit !== undefined && { tpm_limit: patch.tpmLimit }),
  ...(patch.providerFailure !== undefined && { provider_failure: patch.providerFailure }),
  ...(patch.expiresAt !== undefined && { expires_at: patch.expiresAt }),
})
