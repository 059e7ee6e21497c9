/**
 * Usage by day, key, model and provider. The sums are updated when generations are written, so
 * that a chart reads days instead of requests.
 */
import { sql, type Transaction } from 'kysely'

import { bulkInsert } from '../statements/bulk-insert.ts'
import type { Database } from '../database.ts'
import type { Engine } from '../engine.ts'
import type { GenerationRecord } from '../generations/generation-store.ts'
import type { ActivityDaysTable } from '../tables/management-tables.ts'
import type { Schema } from '../tables/schema.ts'
import { utcDay } from './usage-windows.ts'

export interface ActivityFilter {
  /** First and last day, `YYYY-MM-DD`. */
  readonly from: string
  readonly to: string
  /** Null means all workspaces. */
  readonly workspaceId: string | null
  readonly keyHash?: string | undefined
  readonly userId?: string | undefined
  /** One row for each workspace instead of one for all. */
  readonly byWorkspace: boolean
}

export interface ActivityRow extends Omit<ActivityDaysTable, 'key_hash' | 'workspace_id'> {
  /** '' if the row sums up all workspaces. */
  readonly workspace_id: string
}

export interface ActivityStore {
  /** Latest day first, then by cost; at most `limit` rows. */
  read(filter: ActivityFilter, limit: number): Promise<readonly ActivityRow[]>
}

export const createActivityStore = (database: Database): ActivityStore => ({
  async read({ from, to, workspaceId, keyHash, userId, byWorkspace }, limit) {
    return database.kysely
      .selectFrom('activity_days')
      .select(['day', 'model', 'provider'])
      .select([
        total('requests'),
        total('tokens_prompt'),
        total('tokens_completion'),
        total('tokens_reasoning'),
        total('tokens_cached'),
        total('cost_nanos'),
        total('byok_cost_nanos'),
      ])
      .select(byWorkspace ? 'workspace_id' : sql<string>`''`.as('workspace_id'))
      .where('day', '>=', from)
      .where('day', '<=', to)
      .$if(workspaceId !== null, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
      .$if(keyHash !== undefined, (query) => query.where('key_hash', '=', keyHash ?? ''))
      .$if(userId !== undefined, (query) =>
        query.where('key_hash', 'in', (eb) =>
          eb
            .selectFrom('api_keys')
            .select('hash')
            .where('creator_user_id', '=', userId ?? ''),
        ),
      )
      .groupBy(['day', 'model', 'provider'])
      .$if(byWorkspace, (query) => query.groupBy('workspace_id'))
      .orderBy('day', 'desc')
      .orderBy('cost_nanos', 'desc')
      .orderBy('model')
      .orderBy('provider')
      .$if(byWorkspace, (query) => query.orderBy('workspace_id'))
      .limit(limit)
      .execute()
  },
})

/** The cast is needed because PostgreSQL sums bigints into a numeric, which has no exact form in JavaScript. */
const total = <Column extends keyof ActivityDaysTable>(column: Column) => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`.as(column)

const upsertDays = bulkInsert<ActivityDaysTable>((transaction, rows) =>
  transaction
    .insertInto('activity_days')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['day', 'workspace_id', 'key_hash', 'model', 'provider']).doUpdateSet((eb) => ({
        requests: eb('activity_days.requests', '+', eb.ref('excluded.requests')),
        tokens_prompt: eb('activity_days.tokens_prompt', '+', eb.ref('excluded.tokens_prompt')),
        tokens_completion: eb('activity_days.tokens_completion', '+', eb.ref('excluded.tokens_completion')),
        tokens_reasoning: eb('activity_days.tokens_reasoning', '+', eb.ref('excluded.tokens_reasoning')),
        tokens_cached: eb('activity_days.tokens_cached', '+', eb.ref('excluded.tokens_cached')),
        cost_nanos: eb('activity_days.cost_nanos', '+', eb.ref('excluded.cost_nanos')),
        byok_cost_nanos: eb('activity_days.byok_cost_nanos', '+', eb.ref('excluded.byok_cost_nanos')),
      })),
    )
    .compile(),
)

/**
 * `written` are the records that did not exist before. The rows are written in the order of their keys, so that two nodes never deadlock.
 */
export const addActivity = async (
  transaction: Transaction<Schema>,
  engine: Engine,
  written: readonly GenerationRecord[],
): Promise<void> => {
  const days = [...sumByDay(written).entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum)
  await upsertDays(transaction, engine, days)
}

const sumByDay = (records: readonly GenerationRecord[]): ReadonlyMap<string, ActivityDaysTable> => {
  const days = new Map<string, ActivityDaysTable>()
  for (const record of records) {
    // Names from upstream may contain characters that storage refuses (sql-values.ts).
    const [model, provider] = [record.model, record.provider ?? ''].map((name) => name.replaceAll('\u0000', '\uFFFD'))
    const key = JSON.stringify([utcDay(record.createdAt), record.workspaceId, record.keyHash, model, provider])
    const sum = days.get(key) ?? {
      day: utcDay(record.createdAt),
      workspace_id: record.workspaceId,
      key_hash: record.keyHash,
      model: model ?? '',
      provider: provider ?? '',
      requests: 0,
      tokens_prompt: 0,
      tokens_completion: 0,
      tokens_reasoning: 0,
      tokens_cached: 0,
      cost_nanos: 0,
      byok_cost_nanos: 0,
    }
    const { native_tokens_reasoning: reasoning, native_tokens_cached: cached } = record.record
    sum.requests += 1
    sum.tokens_prompt += record.tokensPrompt
    sum.tokens_completion += record.tokensCompletion
    sum.tokens_reasoning += typeof reasoning === 'number' ? reasoning : 0
    sum.tokens_cached += typeof cached === 'number' ? cached : 0
    sum.cost_nanos += record.costNanos
    sum.byok_cost_nanos += record.byokCostNanos
    days.set(key, sum)
  }
  return days
}
