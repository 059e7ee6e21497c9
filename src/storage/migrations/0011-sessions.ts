/** People who sign in: their sessions, the links that open them, and the session in an entry of the audit log. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const sessions = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const end = engine === 'postgres' ? sql`` : sql`strict`

    // No foreign keys: whether a session still counts is read with its key, member and workspace, each time.
    await sql`create table sessions (
      id ${text} not null primary key,
      digest ${text} not null unique,
      csrf_digest ${text} not null,
      workspace_id ${text} not null,
      user_id ${text} not null,
      role ${text} not null check (role in ('admin', 'member')),
      key_hash ${text},
      user_agent ${text},
      created_at ${text} not null,
      last_used_at ${text} not null,
      expires_at ${text} not null,
      ends_at ${text} not null
    ) ${end}`.execute(db)
    await sql`create index sessions_workspace_id on sessions (workspace_id, user_id)`.execute(db)
    await sql`create index sessions_expires_at on sessions (expires_at)`.execute(db)

    await sql`create table login_links (
      id ${text} not null primary key,
      digest ${text} not null unique,
      workspace_id ${text} not null,
      user_id ${text} not null,
      role ${text} not null check (role in ('admin', 'member')),
      created_at ${text} not null,
      expires_at ${text} not null
    ) ${end}`.execute(db)
    await sql`create index login_links_expires_at on login_links (expires_at)`.execute(db)

    await sql`alter table audit_log add column session_id ${text}`.execute(db)
  },
})
