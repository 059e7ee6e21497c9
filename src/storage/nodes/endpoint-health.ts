/** How attempts at providers ended, as seen by the requests of all processes: written with their records, read by people. */
import { sql, type Transaction } from 'kysely'

import type { ErrorType } from '../../errors.ts'
import { isObject } from '../../lib/json/json.ts'
import { isoTimestamp } from '../../lib/clock.ts'
import { bulkInsert } from '../statements/bulk-insert.ts'
import type { Database } from '../database.ts'
import type { Engine } from '../engine.ts'
import { type FinishedGeneration, withoutNul } from '../generations/generation-store.ts'
import { BUCKET_COLUMNS, percentileOf } from '../usage/latency-buckets.ts'
import type { EndpointLastTable, EndpointSlotsTable } from '../tables/generation-tables.ts'
import type { Schema } from '../tables/schema.ts'

const SLOT_MS = 30 * 60 * 1000
/** The half hours of a day. */
const SLOTS = 48

/** When a half hour begins, as `YYYY-MM-DDTHH:MM`. */
const slotOf = (ms: number): string => isoTimestamp(Math.floor(ms / SLOT_MS) * SLOT_MS).slice(0, 16)

export const slotsUntil = (nowMs: number): readonly string[] =>
  Array.from({ length: SLOTS }, (_, index) => slotOf(nowMs - (SLOTS - 1 - index) * SLOT_MS))

/** The provider or its key is at fault; every other error is the request's own. */
const FAILURES: ReadonlySet<string> = new Set([
  'rate_limit_exceeded',
  'provider_overloaded',
  'provider_unavailable',
  'server',
  'timeout',
  'unmapped',
  'authentication',
  'payment_required',
] satisfies ErrorType[])

interface Ended {
  readonly endpoint: string
  readonly atMs: number
  /** Null if the provider answered. */
  readonly error: { readonly type: string; readonly status: number | null; readonly message: string } | null
}

const upsertSlots = bulkInsert<EndpointSlotsTable>((transaction, rows) =>
  transaction
    .insertInto('endpoint_slots')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['slot', 'endpoint']).doUpdateSet((eb) => ({
        ok: eb('endpoint_slots.ok', '+', eb.ref('excluded.ok')),
        failed: eb('endpoint_slots.failed', '+', eb.ref('excluded.failed')),
      })),
    )
    .compile(),
)

const NEWER = sql`excluded.error_at > endpoint_last.error_at`

const upsertLast = bulkInsert<EndpointLastTable>((transaction, rows) =>
  transaction
    .insertInto('endpoint_last')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('endpoint').doUpdateSet({
        ok_at: sql`case when excluded.ok_at > endpoint_last.ok_at then excluded.ok_at else endpoint_last.ok_at end`,
        error_at: sql`case when ${NEWER} then excluded.error_at else endpoint_last.error_at end`,
        error_type: sql`case when ${NEWER} then excluded.error_type else endpoint_last.error_type end`,
        error_status: sql`case when ${NEWER} then excluded.error_status else endpoint_last.error_status end`,
        error_message: sql`case when ${NEWER} then excluded.error_message else endpoint_last.error_message end`,
      }),
    )
    .compile(),
)

export const addEndpointHealth = async (
  transaction: Transaction<Schema>,
  engine: Engine,
  finished: readonly FinishedGeneration[],
): Promise<void> => {
  const ended = finished.flatMap(attemptsOf)
  if (ended.length === 0) return
  const slots = new Map<string, EndpointSlotsTable>()
  const last = new Map<string, EndpointLastTable>()
  for (const { endpoint, atMs, error } of ended) {
    const at = isoTimestamp(atMs)
    const slot = slotOf(atMs)
    const sum = slots.get(`${slot} ${endpoint}`) ?? { slot, endpoint, ok: 0, failed: 0 }
    if (error === null) sum.ok += 1
    else sum.failed += 1
    slots.set(`${slot} ${endpoint}`, sum)
    const known = last.get(endpoint) ?? { endpoint, ok_at: '', error_at: '', error_type: '', error_status: null, error_message: '' }
    if (error === null) last.set(endpoint, { ...known, ok_at: at > known.ok_at ? at : known.ok_at })
    else if (at >= known.error_at) {
      last.set(endpoint, { ...known, error_at: at, error_type: error.type, error_status: error.status, error_message: error.message })
    } else last.set(endpoint, known)
  }
  // In the order of their keys, so that two nodes never deadlock.
  await Promise.all([upsertSlots(transaction, engine, ordered(slots)), upsertLast(transaction, engine, ordered(last))])
}

const ordered = <Row>(rows: ReadonlyMap<string, Row>): Row[] =>
  [...rows.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row)

const attemptsOf = ({ record }: FinishedGeneration): readonly Ended[] => {
  const attempts = record.record['provider_responses']
  if (!Array.isArray(attempts)) return []
  return (attempts as readonly unknown[]).flatMap((attempt): Ended[] => {
    if (!isObject(attempt)) return []
    const { endpoint_id: endpoint, started_ms, latency, error_type: type, status, message } = attempt
    // If the client left, the attempt shows nothing about the endpoint.
    if (typeof endpoint !== 'string' || (type === null && status === null)) return []
    if (typeof type === 'string' && !FAILURES.has(type)) return []
    const atMs = Date.parse(record.createdAt) + Number(started_ms ?? 0) + Number(latency ?? 0)
    const error =
      typeof type === 'string'
        ? { type, status: typeof status === 'number' ? status : null, message: typeof message === 'string' ? withoutNul(message) : '' }
        : null
    return [{ endpoint: withoutNul(endpoint), atMs, error }]
  })
}

export interface EndpointHistory {
  /** By half hour, as `slotOf` names it. */
  readonly slots: ReadonlyMap<string, { readonly ok: number; readonly failed: number }>
  /** ISO timestamps; null means never. */
  readonly okAt: string | null
  readonly lastError: { readonly at: string; readonly type: string; readonly status: number | null; readonly message: string } | null
}

export interface ModelLatency {
  readonly p50: number | null
  readonly p95: number | null
}

export interface EndpointHealthStore {
  /** By endpoint: the model's id and its tag, with a space between them. */
  read(nowMs: number): Promise<ReadonlyMap<string, EndpointHistory>>
  /** Time to the first content in the last day, by the model's id and the provider's slug, with a space between them. */
  latencies(nowMs: number): Promise<ReadonlyMap<string, ModelLatency>>
  /** Deletes half hours before the timestamp; returns the number of rows deleted. */
  deleteOlderThan(timestamp: string, limit: number): Promise<number>
}

export const createEndpointHealthStore = (database: Database): EndpointHealthStore => ({
  async read(nowMs) {
    const first = slotsUntil(nowMs)[0] ?? ''
    const slots = await database.reports.selectFrom('endpoint_slots').selectAll().where('slot', '>=', first).execute()
    const last = await database.reports.selectFrom('endpoint_last').selectAll().execute()
    const byEndpoint = Map.groupBy(slots, ({ endpoint }) => endpoint)
    return new Map(
      last.map((row): [string, EndpointHistory] => [
        row.endpoint,
        {
          slots: new Map((byEndpoint.get(row.endpoint) ?? []).map(({ slot, ok, failed }) => [slot, { ok, failed }])),
          okAt: row.ok_at === '' ? null : row.ok_at,
          lastError:
            row.error_at === '' ? null : { at: row.error_at, type: row.error_type, status: row.error_status, message: row.error_message },
        },
      ]),
    )
  },
  async latencies(nowMs) {
    const names = BUCKET_COLUMNS.filter((name) => name.startsWith('ttft_'))
    const from = isoTimestamp(nowMs - SLOTS * SLOT_MS).slice(0, 13)
    const sums = sql.join(names.map((name) => sql`cast(sum(${sql.ref(name)}) as bigint) as ${sql.ref(name)}`))
    const { rows } = await sql<Record<string, number> & { model: string; provider: string }>`
      select model, provider, ${sums} from usage_hours where hour >= ${from} group by model, provider`.execute(database.reports)
    return new Map(
      rows.map((row): [string, ModelLatency] => {
        const counts = names.map((name) => row[name] ?? 0)
        return [`${row.model} ${row.provider}`, { p50: percentileOf(counts, 0.5), p95: percentileOf(counts, 0.95) }]
      }),
    )
  },
  deleteOlderThan: (timestamp, limit) =>
    database.transaction(async (transaction) => {
      const { numDeletedRows } = await transaction
        .deleteFrom('endpoint_slots')
        .where(({ eb, selectFrom, refTuple }) =>
          eb(
            refTuple('slot', 'endpoint'),
            'in',
            selectFrom('endpoint_slots')
              .select(['slot', 'endpoint'])
              .where('slot', '<', timestamp.slice(0, 16))
              .orderBy('slot')
              .limit(limit)
              .$asTuple('slot', 'endpoint'),
          ),
        )
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    }),
})
