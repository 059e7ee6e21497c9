import { sql } from 'kysely'

import type { Engine } from '../engine.ts'
import type { Schema } from '../tables/schema.ts'

/**
 * A table that SQLite must read through this index: it keeps no row counts, and estimates badly.
 * PostgreSQL has statistics and chooses by itself.
 */
export const tableBy = <Table extends keyof Schema>(engine: Engine, table: Table, index: string) =>
  sql<Schema[Table]>`${sql.ref(table)}`.as<Table>(
    engine === 'postgres' ? sql`${sql.ref(table)}` : sql`${sql.ref(table)} indexed by ${sql.ref(index)}`,
  )

/** How many rows are looked through for one page if no index covers the filter: far less than 200 ms, whatever the filter. */
export const SCANNED_MAX = 20_000

/** How many rows are counted, or skipped by `offset`, if each has to be looked at. */
export const NUMBERED_MAX = 50_000
