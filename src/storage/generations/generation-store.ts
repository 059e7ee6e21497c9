import type { Selectable, Transaction } from 'kysely'

import { isoTimestamp } from '../../lib/clock.ts'
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { bulkInsert } from '../statements/bulk-insert.ts'
import { readStored } from '../rows/damaged-row.ts'
import type { Database } from '../database.ts'
import { deleteOldest } from '../statements/delete-oldest.ts'
import type { Engine } from '../engine.ts'
import type { GenerationsTable } from '../tables/generation-tables.ts'
import type { Schema } from '../tables/schema.ts'
import { flag } from '../statements/sql-values.ts'

/** The work and the cost of one inference request. */
export interface GenerationRecord {
  readonly id: string
  /** ISO timestamp; its day is the day to which the cost counts. */
  readonly createdAt: string
  readonly workspaceId: string
  readonly keyHash: string
  readonly presetId: string | null
  readonly presetVersion: number | null
  readonly model: string
  readonly provider: string | null
  readonly streamed: boolean
  readonly cancelled: boolean
  readonly tokensPrompt: number
  readonly tokensCompletion: number
  readonly costNanos: number
  /** Paid with a customer's own provider key; not part of `costNanos`. */
  readonly byokCostNanos: number
  /** All other fields of the record, stored as they are. */
  readonly record: JsonObject
}

/** A record with the person who made the request. */
export interface FinishedGeneration {
  readonly record: GenerationRecord
  /** The creator of the key. */
  readonly userId: string
}

export interface StoredGeneration extends GenerationRecord {
  /** Null for a record of an older version whose key is gone. */
  readonly userId: string | null
  /** The key's current name. */
  readonly keyName: string | null
}

export interface GenerationStore {
  /** Null if there is no such record in the scope (one workspace, or all of them if null). */
  get(id: string, scope: string | null, onlyUserId?: string | null): Promise<StoredGeneration | null>
  /** Deletes the oldest first; returns the number. The usage figures of the keys stay. */
  deleteOlderThan(timestamp: string, limit: number): Promise<number>
}

export const createGenerationStore = (database: Database): GenerationStore => ({
  async get(id, scope, onlyUserId = null) {
    const row = await database.kysely
      .selectFrom('generations')
      .leftJoin('api_keys', 'api_keys.hash', 'generations.key_hash')
      .selectAll('generations')
      .select('api_keys.name as key_name')
      .where('id', '=', id)
      .$if(scope !== null, (query) => query.where('generations.workspace_id', '=', scope ?? ''))
      .$if(onlyUserId !== null, (query) => query.where('generations.user_id', '=', onlyUserId ?? ''))
      .executeTakeFirst()
    return row === undefined ? null : toStoredGeneration(row)
  },

  deleteOlderThan: (timestamp, limit) =>
    database.transaction((transaction) => deleteOldest(transaction, 'generations', 'created_at', timestamp, limit)),
})

type GenerationRow = Selectable<GenerationsTable>

const insertRows = bulkInsert<GenerationRow>((transaction, rows) =>
  transaction
    .insertInto('generations')
    .values(rows)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .compile(),
)

/** A record whose id exists already is skipped, so a batch whose outcome is unknown can be written again. */
export const insertGenerations = async (
  transaction: Transaction<Schema>,
  engine: Engine,
  finished: readonly FinishedGeneration[],
): Promise<void> => {
  await insertRows(transaction, engine, finished.map(toRow))
}

/** Most columns repeat what the record says, because lists are filtered by them. */
const toRow = ({ record, userId }: FinishedGeneration): GenerationRow => ({
  id: record.id,
  created_at: record.createdAt,
  workspace_id: record.workspaceId,
  key_hash: record.keyHash,
  preset_id: record.presetId,
  preset_version: record.presetVersion,
  model: withoutNul(record.model),
  provider: record.provider === null ? null : withoutNul(record.provider),
  streamed: flag(record.streamed),
  cancelled: flag(record.cancelled),
  tokens_prompt: record.tokensPrompt,
  tokens_completion: record.tokensCompletion,
  cost_nanos: record.costNanos,
  byok_cost_nanos: record.byokCostNanos,
  record: JSON.stringify(record.record),
  user_id: userId,
  interface: textIn(record, 'interface'),
  error_type: textIn(record, 'error_type'),
  session_id: textIn(record, 'session_id'),
  request_id: textIn(record, 'request_id'),
  ended_at: isoTimestamp(Date.parse(record.createdAt) + (countIn(record, 'generation_time') ?? 0)),
  http_status: countIn(record, 'http_status'),
  first_token_ms: countIn(record, 'latency'),
  total_ms: countIn(record, 'generation_time'),
  tokens_cache_read: countIn(record, 'native_tokens_cached'),
  tokens_cache_write: countIn(record, 'native_tokens_cache_write'),
  tokens_reasoning: countIn(record, 'native_tokens_reasoning'),
  estimated: flag(record.record['usage_estimated'] === true),
  unpriced: flag(record.record['cost_known'] === false),
  rollout_id: textIn(record, 'rollout_id'),
  guardrail_hits: guardrailHits(record),
})

const textIn = ({ record }: GenerationRecord, member: string): string | null => {
  const value = record[member]
  return typeof value === 'string' ? withoutNul(value) : null
}

const countIn = ({ record }: GenerationRecord, member: string): number | null => {
  const value = record[member]
  return typeof value === 'number' ? value : null
}

const guardrailHits = ({ record: { pipeline } }: GenerationRecord): number =>
  Array.isArray(pipeline) ? pipeline.filter((stage) => isObject(stage) && stage['type'] === 'guardrail').length : 0

/** These names may come from upstream, and one that storage refuses would make the whole batch fail (sql-values.ts). */
export const withoutNul = (name: string): string => name.replaceAll('\u0000', '\uFFFD')

export const toStoredGeneration = (row: GenerationRow & { key_name: string | null }): StoredGeneration => ({
  id: row.id,
  createdAt: row.created_at,
  workspaceId: row.workspace_id,
  keyHash: row.key_hash,
  presetId: row.preset_id,
  presetVersion: row.preset_version,
  model: row.model,
  provider: row.provider,
  streamed: row.streamed === 1,
  cancelled: row.cancelled === 1,
  tokensPrompt: row.tokens_prompt,
  tokensCompletion: row.tokens_completion,
  costNanos: row.cost_nanos,
  byokCostNanos: row.byok_cost_nanos,
  record: readStored('generations', row.id, () => JSON.parse(row.record) as JsonObject),
  userId: row.user_id,
  keyName: row.key_name,
})
