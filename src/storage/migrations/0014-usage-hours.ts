/** The use of each hour, by whom and where, with how long it took. Released: never change it. */
import { type Kysely, type Migration, type RawBuilder, sql } from 'kysely'

import type { Engine } from '../engine.ts'

const SUMS = [
  'requests',
  'cancelled',
  'tokens_prompt',
  'tokens_completion',
  'tokens_reasoning',
  'tokens_cache_read',
  'tokens_cache_write',
  'cost_nanos',
  'byok_cost_nanos',
  'estimated_requests',
  'estimated_nanos',
  'unpriced_requests',
] as const

const BUCKETS = 24

export const usageHours = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text, 64 bits and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const small = sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict, without rowid`
    const columns = (names: readonly string[], type: RawBuilder<unknown>): RawBuilder<unknown> =>
      sql.join(names.map((name) => sql`${sql.ref(name)} ${type} not null default 0`))
    const buckets = ['ttft', 'total'].flatMap((latency) => Array.from({ length: BUCKETS }, (_, bucket) => `${latency}_${bucket}`))

    for (const name of ['estimated', 'unpriced']) await sql`alter table generations add column ${sql.ref(name)} ${integer}`.execute(db)

    await sql`create table usage_hours (
      hour ${text} not null check (length(hour) = 13),
      workspace_id ${text} not null,
      key_hash ${text} not null,
      user_id ${text} not null,
      model ${text} not null,
      provider ${text} not null,
      preset_id ${text} not null,
      preset_version ${integer} not null,
      interface ${text} not null,
      error_type ${text} not null,
      ${columns(SUMS, integer)},
      ${columns(buckets, small)},
      primary key (hour, workspace_id, key_hash, user_id, model, provider, preset_id, preset_version, interface, error_type)
    ) ${end}`.execute(db)

    await sql`insert into usage_hours (hour, workspace_id, key_hash, user_id, model, provider, preset_id, preset_version, interface, error_type,
        requests, cancelled, tokens_prompt, tokens_completion, tokens_reasoning, tokens_cache_read, cost_nanos, byok_cost_nanos)
      select substr(created_at, 1, 13), workspace_id, key_hash, coalesce(user_id, ''), model, coalesce(provider, ''), coalesce(preset_id, ''),
        coalesce(preset_version, 0), coalesce(interface, ''), coalesce(error_type, ''),
        count(*), sum(cancelled), sum(tokens_prompt), sum(tokens_completion), coalesce(sum(tokens_reasoning), 0),
        coalesce(sum(tokens_cache_read), 0), sum(cost_nanos), sum(byok_cost_nanos)
      from generations group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`.execute(db)
    // Not all that the ledger has of before has a record: the audit of the two begins after it.
    await sql`insert into service_facts (name, value) select 'usage-hours-after', coalesce(max(day), '') from ledger`.execute(db)
  },
})
