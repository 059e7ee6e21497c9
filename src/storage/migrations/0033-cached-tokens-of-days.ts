/** The cached tokens of each day that can still be read. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const cachedTokensOfDays = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    await sql`alter table activity_days add column tokens_cached ${integer} not null default 0`.execute(db)
    // Activity is shown for 30 days. On PostgreSQL no process of the version before can settle meanwhile.
    const newest = sql`(select substr(max(hour), 1, 10) from usage_hours)`
    const from = engine === 'postgres' ? sql`to_char(${newest}::date - 31, 'YYYY-MM-DD')` : sql`date(${newest}, '-31 days')`
    await sql`update activity_days set tokens_cached = h.tokens from (
        select substr(hour, 1, 10) as day, workspace_id, key_hash, model, provider, cast(sum(tokens_cache_read) as ${integer}) as tokens
        from usage_hours where hour >= ${from} group by 1, 2, 3, 4, 5) as h
      where activity_days.day = h.day and activity_days.workspace_id = h.workspace_id and activity_days.key_hash = h.key_hash
        and activity_days.model = h.model and activity_days.provider = h.provider`.execute(db)
  },
})
