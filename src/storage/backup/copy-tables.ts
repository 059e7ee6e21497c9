/** Copies the rows from one database to another of the same schema. Columns are text, whole numbers or bytes on either engine. */
import {
  CompiledQuery,
  DEFAULT_MIGRATION_LOCK_TABLE,
  DEFAULT_MIGRATION_TABLE,
  type Kysely,
  PostgresAdapter,
  type RawBuilder,
  sql,
  type Transaction,
} from 'kysely'

import type { Schema } from '../tables/schema.ts'
import { ADDS_SPEND } from '../usage/workspace-spend.ts'

type Row = Readonly<Record<string, unknown>>

const PORTION_ROWS = 1000
/** Below the number of parameters that SQLite allows in a statement. */
const PARAMETERS_MAX = 30_000

/**
 * Copies all rows or none, from a snapshot of `from`. The tables and their order are taken from `sqlite`, which is one of the two.
 * Rows that the migrations put into tables of `to` are replaced.
 */
export const copyTables = async (from: Kysely<Schema>, to: Kysely<Schema>, sqlite: Kysely<Schema>): Promise<void> => {
  const tables = await tablesInOrder(sqlite)
  const isPostgres = from !== sqlite
  const reading = isPostgres ? from.transaction().setIsolationLevel('repeatable read').setAccessMode('read only') : from.transaction()
  await reading.execute(async (source) => {
    await to.transaction().execute(async (target) => {
      if (to !== sqlite) await sql`select ${ADDS_SPEND}`.execute(target)
      for (const table of tables.toReversed()) await empty(target, table)
      for (const table of tables) {
        for await (const rows of isPostgres ? cursorOf(source, table) : pagesOf(source, table)) {
          if (!isWithoutRun(table, rows)) await insert(target, table, rows)
        }
      }
    })
  })
}

/** Triggers in either database count rows as they come and go, so copied rows are counted too. */
const COUNTED_BY_ITSELF: keyof Schema = 'workspace_counts'

/** An earlier form of 0032 made the table without `run`, which `to` requires. Without their rows the days are summed anew. */
const isWithoutRun = (table: string, [row = {}]: readonly Row[]): boolean =>
  table === ('usage_summed_days' satisfies keyof Schema) && !('run' in row)

/** Without the tables of the migrations, which keep their contents; tables that others refer to come first. */
const tablesInOrder = async (sqlite: Kysely<Schema>): Promise<readonly string[]> => {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'
    and name not in (${DEFAULT_MIGRATION_TABLE}, ${DEFAULT_MIGRATION_LOCK_TABLE}) and name not like 'sqlite^_%' escape '^' order by name`.execute(
    sqlite,
  )
  const ordered = new Set<string>()
  const add = async (table: string): Promise<void> => {
    if (ordered.has(table)) return
    const { rows: references } = await sql<{ table: string }>`select "table" from pragma_foreign_key_list(${table})`.execute(sqlite)
    for (const { table: other } of references) if (other !== table) await add(other)
    ordered.add(table)
  }
  for (const { name } of rows) if (name !== COUNTED_BY_ITSELF) await add(name)
  return [...ordered]
}

/** Only if the table has rows: versions of presets refuse to be deleted. */
const empty = async (target: Transaction<Schema>, table: string): Promise<void> => {
  const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(target)
  if (rows.length > 0) await sql`delete from ${sql.table(table)}`.execute(target)
}

const CURSOR = sql.ref('patchbay_backup')

async function* cursorOf(source: Transaction<Schema>, table: string): AsyncGenerator<readonly Row[]> {
  await sql`declare ${CURSOR} no scroll cursor for select * from ${sql.table(table)}`.execute(source)
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(PORTION_ROWS)} from ${CURSOR}`.execute(source)
    if (rows.length === 0) break
    yield rows
  }
  await sql`close ${CURSOR}`.execute(source)
}

/** Paged by primary key, since a table may have no row ids. */
async function* pagesOf(source: Transaction<Schema>, table: string): AsyncGenerator<readonly Row[]> {
  const { rows: columns } = await sql<{ name: string }>`select name from pragma_table_info(${table}) where pk > 0 order by pk`.execute(
    source,
  )
  const key = sql.join(columns.map(({ name }) => sql.ref(name)))
  let last: Row | null = null
  for (;;) {
    const after: Row | null = last
    const behind: RawBuilder<unknown> = after === null ? sql`` : sql`where (${key}) > (${sql.join(columns.map(({ name }) => after[name]))})`
    const { rows }: { rows: Row[] } =
      await sql<Row>`select * from ${sql.table(table)} ${behind} order by ${key} limit ${sql.lit(PORTION_ROWS)}`.execute(source)
    if (rows.length === 0) return
    yield rows
    last = rows.at(-1) ?? null
  }
}

/** Built as text: the syntax tree of a statement costs more than its rows. */
const insert = async (target: Transaction<Schema>, table: string, rows: readonly Row[]): Promise<void> => {
  const columns = Object.keys(rows[0] ?? {})
  const size = Math.floor(PARAMETERS_MAX / columns.length)
  const head = sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))}) values `.compile(target)
  const isNumbered = target.getExecutor().adapter instanceof PostgresAdapter
  for (let start = 0; start < rows.length; start += size) {
    const slice = rows.slice(start, start + size)
    const parameters = slice.flatMap((row) => columns.map((column) => row[column]))
    let number = 0
    const marks = slice.map(() => `(${columns.map(() => (isNumbered ? `$${++number}` : '?')).join(', ')})`)
    await target.executeQuery(CompiledQuery.raw(head.sql + marks.join(', '), parameters))
  }
}
