/**
 * Many rows that the database generates itself: the connection that is allowed the time for it, and values that are the same on both
 * engines.
 */
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'

import type { Database } from '../../src/storage/database.ts'
import type { Engine } from '../../src/storage/engine.ts'
import type { Schema } from '../../src/storage/tables/schema.ts'

/**
 * The service's connections limit the time of a statement, but filling a table and creating its indexes takes longer. `databaseUrl` is null
 * if there are so few rows that the limit does not matter.
 */
export const fillPatiently = async (
  database: Database,
  databaseUrl: string | null,
  fill: (engine: Engine, kysely: Kysely<Schema>) => Promise<void>,
): Promise<void> => {
  if (databaseUrl === null) return fill(database.engine, database.kysely)
  const patient = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: new Pool({ connectionString: databaseUrl, max: 1 }) }) })
  try {
    await fill(database.engine, patient)
  } finally {
    await patient.destroy()
  }
}

/** The time of row `i`, in the format in which timestamps are stored. */
export const timeOfRow = (engine: Engine, fromMs: number, stepMs: number) =>
  engine === 'sqlite'
    ? sql`strftime('%Y-%m-%dT%H:%M:%fZ', (${sql.lit(fromMs)} + i * ${sql.lit(stepMs)}) / 1000.0, 'unixepoch')`
    : sql`to_char(to_timestamp((${sql.lit(fromMs)} + i * ${sql.lit(stepMs)}) / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The rows `i` from first to last. */
export const rowsBetween = (first: number, last: number) =>
  sql`with recursive n(i) as (select cast(${sql.lit(first)} as bigint) union all select i + 1 from n where i < ${sql.lit(last)})`

/** A number below `of`, in an order that no index has. */
export const spread = (of: number, salt = 0) => sql`((i * 2654435761 + ${sql.lit(salt)}) % ${sql.lit(of)})`
