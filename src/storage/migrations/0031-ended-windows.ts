/** The index by which windows that are over are found. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

export const endedWindows: Migration = {
  async up(db: Kysely<unknown>) {
    // The end of a window never changes, so PostgreSQL updates its figures without touching the index.
    await sql`create index scope_window_end on scope_window (window_end) where window_end is not null`.execute(db)
  },
}
