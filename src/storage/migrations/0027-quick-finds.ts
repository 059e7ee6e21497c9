/** When each key was used last, beside the key, where it has an index; and the indexes by which things are found by a piece of their name. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const quickFinds = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    // Empty: never.
    await sql`alter table api_keys add column last_used_at ${text} not null default ''`.execute(db)
    await sql`update api_keys set last_used_at = key_uses.last_used_at from key_uses where key_uses.key_hash = api_keys.hash`.execute(db)
    if (engine === 'postgres') await heedOlderProcesses(db)

    const live = sql`where deleted_at is null`
    await sql`create index api_keys_used on api_keys (last_used_at, hash) ${live}`.execute(db)
    await sql`create index api_keys_used_of_workspace on api_keys (workspace_id, last_used_at, hash) ${live}`.execute(db)
    const lastFour = engine === 'postgres' ? sql`right(label, 4)` : sql`substr(label, -4)`
    await sql`create index api_keys_last_four on api_keys (${lastFour}, hash) ${live}`.execute(db)

    await sql`create index presets_changed on presets (updated_at, id)`.execute(db)
    for (const column of ['slug', 'name']) {
      const by = sql`lower(${sql.ref(column)}), id`
      await sql`create index ${sql.ref(`presets_by_${column}`)} on presets (${by})`.execute(db)
      await sql`create index ${sql.ref(`presets_by_${column}_of_workspace`)} on presets (workspace_id, ${by})`.execute(db)
    }

    await sql`create index workspace_members_people on workspace_members (lower(user_id), id)`.execute(db)
    await sql`create index workspace_members_of_workspace on workspace_members (workspace_id, lower(user_id), id)`.execute(db)
  },
})

/** Until all of them are replaced, processes of the version before write uses where they know of. SQLite has one process, which was replaced. */
const heedOlderProcesses = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create function patchbay_key_used() returns trigger language plpgsql as $$
    begin
      update api_keys set last_used_at = used.last_used_at from used
        where api_keys.hash = used.key_hash and api_keys.last_used_at < used.last_used_at;
      return null;
    end $$`.execute(db)
  for (const change of ['insert', 'update'])
    await sql`create trigger ${sql.ref(`key_uses_${change}`)} after ${sql.raw(change)} on key_uses
      referencing new table as used for each statement execute function patchbay_key_used()`.execute(db)
}
