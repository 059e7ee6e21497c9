import { type RawBuilder, type Selectable, sql, type Updateable } from 'kysely'

import { bumpChangeCounter } from './change-counter.ts'
import type { Database } from './database.ts'
import type { ApiKeysTable } from './schema.ts'
import { flag } from './sql-values.ts'
import { usageWindowsAt } from './usage-windows.ts'

/** An API key as stored: without the key itself, and never a revoked one. */
export interface KeyRecord {
  /** 64 hex digits. */
  readonly hash: string
  readonly kind: 'management' | 'inference'
  readonly name: string
  readonly label: string
  readonly workspaceId: string
  readonly creatorUserId: string
  readonly disabled: boolean
  readonly limitNanos: number | null
  readonly limitReset: 'daily' | 'weekly' | 'monthly' | null
  readonly includeByokInLimit: boolean
  /** Requests with this key refuse what cannot be honoured. */
  readonly strict: boolean
  readonly expiresAt: string | null
  readonly createdAt: string
  readonly updatedAt: string | null
}

/** Absent leaves a field alone; null clears it. */
export type KeyPatch = Partial<Pick<KeyRecord, 'name' | 'disabled' | 'limitNanos' | 'limitReset' | 'includeByokInLimit' | 'strict'>>

/** Nano-dollars spent in the running UTC windows; `byok`: with customers' own provider keys, not part of `usage`. */
export interface KeyUsage {
  readonly usage: WindowTotals
  readonly byok: WindowTotals
}

export interface WindowTotals {
  readonly totalNanos: number
  readonly dailyNanos: number
  readonly weeklyNanos: number
  readonly monthlyNanos: number
}

export interface KeyStore {
  insert(key: KeyRecord): Promise<void>
  /** Null for an unknown key and for a revoked one, which is dead for ever. */
  get(hash: string): Promise<KeyRecord | null>
  /** Newest first. */
  list(input: { workspaceId: string; includeDisabled: boolean; offset: number; limit: number }): Promise<readonly KeyRecord[]>
  /** Null if the workspace has no such key. */
  update(workspaceId: string, hash: string, patch: KeyPatch, now: string): Promise<KeyRecord | null>
  /** False if the workspace has no such key (any more). */
  revoke(workspaceId: string, hash: string, now: string): Promise<boolean>
  usage(hash: string, now: string): Promise<KeyUsage>
  /** One query; every hash asked for is in the answer. */
  usageOfMany(hashes: readonly string[], now: string): Promise<ReadonlyMap<string, KeyUsage>>
}

export const createKeyStore = (database: Database): KeyStore => ({
  insert: (key) =>
    database.transaction(async (transaction) => {
      await transaction.insertInto('api_keys').values(newRow(key)).execute()
      await bumpChangeCounter(transaction)
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

  async list({ workspaceId, includeDisabled, offset, limit }) {
    const rows = await database.kysely
      .selectFrom('api_keys')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('deleted_at', 'is', null)
      .$if(!includeDisabled, (query) => query.where('disabled', '=', 0))
      .orderBy('created_at', 'desc')
      .orderBy('hash', 'desc')
      .offset(offset)
      .limit(limit)
      .execute()
    return rows.map(toKey)
  },

  update: (workspaceId, hash, patch, now) => updateLive(database, workspaceId, hash, { ...changedColumns(patch), updated_at: now }),

  revoke: async (workspaceId, hash, now) => (await updateLive(database, workspaceId, hash, { deleted_at: now })) !== null,

  usage: async (hash, now) => (await readUsage(database, [hash], now)).get(hash) ?? NOTHING_USED,

  usageOfMany: (hashes, now) => readUsage(database, hashes, now),
})

const updateLive = (database: Database, workspaceId: string, hash: string, changes: Updateable<ApiKeysTable>): Promise<KeyRecord | null> =>
  database.transaction(async (transaction) => {
    const row = await transaction
      .updateTable('api_keys')
      .set(changes)
      .where('hash', '=', hash)
      .where('workspace_id', '=', workspaceId)
      .where('deleted_at', 'is', null)
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) return null
    await bumpChangeCounter(transaction)
    return toKey(row)
  })

const NOTHING: WindowTotals = { totalNanos: 0, dailyNanos: 0, weeklyNanos: 0, monthlyNanos: 0 }
const NOTHING_USED: KeyUsage = { usage: NOTHING, byok: NOTHING }

const readUsage = async (database: Database, hashes: readonly string[], now: string): Promise<ReadonlyMap<string, KeyUsage>> => {
  const usages = new Map(hashes.map((hash) => [hash, NOTHING_USED]))
  if (hashes.length === 0) return usages
  const { day, week, month } = usageWindowsAt(now)
  const rows = await database.kysely
    .selectFrom('key_usage_days')
    .select([
      'key_hash',
      sumSince('cost_nanos', '').as('total'),
      sumSince('cost_nanos', day).as('daily'),
      sumSince('cost_nanos', week).as('weekly'),
      sumSince('cost_nanos', month).as('monthly'),
      sumSince('byok_cost_nanos', '').as('byokTotal'),
      sumSince('byok_cost_nanos', day).as('byokDaily'),
      sumSince('byok_cost_nanos', week).as('byokWeekly'),
      sumSince('byok_cost_nanos', month).as('byokMonthly'),
    ])
    .where('key_hash', 'in', hashes)
    .groupBy('key_hash')
    .execute()
  for (const row of rows) {
    usages.set(row.key_hash, {
      usage: { totalNanos: row.total, dailyNanos: row.daily, weeklyNanos: row.weekly, monthlyNanos: row.monthly },
      byok: { totalNanos: row.byokTotal, dailyNanos: row.byokDaily, weeklyNanos: row.byokWeekly, monthlyNanos: row.byokMonthly },
    })
  }
  return usages
}

/** The cast: PostgreSQL sums bigints into a numeric, which has no exact form in JavaScript. Every day sorts after ''. */
const sumSince = (column: 'cost_nanos' | 'byok_cost_nanos', firstDay: string): RawBuilder<number> =>
  sql<number>`cast(coalesce(sum(${sql.ref(column)}) filter (where day >= ${firstDay}), 0) as bigint)`

const toKey = (row: Selectable<ApiKeysTable>): KeyRecord => ({
  hash: row.hash,
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
  expiresAt: row.expires_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const newRow = (key: KeyRecord): Selectable<ApiKeysTable> => ({
  hash: key.hash,
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
  expires_at: key.expiresAt,
  created_at: key.createdAt,
  updated_at: key.updatedAt,
  deleted_at: null,
})

const changedColumns = (patch: KeyPatch): Updateable<ApiKeysTable> => ({
  ...(patch.name !== undefined && { name: patch.name }),
  ...(patch.disabled !== undefined && { disabled: flag(patch.disabled) }),
  ...(patch.limitNanos !== undefined && { limit_nanos: patch.limitNanos }),
  ...(patch.limitReset !== undefined && { limit_reset: patch.limitReset }),
  ...(patch.includeByokInLimit !== undefined && { include_byok_in_limit: flag(patch.includeByokInLimit) }),
  ...(patch.strict !== undefined && { strict: flag(patch.strict) }),
})
