/** Many records of requests, with the real schema: made by the database itself, without the indexes, which are made again at the end. */
import { type Kysely, sql } from 'kysely'

import type { Database } from '../../src/storage/database.ts'
import type { Engine } from '../../src/storage/engine.ts'
import type { Schema } from '../../src/storage/schema.ts'
import { fillPatiently, rowsBetween, spread, timeOfRow } from './made-rows.ts'

export interface RequestLog {
  readonly records: number
  /** They are spread evenly over so many days from `fromMs` on. */
  readonly days: number
  readonly fromMs: number
}

const DAY_MS = 86_400_000

export const fillRequestLog = (database: Database, databaseUrl: string | null, log: RequestLog): Promise<void> =>
  fillPatiently(database, databaseUrl, (engine, kysely) => fill(engine, kysely, log))

const fill = async (engine: Engine, kysely: Kysely<Schema>, { records, days, fromMs }: RequestLog): Promise<void> => {
  const step = Math.max(1, Math.floor((days * DAY_MS) / records))
  const time = timeOfRow(engine, fromMs, step)
  const text = (prefix: string, number: ReturnType<typeof spread>) => sql`${sql.lit(prefix)} || cast(${number} as text)`
  const portion = 20_000
  const indexes = await indexesOf(engine, kysely)
  for (const { name } of indexes) await sql`drop index ${sql.ref(name)}`.execute(kysely)
  for (let start = 0; start < records; start += portion) {
    const rows = rowsBetween(start, Math.min(records, start + portion) - 1)
    await sql`insert into generations (id, created_at, workspace_id, key_hash, preset_id, preset_version, model, provider, streamed, cancelled,
          tokens_prompt, tokens_completion, cost_nanos, byok_cost_nanos, record, user_id, interface, error_type, session_id, request_id, ended_at,
          http_status, first_token_ms, total_ms, guardrail_hits)
        ${rows} select 'gen-' || cast(i as text), ${time},
          case when i % 1000 = 7 then 'rare' else ${text('w-', spread(3, 1))} end, ${text('key-', spread(50, 2))},
          case when i % 4 = 0 then ${text('preset-', spread(20, 3))} end, 1,
          case when i % 100000 = 9 then 'rare/model' else ${text('m/', spread(12, 4))} end,
          case when i % 50000 = 3 then 'rare' else ${text('p-', spread(5, 5))} end, 1, case when i % 97 = 0 then 1 else 0 end,
          100, 50, i % 5000, 0, ${sql.lit(JSON.stringify({ finish_reason: 'stop', filler: 'x'.repeat(850) }))}, ${text('user-', spread(20, 6))},
          'chat', case when i % 40 = 11 then 'provider_overloaded' end, ${text('s-', spread(100_000, 7))}, 'req-' || cast(i as text), ${time},
          200, i % 3000, i % 20000, case when i % 200 = 13 then 1 else 0 end
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
