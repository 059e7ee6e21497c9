/** Indexes by which the lists of keys, presets and the audit log are read, however many there are. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

export const quickLists: Migration = {
  async up(db: Kysely<unknown>) {
    const live = sql`where deleted_at is null`
    await sql`create index api_keys_newest on api_keys (created_at, hash) ${live}`.execute(db)
    await sql`create index api_keys_of_workspace on api_keys (workspace_id, created_at, hash) ${live}`.execute(db)
    await sql`create index api_keys_of_person on api_keys (creator_user_id, created_at, hash) ${live}`.execute(db)
    await sql`create index api_keys_named on api_keys (lower(name), hash) ${live}`.execute(db)
    await sql`create index api_keys_named_of_workspace on api_keys (workspace_id, lower(name), hash) ${live}`.execute(db)
    await sql`create index presets_of_status on presets (workspace_id, status, updated_at, id)`.execute(db)
    await sql`create index audit_log_object on audit_log (object_type, object_id, created_at, id)`.execute(db)
  },
}
