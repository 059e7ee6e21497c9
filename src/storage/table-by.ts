import { sql } from 'kysely'

import type { Engine } from './engine.ts'
import type { Schema } from './schema.ts'

/** A table that SQLite reads by this index: it does not count the rows of a table, and guesses badly. PostgreSQL counts, and chooses by itself. */
export const tableBy = <Table extends keyof Schema>(engine: Engine, table: Table, index: string) =>
  sql<Schema[Table]>`${sql.ref(table)}`.as<Table>(
    engine === 'postgres' ? sql`${sql.ref(table)}` : sql`${sql.ref(table)} indexed by ${sql.ref(index)}`,
  )

/** So many rows are looked through for one page, for what no index answers: in far less than 200 ms, whatever they are looked through for. */
export const SCANNED_MAX = 20_000

/** So many rows are counted, or passed over by their number, where each has to be looked at. */
export const NUMBERED_MAX = 50_000
