/** The use of models, by interval and by up to two dimensions: from the sums of hours, and for minutes from the records themselves. */
import { type RawBuilder, sql } from 'kysely'

import type { Database, Engine } from './database.ts'
import { newestGenerations } from './generation-filter.ts'
import { BUCKET_COLUMNS, BUCKET_ENDS, bucketColumn, LATENCIES, type Latency, percentileOf } from './latency-buckets.ts'
import { USAGE_MEASURES } from './usage-tables.ts'

export type UsageInterval = 'minute' | 'hour' | 'day' | 'month'

/** The columns behind the names on the wire. */
const DIMENSIONS = {
  key: 'key_hash',
  model: 'model',
  provider: 'provider',
  preset: 'preset_id',
  preset_version: 'preset_version',
  user: 'user_id',
  workspace: 'workspace_id',
  interface: 'interface',
  error_type: 'error_type',
} as const

export type UsageDimension = keyof typeof DIMENSIONS

export interface UsageQuery {
  /** ISO timestamps on the borders of hours, or of minutes where these are asked for; the second is not part of it. */
  readonly from: string
  readonly to: string
  readonly interval: UsageInterval
  /** At most two. */
  readonly groupBy: readonly UsageDimension[]
  /** Groups that are told by themselves: those that cost most. The others are one. */
  readonly top: number
  /** Null: of every workspace. */
  readonly workspaceId: string | null
  /** Only what this person's keys used; null: what anybody's did. */
  readonly ownedBy: string | null
  /** The columns that each dimension has to have. */
  readonly only: Partial<Record<UsageDimension, string | number | readonly string[]>>
}

export type UsageSums = Readonly<Record<(typeof USAGE_MEASURES)[number] | 'errors', number>> & {
  readonly ttftP50: number | null
  readonly ttftP95: number | null
  readonly totalP50: number | null
  readonly totalP95: number | null
}

/** The values of the dimensions, '' and 0 for none; null: all groups that are not told by themselves. */
export type UsageGroup = readonly (string | number)[] | null

export interface UsageSlot extends UsageSums {
  readonly group: UsageGroup
}

export interface UsagePoint extends UsageSlot {
  /** When its interval begins: an ISO timestamp. */
  readonly time: string
}

export interface UsageSeries {
  /** In the order of time, and in that of the groups within. */
  readonly points: readonly UsagePoint[]
  /** The dearest first, the others last. */
  readonly groups: readonly UsageSlot[]
}

/** The names that people give the values of groups: of a key, a preset, a workspace, by its id. */
export type UsageNames = ReadonlyMap<string, string>

export interface UsageSeriesStore {
  read(query: UsageQuery): Promise<UsageSeries>
  names(groupBy: readonly UsageDimension[], series: UsageSeries): Promise<UsageNames>
}

const NAMED = {
  key: sql`select hash as id, name from api_keys where hash`,
  preset: sql`select id, slug as name from presets where id`,
  workspace: sql`select id, slug as name from workspaces where id`,
} as const

const isNamed = (dimension: UsageDimension): dimension is keyof typeof NAMED => Object.hasOwn(NAMED, dimension)

export const createUsageSeries = ({ engine, reports }: Pick<Database, 'engine' | 'reports'>): UsageSeriesStore => ({
  async read(query) {
    const source = sourceOf(query, engine)
    const columns = query.groupBy.map((dimension) => sql.ref(DIMENSIONS[dimension]))
    const top = columns.length === 0 ? [] : await topGroups(reports, query.top, source, columns)
    const slot = slotOf(columns, top)
    const groupOf = (index: number): UsageGroup => (columns.length === 0 ? [] : (top[index] ?? null))
    const { rows } = await sql<Row & { readonly time: string }>`
      select ${timeOf(query.interval)} as time, ${slot} as slot, ${SUMS} from ${source} group by 1, 2 order by 1, 2`.execute(reports)
    const points = rows.map((row): UsagePoint => ({ time: timeText(row.time), group: groupOf(row.slot), ...sumsIn(row) }))
    const groups = [...summedBySlot(rows)].map(([index, sums]): UsageSlot => ({ group: groupOf(index), ...sumsIn(sums) }))
    return { points, groups }
  },
  async names(groupBy, { groups }) {
    const names = new Map<string, string>()
    for (const [at, dimension] of groupBy.entries()) {
      const ids = groups.flatMap(({ group }) => group?.[at] ?? [])
      if (!isNamed(dimension) || ids.length === 0) continue
      const { rows } = await sql<{ id: string; name: string }>`${NAMED[dimension]} in (${sql.join(ids)})`.execute(reports)
      for (const { id, name } of rows) names.set(id, name)
    }
    return names
  },
})

type Row = Readonly<Record<string, number>> & { readonly slot: number }

/** Rows with the columns of `usage_hours`. */
const sourceOf = (query: UsageQuery, engine: Engine): RawBuilder<unknown> => {
  const { from, to, workspaceId, ownedBy, only, interval } = query
  const isMinute = interval === 'minute'
  const conditions = [
    isMinute ? sql`created_at >= ${from} and created_at < ${to}` : sql`hour >= ${from.slice(0, 13)} and hour < ${to.slice(0, 13)}`,
    ...(workspaceId === null ? [] : [sql`workspace_id = ${workspaceId}`]),
    ...(ownedBy === null ? [] : [sql`user_id = ${ownedBy}`]),
    ...Object.entries(only).map(([name, value]) => isValue(DIMENSIONS[name as UsageDimension], value)),
  ]
  return sql`(select * from ${isMinute ? minutesIn(engine) : sql`usage_hours`} where ${sql.join(conditions, sql` and `)}) as used`
}

const isValue = (column: string, value: string | number | readonly string[]): RawBuilder<unknown> =>
  Array.isArray(value)
    ? value.length === 0
      ? sql`1 = 0`
      : sql`${sql.ref(column)} in (${sql.join(value)})`
    : sql`${sql.ref(column)} = ${value}`

/** The records as if each were the sum of its hour. Left to itself, SQLite reads all there are in the order of what they are grouped by. */
const minutesIn = (
  engine: Engine,
): RawBuilder<unknown> => sql`(select created_at, workspace_id, key_hash, coalesce(user_id, '') as user_id, model, coalesce(provider, '') as provider,
  coalesce(preset_id, '') as preset_id, coalesce(preset_version, 0) as preset_version, coalesce(interface, '') as interface,
  coalesce(error_type, '') as error_type, 1 as requests, cancelled, tokens_prompt, tokens_completion,
  coalesce(tokens_reasoning, 0) as tokens_reasoning, coalesce(tokens_cache_read, 0) as tokens_cache_read,
  coalesce(tokens_cache_write, 0) as tokens_cache_write, cost_nanos, byok_cost_nanos, coalesce(estimated, 0) as estimated_requests,
  coalesce(estimated, 0) * cost_nanos as estimated_nanos, coalesce(unpriced, 0) as unpriced_requests, ${sql.join(LATENCIES.flatMap(bucketsOfRecord))}
  from ${newestGenerations(engine)}) as minutes`

function bucketsOfRecord(latency: Latency): RawBuilder<unknown>[] {
  const ms = sql.ref(latency === 'ttft' ? 'first_token_ms' : 'total_ms')
  return [...BUCKET_ENDS, null].map((end, bucket) => {
    const start = BUCKET_ENDS[bucket - 1] ?? 0
    const upTo = end === null ? sql`` : sql`and ${ms} < ${sql.lit(end)}`
    return sql`case when ${ms} >= ${sql.lit(start)} ${upTo} then 1 else 0 end as ${sql.ref(bucketColumn(latency, bucket))}`
  })
}

/** The values of the groups that cost most; where nothing costs, those with most requests. */
const topGroups = async (
  reports: Database['reports'],
  top: number,
  source: RawBuilder<unknown>,
  columns: readonly RawBuilder<unknown>[],
): Promise<readonly (readonly (string | number)[])[]> => {
  const values = sql.join(columns.map((column, index) => sql`${column} as ${sql.ref(VALUES[index] ?? '')}`))
  const { rows } = await sql<Record<string, string | number>>`
    select ${values} from ${source} group by ${sql.join(columns)}
    order by sum(cost_nanos + byok_cost_nanos) desc, sum(requests) desc, ${sql.join(columns)} limit ${top}`.execute(reports)
  return rows.map((row) => columns.map((_, index) => row[VALUES[index] ?? ''] ?? ''))
}

const VALUES = ['first_value', 'second_value'] as const

/** The place of a row's group among the groups, or the one behind them. */
const slotOf = (columns: readonly RawBuilder<unknown>[], top: readonly (readonly (string | number)[])[]): RawBuilder<unknown> => {
  if (top.length === 0) return sql`0`
  const cases = top.map((values, index) => {
    const same = sql.join(
      columns.map((column, at) => sql`${column} = ${values[at]}`),
      sql` and `,
    )
    return sql`when ${same} then ${sql.lit(index)}`
  })
  return sql`case ${sql.join(cases, sql` `)} else ${sql.lit(top.length)} end`
}

/** The casts: PostgreSQL sums bigints into a numeric, which has no exact form in JavaScript. */
const SUMS = sql.join([
  ...[...USAGE_MEASURES, ...BUCKET_COLUMNS].map((name) => sql`cast(sum(${sql.ref(name)}) as bigint) as ${sql.ref(name)}`),
  sql`cast(sum(case when error_type = '' then 0 else requests end) as bigint) as errors`,
])

/** In the order of the slots: what is read is read once. */
const summedBySlot = (rows: readonly Row[]): readonly (readonly [number, Row])[] => {
  const sums = new Map<number, Record<string, number> & { slot: number }>()
  for (const row of rows) {
    const sum: Record<string, number> & { slot: number } = sums.get(row.slot) ?? { slot: row.slot }
    for (const name of SUMMED) sum[name] = (sum[name] ?? 0) + (row[name] ?? 0)
    sums.set(row.slot, sum)
  }
  return [...sums].sort(([left], [right]) => left - right)
}

const SUMMED = [...USAGE_MEASURES, ...BUCKET_COLUMNS, 'errors'] as const

const sumsIn = (row: Row): UsageSums => {
  const measures = Object.fromEntries([...USAGE_MEASURES, 'errors' as const].map((name) => [name, row[name] ?? 0]))
  const [ttft, total] = LATENCIES.map((latency) =>
    BUCKET_COLUMNS.filter((name) => name.startsWith(`${latency}_`)).map((name) => row[name] ?? 0),
  )
  return {
    ...(measures as Record<(typeof USAGE_MEASURES)[number] | 'errors', number>),
    ttftP50: percentileOf(ttft ?? [], MIDDLE),
    ttftP95: percentileOf(ttft ?? [], NEARLY_ALL),
    totalP50: percentileOf(total ?? [], MIDDLE),
    totalP95: percentileOf(total ?? [], NEARLY_ALL),
  }
}

const MIDDLE = 0.5
const NEARLY_ALL = 0.95

const timeOf = (interval: UsageInterval): RawBuilder<unknown> =>
  interval === 'minute'
    ? sql`substr(created_at, 1, 16)`
    : interval === 'hour'
      ? sql`hour`
      : sql`substr(hour, 1, ${sql.lit(interval === 'day' ? 10 : 7)})`

/** A beginning of an ISO timestamp, as all of it. */
const timeText = (beginning: string): string => beginning + '0000-01-01T00:00:00.000Z'.slice(beginning.length)
