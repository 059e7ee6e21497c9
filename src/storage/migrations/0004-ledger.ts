/** Money: what windows have spent and hold, the holds of running requests, the ledger, budgets and credits. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const ledger = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text, 64 bits and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict`
    // Rows in their key's own tree: a commit of these is part of every request, and half the pages are half its cost.
    const keyed = engine === 'postgres' ? sql`` : sql`strict, without rowid`
    const interval = sql`${text} not null check (span in ('daily', 'weekly', 'monthly', 'lifetime'))`

    await sql`create table scope_window (
      subject ${text} not null,
      span ${interval},
      window_start ${text} not null,
      window_end ${text},
      committed_n ${integer} not null check (committed_n >= 0),
      byok_n ${integer} not null check (byok_n >= 0),
      held_n ${integer} not null check (held_n >= 0),
      primary key (subject, span, window_start)
    ) ${keyed}`.execute(db)

    // Only what runs now is in these two, so they have no other index.
    await sql`create table hold (
      request_id ${text} not null primary key,
      key_hash ${text} not null,
      workspace_id ${text} not null,
      user_id ${text} not null,
      node_id ${text} not null,
      node_epoch ${integer} not null,
      provider ${text},
      amount_n ${integer} not null check (amount_n >= 0),
      charge_n ${integer} not null check (charge_n >= 0),
      state ${text} not null check (state in ('held', 'reaped')),
      created_at ${text} not null,
      ends_at ${text} not null,
      lease_until ${text} not null
    ) ${keyed}`.execute(db)

    await sql`create table hold_scope (
      request_id ${text} not null,
      subject ${text} not null,
      span ${interval},
      window_start ${text} not null,
      amount_n ${integer} not null check (amount_n >= 0),
      primary key (request_id, subject, span)
    ) ${keyed}`.execute(db)

    // An adjustment may be negative: it corrects what the reaper charged for a request that then came back.
    await sql`create table ledger (
      request_id ${text} not null,
      attempt_no ${integer} not null,
      kind ${text} not null check (kind in ('final', 'attempt', 'reaped', 'adjust')),
      key_hash ${text} not null,
      workspace_id ${text} not null,
      provider ${text},
      amount_n ${integer} not null check (amount_n >= 0 or kind = 'adjust'),
      byok_n ${integer} not null check (byok_n >= 0 or kind = 'adjust'),
      upstream_n ${integer},
      estimated ${integer} not null check (estimated in (0, 1)),
      usage_json ${text} not null,
      day ${text} not null check (length(day) = 10),
      created_at ${text} not null,
      primary key (request_id, attempt_no, kind)
    ) ${keyed}`.execute(db)
    await sql`create index ledger_day on ledger (day)`.execute(db)
    // Use from before is in no ledger: the audit begins after it.
    await sql`insert into service_facts (name, value) select 'ledger-after', coalesce(max(day), '') from key_usage_days`.execute(db)

    await sql`create table workspace_budgets (
      id ${text} not null unique,
      workspace_id ${text} not null references workspaces (id),
      span ${interval},
      limit_nanos ${integer} not null check (limit_nanos > 0),
      include_byok ${integer} not null check (include_byok in (0, 1)),
      allow_last_request ${integer} not null check (allow_last_request in (0, 1)),
      created_at ${text} not null,
      updated_at ${text} not null,
      primary key (workspace_id, span)
    ) ${end}`.execute(db)

    await sql`create table credit_entries (
      id ${text} not null primary key,
      workspace_id ${text} not null references workspaces (id),
      amount_nanos ${integer} not null,
      note ${text} not null,
      created_at ${text} not null
    ) ${end}`.execute(db)
    await sql`create index credit_entries_workspace on credit_entries (workspace_id)`.execute(db)
  },
})
