/** Workspaces, users, keys, presets with their versions, generations and usage. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

/** Money and counters need 64 bits; SQLite's `integer` has them. */
const WORDS = {
  // STRICT: without it SQLite takes any text into an integer column.
  sqlite: { text: sql`text`, integer: sql`integer`, end: sql`strict` },
  // "C": text sorts and compares by bytes as on SQLite, and no upgrade of the system's locales can corrupt an index.
  postgres: { text: sql`text collate "C"`, integer: sql`bigint`, end: sql`` },
} as const

export const firstTables = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const { text, integer, end } = WORDS[engine]

    await sql`create table workspaces (
      id ${text} not null primary key,
      slug ${text} not null unique,
      name ${text} not null,
      description ${text},
      created_at ${text} not null,
      created_by ${text} not null,
      updated_at ${text} not null
    ) ${end}`.execute(db)

    await sql`create table users (
      id ${text} not null primary key,
      name ${text} not null,
      email ${text},
      created_at ${text} not null
    ) ${end}`.execute(db)

    await sql`create table api_keys (
      hash ${text} not null primary key check (length(hash) = 64),
      kind ${text} not null check (kind in ('management', 'inference')),
      name ${text} not null,
      label ${text} not null,
      workspace_id ${text} not null references workspaces (id),
      creator_user_id ${text} not null,
      disabled ${integer} not null check (disabled in (0, 1)),
      limit_nanos ${integer} check (limit_nanos >= 0),
      limit_reset ${text} check (limit_reset in ('daily', 'weekly', 'monthly')),
      include_byok_in_limit ${integer} not null check (include_byok_in_limit in (0, 1)),
      expires_at ${text},
      created_at ${text} not null,
      updated_at ${text},
      deleted_at ${text}
    ) ${end}`.execute(db)
    await sql`create index api_keys_listing on api_keys (workspace_id, created_at, hash)`.execute(db)

    await createPresets(db, engine)

    await sql`create table idempotency_keys (
      workspace_id ${text} not null,
      route ${text} not null,
      slug ${text} not null,
      key ${text} not null,
      body_sha256 ${text} not null,
      status ${integer} not null,
      body ${text} not null,
      created_at ${text} not null,
      primary key (workspace_id, route, slug, key)
    ) ${end}`.execute(db)
    await sql`create index idempotency_keys_created_at on idempotency_keys (created_at)`.execute(db)

    // No foreign keys here: usage is written in bulk, off the request's way, and must not fail for a row that is elsewhere.
    await sql`create table generations (
      id ${text} not null primary key,
      created_at ${text} not null,
      workspace_id ${text} not null,
      key_hash ${text} not null,
      preset_id ${text},
      preset_version ${integer},
      model ${text} not null,
      provider ${text},
      streamed ${integer} not null check (streamed in (0, 1)),
      cancelled ${integer} not null check (cancelled in (0, 1)),
      tokens_prompt ${integer} not null check (tokens_prompt >= 0),
      tokens_completion ${integer} not null check (tokens_completion >= 0),
      cost_nanos ${integer} not null check (cost_nanos >= 0),
      byok_cost_nanos ${integer} not null check (byok_cost_nanos >= 0),
      record ${text} not null
    ) ${end}`.execute(db)
    await sql`create index generations_created_at on generations (created_at)`.execute(db)
    await sql`create index generations_key_hash_created_at on generations (key_hash, created_at)`.execute(db)

    await sql`create table key_usage_days (
      key_hash ${text} not null,
      day ${text} not null check (length(day) = 10),
      cost_nanos ${integer} not null,
      byok_cost_nanos ${integer} not null,
      requests ${integer} not null,
      tokens ${integer} not null,
      primary key (key_hash, day)
    ) ${end}`.execute(db)

    await sql`create table change_counter (
      id ${integer} not null primary key check (id = 1),
      value ${integer} not null
    ) ${end}`.execute(db)
    await sql`insert into change_counter (id, value) values (1, 0)`.execute(db)
  },
})

const createPresets = async (db: Kysely<unknown>, engine: Engine): Promise<void> => {
  const { text, integer, end } = WORDS[engine]
  // The constraints are named, because postgres.ts tells races from bugs by these names.
  await sql`create table presets (
    id ${text} not null primary key,
    workspace_id ${text} not null references workspaces (id),
    slug ${text} not null,
    name ${text} not null,
    description ${text},
    status ${text} not null check (status in ('active', 'disabled', 'archived')),
    status_updated_at ${text},
    creator_user_id ${text} not null,
    last_version ${integer} not null check (last_version >= 1),
    designated_version_id ${text} not null,
    labels ${text} not null,
    created_at ${text} not null,
    updated_at ${text} not null,
    constraint presets_workspace_id_slug_unique unique (workspace_id, slug)
  ) ${end}`.execute(db)
  await sql`create index presets_listing on presets (workspace_id, updated_at, id)`.execute(db)

  await sql`create table preset_versions (
    id ${text} not null primary key,
    preset_id ${text} not null references presets (id),
    version ${integer} not null check (version >= 1),
    shape ${text} not null check (shape in ('chat', 'responses', 'messages')),
    config ${text} not null,
    system_prompt ${text},
    creator_id ${text} not null,
    created_at ${text} not null,
    updated_at ${text} not null,
    constraint preset_versions_preset_id_version_unique unique (preset_id, version)
  ) ${end}`.execute(db)

  await forbidVersionChanges(db, engine)
}

/** Versions are immutable for ever (docs/contract/presets.md#versions): the database itself refuses, whatever a program or a person tries. */
const forbidVersionChanges = async (db: Kysely<unknown>, engine: Engine): Promise<void> => {
  if (engine === 'sqlite') {
    for (const change of ['update', 'delete'] as const) {
      await sql`create trigger ${sql.ref(`preset_versions_no_${change}`)} before ${sql.raw(change)} on preset_versions
        begin select raise(abort, 'preset versions are immutable'); end`.execute(db)
    }
    return
  }
  await sql`create function refuse_preset_version_change() returns trigger language plpgsql as $$
    begin raise exception 'preset versions are immutable' using errcode = 'integrity_constraint_violation'; end $$`.execute(db)
  await sql`create trigger preset_versions_no_change before update or delete on preset_versions
    for each row execute function refuse_preset_version_change()`.execute(db)
  await sql`create trigger preset_versions_no_truncate before truncate on preset_versions
    for each statement execute function refuse_preset_version_change()`.execute(db)
}
