/** How often each rule of a guardrail found something, by hour. The sums are updated when requests are settled, like those of usage. */
import { sql, type Transaction } from 'kysely'

import { isObject, type JsonValue } from '../../lib/json/json.ts'
import { bulkInsert } from '../statements/bulk-insert.ts'
import type { Database } from '../database.ts'
import type { Engine } from '../engine.ts'
import { type GenerationRecord, withoutNul } from '../generations/generation-store.ts'
import type { GuardrailHoursTable } from '../tables/guardrail-tables.ts'
import type { Schema } from '../tables/schema.ts'
import { HOUR_LENGTH } from '../usage/usage-hours.ts'

export interface GuardrailHit {
  /** The placeholder of the filter, or the moderation endpoint. */
  readonly rule: string
  readonly requests: number
}

export interface GuardrailHitStore {
  /** By guardrail, from the given hour (`YYYY-MM-DDTHH`) on; the rule with the most hits first. */
  read(guardrailIds: readonly string[], fromHour: string): Promise<ReadonlyMap<string, readonly GuardrailHit[]>>
  /** Adds hits that do not come from settled requests. */
  add(hits: readonly GuardrailHits[]): Promise<void>
  deleteOlderThan(timestamp: string, limit: number): Promise<number>
}

export type GuardrailHits = Readonly<GuardrailHoursTable>

export const createGuardrailHitStore = (database: Database): GuardrailHitStore => ({
  async read(guardrailIds, fromHour) {
    if (guardrailIds.length === 0) return new Map()
    const rows = await database.reports
      .selectFrom('guardrail_hours')
      .select(['guardrail_id', 'rule', sql<number>`cast(sum(requests) as bigint)`.as('requests')])
      .where('guardrail_id', 'in', guardrailIds)
      .where('hour', '>=', fromHour)
      .groupBy(['guardrail_id', 'rule'])
      .orderBy('requests', 'desc')
      .orderBy('rule')
      .execute()
    return Map.groupBy(rows, ({ guardrail_id }) => guardrail_id)
  },
  add: (hits) => database.transaction((transaction) => upsertHits(transaction, database.engine, hits)),
  deleteOlderThan: (timestamp, limit) =>
    database.transaction(async (transaction) => {
      const { numDeletedRows } = await transaction
        .deleteFrom('guardrail_hours')
        .where(({ eb, selectFrom, refTuple }) =>
          eb(
            refTuple('guardrail_id', 'hour', 'rule'),
            'in',
            selectFrom('guardrail_hours')
              .select(['guardrail_id', 'hour', 'rule'])
              .where('hour', '<', timestamp.slice(0, HOUR_LENGTH))
              .limit(limit)
              .$asTuple('guardrail_id', 'hour', 'rule'),
          ),
        )
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    }),
})

const upsertRows = bulkInsert<GuardrailHoursTable>((transaction, rows) =>
  transaction
    .insertInto('guardrail_hours')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['guardrail_id', 'hour', 'rule'])
        .doUpdateSet((eb) => ({ requests: eb('guardrail_hours.requests', '+', eb.ref('excluded.requests')) })),
    )
    .compile(),
)

/** In the order of their keys, so that two nodes never deadlock. */
const upsertHits = async (transaction: Transaction<Schema>, engine: Engine, hits: readonly GuardrailHits[]): Promise<void> => {
  const keyOf = ({ hour, guardrail_id, rule }: GuardrailHits): string => `${hour} ${guardrail_id} ${rule}`
  await upsertRows(
    transaction,
    engine,
    [...hits].sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1)),
  )
}

/** `written` are the records that did not exist before. */
export const addGuardrailHits = async (
  transaction: Transaction<Schema>,
  engine: Engine,
  written: readonly GenerationRecord[],
): Promise<void> => {
  const sums = new Map<string, GuardrailHoursTable>()
  for (const { createdAt, record } of written) {
    const { pipeline, origin } = record
    if (!Array.isArray(pipeline) || pipeline.length === 0 || isOwn(origin)) continue
    const hour = createdAt.slice(0, HOUR_LENGTH)
    for (const [name, { guardrail_id, rule }] of hitsIn(pipeline)) {
      const key = `${hour} ${name}`
      const sum = sums.get(key)
      if (sum === undefined) sums.set(key, { guardrail_id, hour, rule, requests: 1 })
      else sum.requests += 1
    }
  }
  if (sums.size > 0) await upsertHits(transaction, engine, [...sums.values()])
}

/** True for a test or a part of an evaluation, which no client sent. */
const isOwn = (origin: JsonValue | undefined): boolean => typeof origin === 'string' && origin !== ''

/** The rules that found something in one request; each appears once, however often and on which side it matched. */
const hitsIn = (pipeline: readonly JsonValue[]): ReadonlyMap<string, Pick<GuardrailHoursTable, 'guardrail_id' | 'rule'>> => {
  const hits = new Map<string, Pick<GuardrailHoursTable, 'guardrail_id' | 'rule'>>()
  for (const stage of pipeline) {
    if (!isObject(stage) || stage['type'] !== 'guardrail') continue
    const { guardrail_id: guardrailId, data } = stage
    if (typeof guardrailId !== 'string' || !isObject(data) || !Array.isArray(data['rules'])) continue
    for (const rule of data['rules'].map((name) => withoutNul(String(name))))
      hits.set(`${guardrailId} ${rule}`, { guardrail_id: guardrailId, rule })
  }
  return hits
}
