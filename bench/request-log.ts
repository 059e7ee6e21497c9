/**
 * How long the lists, the sums and the search of the request log take over many records:
 * `bin/bun bench/request-log.ts --records 1000000 --days 1`. With `--database-url` it fills an empty PostgreSQL database instead.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'

import { isoTimestamp, systemClock } from '../src/lib/clock.ts'
import type { Database, Engine } from '../src/storage/database.ts'
import type { GenerationFilter } from '../src/storage/generation-filter.ts'
import { createGenerationList } from '../src/storage/generation-list.ts'
import { openDatabase } from '../src/storage/open-database.ts'
import type { Schema } from '../src/storage/schema.ts'
import { createSearchStore } from '../src/storage/search-store.ts'
import { createUsageSeries } from '../src/storage/usage-series.ts'

const { values } = parseArgs({
  options: { records: { type: 'string', default: '1000000' }, days: { type: 'string', default: '1' }, 'database-url': { type: 'string' } },
})
const [records, days] = [Number(values.records), Number(values.days)]
const ROUNDS = 15
const LIMIT = 51
const DAY_MS = 86_400_000

/** One of so many, in no order that an index would know. */
const spread = (of: number, salt: number) => sql`((i * 2654435761 + ${sql.lit(salt)}) % ${sql.lit(of)})`

const fill = async (engine: Engine, kysely: Kysely<Schema>, fromMs: number): Promise<void> => {
  const step = Math.max(1, Math.floor((days * DAY_MS) / records))
  const time =
    engine === 'sqlite'
      ? sql`strftime('%Y-%m-%dT%H:%M:%fZ', (${sql.lit(fromMs)} + i * ${sql.lit(step)}) / 1000.0, 'unixepoch')`
      : sql`to_char(to_timestamp((${sql.lit(fromMs)} + i * ${sql.lit(step)}) / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const text = (prefix: string, number: ReturnType<typeof spread>) => sql`${sql.lit(prefix)} || cast(${number} as text)`
  const portion = 20_000
  const indexes = await indexesOf(engine, kysely)
  for (const { name } of indexes) await sql`drop index ${sql.ref(name)}`.execute(kysely)
  for (let start = 0; start < records; start += portion) {
    const rows = sql`with recursive n(i) as (select cast(${sql.lit(start)} as bigint) union all select i + 1 from n where i < ${sql.lit(Math.min(records, start + portion) - 1)})`
    await sql`insert into generations (id, created_at, workspace_id, key_hash, preset_id, preset_version, model, provider, streamed, cancelled,
          tokens_prompt, tokens_completion, cost_nanos, byok_cost_nanos, record, user_id, interface, error_type, session_id, request_id, ended_at,
          http_status, first_token_ms, total_ms)
        ${rows} select 'gen-' || cast(i as text), ${time},
          case when i % 1000 = 7 then 'rare' else ${text('w-', spread(3, 1))} end, ${text('key-', spread(50, 2))},
          case when i % 4 = 0 then ${text('preset-', spread(20, 3))} end, 1,
          case when i % 100000 = 9 then 'rare/model' else ${text('m/', spread(12, 4))} end,
          case when i % 50000 = 3 then 'rare' else ${text('p-', spread(5, 5))} end, 1, case when i % 97 = 0 then 1 else 0 end,
          100, 50, i % 5000, 0, ${sql.lit(JSON.stringify({ finish_reason: 'stop', filler: 'x'.repeat(850) }))}, ${text('user-', spread(20, 6))},
          'chat', case when i % 40 = 11 then 'provider_overloaded' end, ${text('s-', spread(100_000, 7))}, 'req-' || cast(i as text), ${time},
          200, i % 3000, i % 20000
        from n`.execute(kysely)
  }
  for (const { definition } of indexes) await sql.raw(definition).execute(kysely)
  await sql`insert into usage_hours (hour, workspace_id, key_hash, user_id, model, provider, preset_id, preset_version, interface, error_type,
        requests, tokens_prompt, cost_nanos, ttft_5)
      select substr(created_at, 1, 13), workspace_id, key_hash, user_id, model, provider, coalesce(preset_id, ''), 1, interface,
        coalesce(error_type, ''), count(*), sum(tokens_prompt), sum(cost_nanos), count(*)
      from generations group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`.execute(kysely)
  if (engine === 'postgres') await sql`vacuum analyze`.execute(kysely)
}

/** The service ends a statement after some seconds; to fill a table and to make its indexes takes longer. */
const fillPatiently = async (database: Database, fromMs: number): Promise<void> => {
  if (values['database-url'] === undefined) return fill(database.engine, database.kysely, fromMs)
  const pool = new Pool({ connectionString: values['database-url'], max: 1 })
  const patient = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  try {
    await fill(database.engine, patient, fromMs)
  } finally {
    await patient.destroy()
  }
}

/** Made again when the rows are there, which takes less time. */
const indexesOf = async (
  engine: Engine,
  kysely: Kysely<Schema>,
): Promise<readonly { readonly name: string; readonly definition: string }[]> => {
  const found =
    engine === 'sqlite'
      ? sql<{
          name: string
          definition: string
        }>`select name, sql as definition from sqlite_schema where type = 'index' and tbl_name = 'generations' and sql is not null`
      : sql<{
          name: string
          definition: string
        }>`select indexname as name, indexdef as definition from pg_indexes where tablename = 'generations' and indexname not like '%pkey'`
  return (await found.execute(kysely)).rows
}

const measure = async (name: string, read: () => Promise<unknown>): Promise<void> => {
  const times: number[] = []
  let found: unknown
  for (let round = 0; round < ROUNDS; round += 1) {
    const startMs = systemClock.monotonicMs()
    found = await read()
    times.push(systemClock.monotonicMs() - startMs)
  }
  const [first = 0] = times
  const sorted = times.toSorted((a, b) => a - b)
  const shown = [first, sorted[Math.floor(ROUNDS / 2)] ?? 0, sorted.at(-1) ?? 0].map((ms) => ms.toFixed(1))
  process.stdout.write(`| ${name} | ${shown.join(' | ')} | ${idsIn(found)} |\n`)
}

/** How many records were found, and a mark of their ids in this order, which is the same on each engine. */
const idsIn = (found: unknown): string => {
  const ids = JSON.stringify(found).match(/"gen-\d+"/g) ?? []
  return ids.length === 0 ? '0' : `${ids.length} (${createHash('sha256').update(ids.join()).digest('hex').slice(0, 6)})`
}

const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-bench-'))
const database = await openDatabase({
  databaseUrl: values['database-url'] ?? null,
  dataDir,
  exclusive: false,
  thread: true,
  onError: () => undefined,
})
try {
  const fromMs = systemClock.now() - days * DAY_MS
  const startMs = systemClock.monotonicMs()
  await fillPatiently(database, fromMs)
  process.stdout.write(
    `${database.engine}: ${records} records of ${days} days, made in ${Math.round((systemClock.monotonicMs() - startMs) / 1000)} s\n\n`,
  )
  process.stdout.write('| read | first ms | p50 ms | max ms | records |\n|---|--:|--:|--:|--:|\n')
  const list = createGenerationList(database)
  const all: GenerationFilter = { from: isoTimestamp(fromMs), to: null, workspaceId: null, ownedBy: null }
  const page = (more: Partial<GenerationFilter>) => () => list.page({ ...all, ...more }, null, LIMIT)
  await measure('newest page, all workspaces', page({}))
  await measure('newest page, a workspace', page({ workspaceId: 'w-1' }))
  await measure('newest page, a rare workspace', page({ workspaceId: 'rare' }))
  const middle = { createdAt: isoTimestamp(fromMs + (days * DAY_MS) / 2), id: 'gen-5' }
  await measure('a page in the middle', () => list.page({ ...all, workspaceId: 'w-1' }, middle, LIMIT))
  await measure('errors', page({ status: 'error', workspaceId: 'w-1' }))
  await measure('cancelled', page({ status: 'cancelled', workspaceId: 'w-1' }))
  await measure('a key', page({ keyHash: 'key-7' }))
  await measure('a key that was never used', page({ keyHash: 'nobody' }))
  await measure('a key, errors', page({ keyHash: 'key-7', status: 'error' }))
  await measure('a person', page({ ownedBy: 'user-3', workspaceId: 'w-1' }))
  await measure('a preset of two workspaces', page({ presetIds: ['preset-3', 'preset-7'] }))
  await measure('a type of error', page({ errorType: 'provider_overloaded' }))
  await measure('an interface', page({ interface: 'chat', workspaceId: 'w-1' }))
  await measure('an interface that nobody uses', page({ interface: 'messages', workspaceId: 'w-1' }))
  await measure('with contents, where none are kept', page({ hasContent: true }))
  await measure('without errors', page({ status: 'ok', workspaceId: 'w-1' }))
  await measure('a preset', page({ presetIds: ['preset-3'], workspaceId: 'w-1' }))
  await measure('a session', page({ sessionId: 's-77' }))
  await measure('a request', page({ requestId: 'req-4711' }))
  await measure('a rare model', page({ model: 'rare/model' }))
  await measure('a rare provider', page({ provider: 'rare' }))
  await measure('a provider that nobody asked', page({ provider: 'nobody', workspaceId: 'w-1' }))
  await measure('cost above all', page({ minCostNanos: 10_000 }))
  await measure('slower than all', page({ minTotalMs: 1_000_000, workspaceId: 'w-1' }))
  await measure('ended in the last 10 s', () => list.ended(all, isoTimestamp(systemClock.now() - 10_000), 20_000))
  const usage = createUsageSeries(database)
  const range = {
    from: isoTimestamp(fromMs),
    to: isoTimestamp(systemClock.now() + 3_600_000),
    top: 8,
    workspaceId: null,
    ownedBy: null,
    only: {},
  }
  await measure('usage by hour', () => usage.read({ ...range, interval: 'hour', groupBy: [] }))
  await measure('usage by hour, key and model', () => usage.read({ ...range, interval: 'hour', groupBy: ['key', 'model'] }))
  /** As the service answers: by the hour where there are too many records for minutes. */
  const minutesOf = (hours: number) => async () => {
    const asked = { ...range, from: isoTimestamp(systemClock.now() - hours * 3_600_000), interval: 'minute', groupBy: ['model'] } as const
    return usage.read((await usage.isDense(asked)) ? { ...asked, interval: 'hour' } : asked)
  }
  await measure('usage by minute of an hour', minutesOf(1))
  await measure('usage by minute of six hours', minutesOf(6))
  const search = createSearchStore(database)
  await measure('search, an id', () => search.find('gen-4711', all, 8))
  await measure('search, a word', () => search.find('support', all, 8))
} finally {
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
}
