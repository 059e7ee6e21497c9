/** The columns that people need of keys and members: names, a key for the playground, rotation, the models of a key, when it was used last, codes for applications. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const people = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const end = engine === 'postgres' ? sql`` : sql`strict`

    await sql`alter table workspace_members add column name ${text}`.execute(db)
    await sql`alter table workspace_members add column email ${text}`.execute(db)

    // Who made the default workspace had no row.
    await sql`insert into workspace_members (id, workspace_id, user_id, role, created_at, name)
      select 'founder-' || id, id, created_by, 'admin', created_at, 'Owner' from workspaces where slug = 'default'
      on conflict do nothing`.execute(db)

    await sql`alter table api_keys add column purpose ${text} check (purpose in ('playground', 'application'))`.execute(db)
    await sql`alter table api_keys add column allowed_models ${text}`.execute(db)
    // The secret before a rotation, which is a key for a while yet.
    await sql`alter table api_keys add column retired_digest ${text}`.execute(db)
    await sql`alter table api_keys add column retired_until ${text}`.execute(db)
    await sql`create unique index api_keys_playground on api_keys (workspace_id, creator_user_id)
      where purpose = 'playground' and deleted_at is null`.execute(db)
    await sql`create index api_keys_retired_digest on api_keys (retired_digest) where retired_digest is not null`.execute(db)

    await sql`create table key_uses (
      key_hash ${text} not null primary key,
      last_used_at ${text} not null
    ) ${end}`.execute(db)

    await sql`create table oauth_codes (
      id ${text} not null primary key,
      digest ${text} not null unique,
      workspace_id ${text} not null,
      user_id ${text} not null,
      callback_url ${text},
      code_challenge ${text},
      code_challenge_method ${text} check (code_challenge_method in ('S256', 'plain')),
      key_settings ${text} not null,
      created_at ${text} not null,
      expires_at ${text} not null,
      used_at ${text},
      key_hash ${text}
    ) ${end}`.execute(db)
    await sql`create index oauth_codes_expires_at on oauth_codes (expires_at)`.execute(db)

    await sql`create index audit_log_user_id on audit_log (user_id, created_at, id)`.execute(db)
  },
})
