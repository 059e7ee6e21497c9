/** Workspaces with settings and members, own provider keys, rate limits, rotation of secrets, audit log, activity. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const management = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text, 64 bits and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict`

    await sql`alter table workspaces add column settings ${text} not null default '{}'`.execute(db)
    await sql`alter table workspaces add column deleted_at ${text}`.execute(db)

    await sql`alter table api_keys add column rpm_limit ${integer} check (rpm_limit >= 1)`.execute(db)
    await sql`alter table api_keys add column tpm_limit ${integer} check (tpm_limit >= 1)`.execute(db)
    // The hash stays the id of a key for ever; by the digest it is found, and that one follows the root secret.
    await sql`alter table api_keys add column digest ${text} not null default ''`.execute(db)
    await sql`alter table api_keys add column pepper_id ${text} not null default ''`.execute(db)
    await sql`update api_keys set digest = hash`.execute(db)
    await sql`create unique index api_keys_digest on api_keys (digest)`.execute(db)

    await sql`create table workspace_members (
      id ${text} not null primary key,
      workspace_id ${text} not null references workspaces (id),
      user_id ${text} not null,
      role ${text} not null check (role in ('admin', 'member')),
      created_at ${text} not null,
      constraint workspace_members_workspace_id_user_id_unique unique (workspace_id, user_id)
    ) ${end}`.execute(db)

    await sql`create table byok_keys (
      id ${text} not null primary key,
      workspace_id ${text} references workspaces (id),
      provider ${text} not null,
      name ${text},
      label ${text} not null,
      disabled ${integer} not null check (disabled in (0, 1)),
      is_fallback ${integer} not null check (is_fallback in (0, 1)),
      is_required ${integer} not null check (is_required in (0, 1)),
      is_byok_only ${integer} not null check (is_byok_only in (0, 1)),
      declared_zdr ${integer} check (declared_zdr in (0, 1)),
      sort_order ${integer} not null,
      allowed_models ${text},
      allowed_user_ids ${text},
      allowed_api_key_hashes ${text},
      version ${integer} not null check (version >= 1),
      sealed_secret ${text} not null,
      wrapped_data_key ${text} not null,
      kek_id ${text} not null,
      created_at ${text} not null,
      updated_at ${text} not null
    ) ${end}`.execute(db)
    await sql`create index byok_keys_workspace_id on byok_keys (workspace_id, provider, sort_order)`.execute(db)

    // No foreign keys: an entry outlives what it tells of.
    await sql`create table audit_log (
      id ${text} not null primary key,
      created_at ${text} not null,
      workspace_id ${text} not null,
      user_id ${text},
      key_hash ${text},
      action ${text} not null,
      object_type ${text} not null,
      object_id ${text} not null,
      before ${text},
      after ${text}
    ) ${end}`.execute(db)
    await sql`create index audit_log_created_at on audit_log (created_at, id)`.execute(db)
    await sql`create index audit_log_workspace_id on audit_log (workspace_id, created_at, id)`.execute(db)

    await sql`create table activity_days (
      day ${text} not null check (length(day) = 10),
      workspace_id ${text} not null,
      key_hash ${text} not null,
      model ${text} not null,
      provider ${text} not null,
      requests ${integer} not null,
      tokens_prompt ${integer} not null,
      tokens_completion ${integer} not null,
      tokens_reasoning ${integer} not null,
      cost_nanos ${integer} not null,
      byok_cost_nanos ${integer} not null,
      primary key (day, workspace_id, key_hash, model, provider)
    ) ${end}`.execute(db)
  },
})
