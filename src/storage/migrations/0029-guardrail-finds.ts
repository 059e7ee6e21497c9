/** The index of the requests in which a guardrail found something: the others are not in it, and pay nothing for it. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

export const guardrailFinds: Migration = {
  async up(db: Kysely<unknown>) {
    // With the workspace and the person, so that no record of others is looked at.
    await sql`create index generations_finds on generations (created_at, id, workspace_id, user_id) where guardrail_hits > 0`.execute(db)
  },
}
