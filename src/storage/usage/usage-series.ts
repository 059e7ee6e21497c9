/** The usage of models, by interval and by up to two dimensions: from the hourly sums, or for minutes from the records themselves. */
import { type Expression, type RawBuilder, sql } from 'kysely'

import type { Database } from '../database.ts'
import type { Engine } from '../engine.ts'
import { indexFor, matching } from '../generations/generation-filter.ts'
import { tableBy } from '../statements/table-by.ts'
import { BUCKET_COLUMNS, BUCKET_ENDS, bucketColumn, LATENCIES, type Latency, percentileOf } from './latency-buckets.ts'
import { USAGE_DIMENSIONS, USAGE_MEASURES } from '../tables/usage-tables.ts'
import { nextDay } from './usage-windows.ts'

export type UsageInterval = 'minute' | 'hour' | 'day' | 'month'

/** The columns for the names on the wire. */
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

/** How much a group has of what it is picked by. The cost includes that with customers' own provider keys. */
const SORTS = {
  cost: sql`cost_nanos + byok_cost_nanos`,
  tokens: sql`tokens_prompt + tokens_completion`,
  requests: sql`requests`,
  errors: sql`errors`,
} as const

export type UsageSort = keyof typeof SORTS

export interface UsageQuery {
  /** ISO timestamps on the borders of hours, or of minutes if the interval is a minute; `to` is exclusive. */
  readonly from: string
  readonly to: string
  readonly interval: UsageInterval
  /** At most two. */
  readonly groupBy: readonly UsageDimension[]
  /** How many groups are listed separately: those that have most of what `sort` names. All others form one group. */
  readonly top: number
  readonly sort: UsageSort
  /** Null means every workspace. */
  readonly workspaceId: string | null
  /** Only what this person's keys used; null means everybody's. */
  readonly ownedBy: string | null
  /** The value that each dimension must have; for presets, one of these ids. */
  readonly only: Partial<Record<Exclude<UsageDimension, 'preset' | 'preset_version' | 'workspace'>, string>> & {
    readonly preset?: readonly string[]
    readonly preset_version?: number
  }
}

export type UsageSums = Readonly<Record<(typeof USAGE_MEASURES)[number] | 'errors', number>> & {
  readonly ttftP50: number | null
  readonly ttftP95: number | null
  readonly ttftP99: number | null
  readonly totalP50: number | null
  readonly totalP95: number | null
  readonly totalP99: number | null
}

/** The values of the dimensions, '' and 0 if there is none; null for the group of all that are not listed separately. */
export type UsageGroup = readonly (string | number)[] | null

export interface UsageSlot extends UsageSums {
  readonly group: UsageGroup
}

export interface UsagePoint extends UsageSlot {
  /** When its interval begins: an ISO timestamp. */
  readonly time: string
}

export interface UsageSeries {
  /** In the order of time, and within each time in the order of the groups. */
  readonly points: readonly UsagePoint[]
  /** The group that has most of what `sort` names first, the group of all others last. */
  readonly groups: readonly UsageSlot[]
}

/** The names of keys, presets, people and workspaces, by id. */
export type UsageNames = ReadonlyMap<string, string>

export interface UsageSeriesStore {
  /** True if the minutes of the query involve more records than one answer looks through. */
  isDense(query: UsageQuery): Promise<boolean>
  read(query: UsageQuery): Promise<UsageSeries>
  names(query: Pick<UsageQuery, 'groupBy' | 'workspaceId'>, series: UsageSeries): Promise<UsageNames>
}

type NamesOf = (ids: RawBuilder<unknown>, workspaceId: string | null) => RawBuilder<{ readonly id: string; readonly name: string }>

const NAMED = {
  key: (ids) => sql`select hash as id, name from api_keys where hash in (${ids})`,
  preset: (ids) => sql`select id, slug as name from presets where id in (${ids})`,
  // Each workspace has its own name of a person, which the others do not see; of several names none is right for all.
  user: (ids, workspaceId) => sql`select user_id as id, max(name) as name from workspace_members
    where name is not null and user_id in (${ids}) and ${workspaceId === null ? sql`1 = 1` : sql`workspace_id = ${workspaceId}`}
    group by user_id having min(name) = max(name)`,
  workspace: (ids) => sql`select id, slug as name from workspaces where id in (${ids})`,
} satisfies Partial<Record<UsageDimension, NamesOf>>

const isNamed = (dimension: UsageDimension): dimension is keyof typeof NAMED => Object.hasOwn(NAMED, dimension)

/** The most records that one answer by minutes looks through: about 0.15 s (bench/results.md). */
export const MINUTE_RECORDS_MAX = 50_000

export const createUsageSeries = ({ engine, reports }: Pick<Database, 'engine' | 'reports'>): UsageSeriesStore => ({
  async isDense(query) {
    const wanted = recordsOf(query, engine, reports)
      .select('id')
      .limit(MINUTE_RECORDS_MAX + 1)
    const { count } = await reports
      .selectFrom(wanted.as('wanted'))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return count > MINUTE_RECORDS_MAX
  },
  async read(query) {
    const rowsIn = (source: RawBuilder<unknown>, more: RawBuilder<unknown>) =>
      sql`select * from ${source} where ${conditionsOf(query)} and ${more}`
    const source =
      query.interval === 'minute'
        ? rowsIn(minutesOf(recordsOf(query, engine, reports).selectAll()), sql`1 = 1`)
        : unionOf(
            piecesOf(query, await summedDays(query, reports)).map(([table, from, to]) =>
              rowsIn(table, sql`hour >= ${from} and hour < ${to}`),
            ),
          )
    const { rows } = await seriesIn(query, sql`(${source}) as used`).execute(reports)
    const groupOf = ({ slot, first_value: first, second_value: second }: SeriesRow): UsageGroup => {
      if (query.groupBy.length === 0) return []
      if (slot > query.top) return null
      return query.groupBy.length === 1 ? [first] : [first, second]
    }
    const points = rows.map((row): UsagePoint => ({ time: timeText(row.time), group: groupOf(row), ...sumsIn(row) }))
    const groups = summedBySlot(rows).map((row): UsageSlot => ({ group: groupOf(row), ...sumsIn(row) }))
    return { points, groups }
  },
  async names({ groupBy, workspaceId }, { groups }) {
    const names = new Map<string, string>()
    for (const [at, dimension] of groupBy.entries()) {
      const ids = groups.flatMap(({ group }) => group?.[at] ?? [])
      if (!isNamed(dimension) || ids.length === 0) continue
      const { rows } = await NAMED[dimension](sql.join(ids), workspaceId).execute(reports)
      for (const { id, name } of rows) names.set(id, name)
    }
    return names
  },
})

interface SeriesRow extends Sums {
  /** The beginning of an ISO timestamp. */
  readonly time: string
  /** The rank of its group, 1 for the first; all groups after `top` share one rank. */
  readonly slot: number
  readonly first_value: string | number
  readonly second_value: string | number
}

type Sums = Readonly<Record<(typeof SUMMED)[number], number>>

/** The records in the range, read through the index that covers most of the query. */
const recordsOf = ({ from, to, workspaceId, ownedBy, only }: UsageQuery, engine: Engine, reports: Database['reports']) => {
  const { name, held } = indexFor({
    from,
    to,
    workspaceId,
    ownedBy,
    model: only.model,
    provider: only.provider,
    presetIds: only.preset,
    keyHash: only.key,
    userId: only.user,
    interface: only.interface,
    errorType: only.error_type,
  })
  return reports.selectFrom(tableBy(engine, 'generations', name)).where(matching(held))
}

/** The days of the query that are summed (sum-usage-days.ts), in their order. */
const summedDays = async ({ from, to, interval }: UsageQuery, reports: Database['reports']): Promise<readonly string[]> => {
  if (interval === 'hour') return []
  const first = from.endsWith('T00:00:00.000Z') ? from.slice(0, 10) : nextDay(from.slice(0, 10))
  const rows = await reports
    .selectFrom('usage_summed_days')
    .select('day')
    .where('complete', '=', 1)
    .where('day', '>=', first)
    .where('day', '<', to.slice(0, 10))
    .orderBy('day')
    .execute()
  return rows.map(({ day }) => day)
}

type Piece = readonly [table: RawBuilder<unknown>, from: string, to: string]

/** The range of the query in pieces, each of which is read from days or from hours. Few days are not summed, so that there are few pieces. */
const piecesOf = ({ from, to }: UsageQuery, days: readonly string[]): readonly Piece[] => {
  const runs: { from: string; to: string }[] = []
  for (const day of days) {
    const last = runs.at(-1)
    if (last?.to === day) last.to = nextDay(day)
    else runs.push({ from: day, to: nextDay(day) })
  }
  const pieces: Piece[] = []
  let at = from.slice(0, 13)
  for (const run of runs.slice(-RUNS_MAX)) {
    if (at < `${run.from}T00`) pieces.push([HOURS, at, `${run.from}T00`])
    pieces.push([DAYS, run.from, run.to])
    at = `${run.to}T00`
  }
  return [...pieces, [HOURS, at, to.slice(0, 13)]]
}

/** Each run is two terms of a compound SELECT, and one more follows them: SQLite takes up to 500. */
const RUNS_MAX = 20

const unionOf = (queries: readonly RawBuilder<unknown>[]): RawBuilder<unknown> => sql.join([...queries], sql` union all `)

/** All conditions of the query but its range, for rows with the columns of `usage_hours`. */
const conditionsOf = ({ workspaceId, ownedBy, only }: UsageQuery): RawBuilder<unknown> =>
  sql.join(
    [
      ...(workspaceId === null ? [sql`1 = 1`] : [sql`workspace_id = ${workspaceId}`]),
      ...(ownedBy === null ? [] : [sql`user_id = ${ownedBy}`]),
      ...Object.entries(only).map(([name, value]) => isValue(DIMENSIONS[name as UsageDimension], value)),
    ],
    sql` and `,
  )

const isValue = (column: string, value: string | number | readonly string[]): RawBuilder<unknown> => {
  if (!Array.isArray(value)) return sql`${sql.ref(column)} = ${value}`
  return value.length === 0 ? sql`1 = 0` : sql`${sql.ref(column)} in (${sql.join(value)})`
}

const COLUMNS = [...USAGE_DIMENSIONS.filter((name) => name !== 'hour'), ...USAGE_MEASURES, ...BUCKET_COLUMNS].map((name) => sql.ref(name))

const HOURS = sql`(select hour, ${sql.join(COLUMNS)} from usage_hours) as hours`

/** The sums of days in the form of hourly sums, whose hour is a day. */
const DAYS = sql`(select day as hour, ${sql.join(COLUMNS)} from usage_days) as days`

/** The records, each in the form of an hourly sum. */
const minutesOf = (
  records: Expression<unknown>,
): RawBuilder<unknown> => sql`(select created_at, workspace_id, key_hash, coalesce(user_id, '') as user_id, model, coalesce(provider, '') as provider,
  coalesce(preset_id, '') as preset_id, coalesce(preset_version, 0) as preset_version, coalesce(interface, '') as interface,
  coalesce(error_type, '') as error_type, 1 as requests, cancelled, tokens_prompt, tokens_completion,
  coalesce(tokens_reasoning, 0) as tokens_reasoning, coalesce(tokens_cache_read, 0) as tokens_cache_read,
  coalesce(tokens_cache_write, 0) as tokens_cache_write, cost_nanos, byok_cost_nanos, coalesce(estimated, 0) as estimated_requests,
  coalesce(estimated, 0) * cost_nanos as estimated_nanos, coalesce(unpriced, 0) as unpriced_requests, ${sql.join(LATENCIES.flatMap(bucketsOfRecord))}
  from ${records} as records) as minutes`

function bucketsOfRecord(latency: Latency): RawBuilder<unknown>[] {
  const ms = sql.ref(latency === 'ttft' ? 'first_token_ms' : 'total_ms')
  return [...BUCKET_ENDS, null].map((end, bucket) => {
    const start = BUCKET_ENDS[bucket - 1] ?? 0
    const upTo = end === null ? sql`` : sql`and ${ms} < ${sql.lit(end)}`
    return sql`case when ${ms} >= ${sql.lit(start)} ${upTo} then 1 else 0 end as ${sql.ref(bucketColumn(latency, bucket))}`
  })
}

const VALUES = ['first_value', 'second_value'] as const

/**
 * In the order of time, and within each time in the order of the groups: those with the most of what `sort` names first and, if they have
 * equally much, those with the most requests. The rows are read once: they are summed by group first, and the sums decide which groups are
 * listed.
 */
const seriesIn = ({ interval, groupBy, top, sort }: UsageQuery, source: RawBuilder<unknown>): RawBuilder<SeriesRow> => {
  if (groupBy.length === 0) {
    return sql<SeriesRow>`select ${TIMES[interval]} as time, 1 as slot, '' as first_value, '' as second_value, ${SUMS} from ${source} group by 1 order by 1`
  }
  const [first, second] = groupBy.map((dimension) => sql.ref(DIMENSIONS[dimension]))
  const isSame = sql.join(
    VALUES.map((value) => sql`used.${sql.ref(value)} = ranked.${sql.ref(value)}`),
    sql` and `,
  )
  return sql<SeriesRow>`
    with used as materialized (
      select ${TIMES[interval]} as time, ${first} as first_value, ${second ?? sql`''`} as second_value, ${SUMS} from ${source} group by 1, 2, 3),
    ranked as (
      select first_value, second_value,
        row_number() over (order by sum(${SORTS[sort]}) desc, sum(requests) desc, first_value, second_value) as place
      from used group by first_value, second_value)
    select used.time as time, case when ranked.place <= ${sql.lit(top)} then ranked.place else ${sql.lit(top + 1)} end as slot,
      min(used.first_value) as first_value, min(used.second_value) as second_value, ${SUMS_OF_SUMS}
    from used join ranked on ${isSame} group by 1, 2 order by 1, 2`
}

const sumOf = (name: string): RawBuilder<unknown> => sql`cast(sum(${sql.ref(name)}) as bigint) as ${sql.ref(name)}`

/** The casts are needed because PostgreSQL sums bigints into a numeric, which has no exact form in JavaScript. */
const SUMS = sql.join([
  ...[...USAGE_MEASURES, ...BUCKET_COLUMNS].map(sumOf),
  sql`cast(sum(case when error_type = '' then 0 else requests end) as bigint) as errors`,
])

const SUMMED = [...USAGE_MEASURES, ...BUCKET_COLUMNS, 'errors'] as const

const SUMS_OF_SUMS = sql.join(SUMMED.map(sumOf))

/** In the order of the slots. */
const summedBySlot = (rows: readonly SeriesRow[]): readonly SeriesRow[] => {
  const sums = new Map<number, SeriesRow>()
  for (const row of rows) {
    const sum = sums.get(row.slot)
    const added = sum === undefined ? {} : Object.fromEntries(SUMMED.map((name) => [name, (sum[name] ?? 0) + (row[name] ?? 0)]))
    sums.set(row.slot, { ...(sum ?? row), ...added })
  }
  return [...sums.values()].sort((left, right) => left.slot - right.slot)
}

const sumsIn = (row: Sums): UsageSums => {
  const measures = Object.fromEntries([...USAGE_MEASURES, 'errors' as const].map((name) => [name, row[name]]))
  const [ttft, total] = LATENCIES.map((latency) =>
    BUCKET_COLUMNS.filter((name) => name.startsWith(`${latency}_`)).map((name) => row[name] ?? 0),
  )
  return {
    ...(measures as Record<(typeof USAGE_MEASURES)[number] | 'errors', number>),
    ttftP50: percentileOf(ttft ?? [], MIDDLE),
    ttftP95: percentileOf(ttft ?? [], NEARLY_ALL),
    ttftP99: percentileOf(ttft ?? [], ALMOST_EACH),
    totalP50: percentileOf(total ?? [], MIDDLE),
    totalP95: percentileOf(total ?? [], NEARLY_ALL),
    totalP99: percentileOf(total ?? [], ALMOST_EACH),
  }
}

const MIDDLE = 0.5
const NEARLY_ALL = 0.95
const ALMOST_EACH = 0.99

const TIMES: Readonly<Record<UsageInterval, RawBuilder<unknown>>> = {
  minute: sql`substr(created_at, 1, 16)`,
  hour: sql`hour`,
  day: sql`substr(hour, 1, 10)`,
  month: sql`substr(hour, 1, 7)`,
}

/** Completes the beginning of an ISO timestamp. */
const timeText = (beginning: string): string => beginning + '0000-01-01T00:00:00.000Z'.slice(beginning.length)
