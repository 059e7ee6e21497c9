import { CompiledQuery, type Selectable, type Transaction } from 'kysely'

import type { JsonObject } from '../lib/json.ts'
import { addActivity } from './activity-store.ts'
import type { Database, Engine } from './database.ts'
import type { GenerationsTable, Schema } from './schema.ts'
import { flag } from './sql-values.ts'
import { utcDay } from './usage-windows.ts'

/** What one inference request did and cost. */
export interface GenerationRecord {
  readonly id: string
  /** ISO timestamp: it also says on which day the cost counts. */
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
  /** All the rest, stored as it is. */
  readonly record: JsonObject
}

export interface GenerationStore {
  /**
   * Writes the records and adds them to the usage of their keys, all or nothing. A record whose id is there already is
   * skipped and not counted again, so a batch whose outcome is unknown can be sent again.
   */
  insertBatch(records: readonly GenerationRecord[]): Promise<void>
  get(id: string, workspaceId: string): Promise<GenerationRecord | null>
  /** Oldest first; gives how many. The usage figures of the keys stay. */
  deleteOlderThan(timestamp: string, limit: number): Promise<number>
}

export const createGenerationStore = (database: Database): GenerationStore => ({
  async insertBatch(records) {
    if (records.length === 0) return
    await database.transaction(async (transaction) => {
      const inserted = new Set<string>()
      let start = 0
      for (const size of STATEMENT_ROWS) {
        for (; records.length - start >= size; start += size) {
          const { rows } = await transaction.executeQuery<{ id: string }>(
            insertStatement(transaction, database.engine, records.slice(start, start + size).map(toRow)),
          )
          for (const { id } of rows) inserted.add(id)
        }
      }
      await addActivity(transaction, firstOf(records, inserted))
      await addUsage(transaction, sumByKeyAndDay(records, inserted))
    })
  },

  async get(id, workspaceId) {
    const row = await database.kysely
      .selectFrom('generations')
      .selectAll()
      .where('id', '=', id)
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirst()
    return row === undefined ? null : toRecord(row)
  },

  deleteOlderThan: (timestamp, limit) =>
    database.transaction(async (transaction) => {
      const { numDeletedRows } = await transaction
        .deleteFrom('generations')
        .where('id', 'in', (eb) =>
          eb.selectFrom('generations').select('id').where('created_at', '<', timestamp).orderBy('created_at').limit(limit),
        )
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    }),
})

/**
 * Rows of a statement. One row is written for each inference request, and building a statement's syntax tree costs more
 * than all else that storage does for it; so the text is built once for each of these sizes, and only values follow.
 * 16 columns each: well below the 32,766 parameters of SQLite and the 65,535 of PostgreSQL.
 */
const STATEMENT_ROWS = [64, 8, 1] as const

type GenerationRow = Selectable<GenerationsTable>

const statementTexts: Record<Engine, Map<number, string>> = { sqlite: new Map(), postgres: new Map() }

const insertStatement = (
  transaction: Transaction<Schema>,
  engine: Engine,
  rows: readonly GenerationRow[],
): CompiledQuery<{ id: string }> => {
  const texts = statementTexts[engine]
  const text = texts.get(rows.length) ?? compileInsert(transaction, rows)
  texts.set(rows.length, text)
  return CompiledQuery.raw(text, rows.flatMap(columnValues))
}

/** In the order in which `columnValues` reads them. */
const compileInsert = (transaction: Transaction<Schema>, rows: readonly GenerationRow[]): string =>
  transaction
    .insertInto('generations')
    .values([...rows])
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .compile().sql

/** toRow makes every row with the same members in the same order, which is the order of the compiled columns. */
const columnValues = (row: GenerationRow): readonly unknown[] => Object.values(row)

/** The first of each id that was inserted: a batch may repeat one. */
const firstOf = (records: readonly GenerationRecord[], inserted: ReadonlySet<string>): readonly GenerationRecord[] => {
  const left = new Set(inserted)
  return records.filter(({ id }) => left.delete(id))
}

type UsageDay = Schema['key_usage_days']

/** Rows of one statement that adds up usage. */
const USAGE_ROWS = 100

/** In the order of their keys: two nodes that write the same rows take their locks in one order and never wait for each other. */
const sumByKeyAndDay = (records: readonly GenerationRecord[], inserted: Set<string>): UsageDay[] => {
  const days = new Map<string, UsageDay>()
  for (const record of records) {
    // Deleting it here counts an id once, also when the batch itself repeats it.
    if (!inserted.delete(record.id)) continue
    const day = utcDay(record.createdAt)
    const sum = days.get(`${record.keyHash} ${day}`) ?? {
      key_hash: record.keyHash,
      day,
      cost_nanos: 0,
      byok_cost_nanos: 0,
      requests: 0,
      tokens: 0,
    }
    sum.cost_nanos += record.costNanos
    sum.byok_cost_nanos += record.byokCostNanos
    sum.requests += 1
    sum.tokens += record.tokensPrompt + record.tokensCompletion
    days.set(`${record.keyHash} ${day}`, sum)
  }
  return [...days.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum)
}

const addUsage = async (transaction: Transaction<Schema>, days: readonly UsageDay[]): Promise<void> => {
  for (let start = 0; start < days.length; start += USAGE_ROWS) {
    await transaction
      .insertInto('key_usage_days')
      .values(days.slice(start, start + USAGE_ROWS))
      .onConflict((conflict) =>
        conflict.columns(['key_hash', 'day']).doUpdateSet((eb) => ({
          cost_nanos: eb('key_usage_days.cost_nanos', '+', eb.ref('excluded.cost_nanos')),
          byok_cost_nanos: eb('key_usage_days.byok_cost_nanos', '+', eb.ref('excluded.byok_cost_nanos')),
          requests: eb('key_usage_days.requests', '+', eb.ref('excluded.requests')),
          tokens: eb('key_usage_days.tokens', '+', eb.ref('excluded.tokens')),
        })),
      )
      .execute()
  }
}

const toRow = (record: GenerationRecord): Selectable<GenerationsTable> => ({
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
})

/** These names may come from upstream, and one that storage refuses would take the whole batch with it (sql-values.ts). */
const withoutNul = (name: string): string => name.replaceAll('\u0000', '\uFFFD')

const toRecord = (row: Selectable<GenerationsTable>): GenerationRecord => ({
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
  record: JSON.parse(row.record) as JsonObject,
})
