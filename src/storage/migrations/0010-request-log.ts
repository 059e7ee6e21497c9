/** The columns by which generations are listed and counted, and the indexes of these lists. Released: never change it. */
import { type Kysely, type Migration, type RawBuilder, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const requestLog = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    for (const name of ['user_id', 'interface', 'error_type', 'session_id', 'request_id', 'ended_at']) {
      await sql`alter table generations add column ${sql.ref(name)} ${text}`.execute(db)
    }
    for (const name of ['http_status', 'first_token_ms', 'total_ms', 'tokens_cache_read', 'tokens_cache_write', 'tokens_reasoning']) {
      await sql`alter table generations add column ${sql.ref(name)} ${integer}`.execute(db)
    }
    await fill(db, engine)

    await sql`create index generations_workspace on generations (workspace_id, created_at, id)`.execute(db)
    // The columns that most other filters read are in it, so that they need not look at the records of all that does not fit.
    await sql`create index generations_newest on generations
      (created_at, id, workspace_id, key_hash, user_id, provider, interface, cancelled, cost_nanos, total_ms)`.execute(db)
    await sql`create index generations_ended on generations (ended_at, id)`.execute(db)
    await sql`create index generations_key on generations (key_hash, created_at, id)`.execute(db)
    await sql`create index generations_user on generations (user_id, created_at, id)`.execute(db)
    await sql`create index generations_model on generations (model, created_at, id)`.execute(db)
    await sql`create index generations_request on generations (request_id)`.execute(db)
    await sql`create index generations_preset on generations (preset_id, created_at, id) where preset_id is not null`.execute(db)
    await sql`create index generations_session on generations (session_id, created_at, id) where session_id is not null`.execute(db)
    await sql`create index generations_errors on generations (created_at, id, workspace_id) where error_type is not null`.execute(db)
    // The wider ones serve in their place, and each index is written with each request.
    await sql`drop index generations_created_at`.execute(db)
    await sql`drop index generations_key_hash_created_at`.execute(db)
  },
})

/** The records of before have these values in their JSON only. */
const fill = async (db: Kysely<unknown>, engine: Engine): Promise<void> => {
  const member = (name: string): RawBuilder<unknown> =>
    engine === 'postgres'
      ? // A text with U+0000 would end the migration.
        sql`case when record like '%\\u0000%' then null else record::json ->> ${sql.lit(name)} end`
      : sql`json_extract(record, ${sql.lit(`$.${name}`)})`
  const number = (name: string): RawBuilder<unknown> =>
    engine === 'postgres' ? sql`cast(cast(${member(name)} as numeric) as bigint)` : sql`cast(${member(name)} as integer)`
  await sql`update generations set
    user_id = (select creator_user_id from api_keys where hash = key_hash),
    error_type = ${member('error_type')}, session_id = ${member('session_id')}, request_id = ${member('request_id')},
    first_token_ms = ${number('latency')}, total_ms = ${number('generation_time')},
    tokens_cache_read = ${number('native_tokens_cached')}, tokens_reasoning = ${number('native_tokens_reasoning')}`.execute(db)
}
