/** Keys whose requests refuse what cannot be honoured. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

export const strictKeys: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table api_keys add column strict integer not null default 0 check (strict in (0, 1))`.execute(db)
  },
}
