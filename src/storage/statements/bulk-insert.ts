/**
 * Writes many rows with few statements. Rows are written for each inference request, and building a statement's syntax tree costs more
 * than all else that storage does for them; so the SQL text is built once for each size, and only the values change.
 */
import { CompiledQuery, type QueryResult, type Transaction } from 'kysely'

import type { Engine } from '../engine.ts'
import type { Schema } from '../tables/schema.ts'

/**
 * Rows per statement: one statement writes what usually comes at once. None of these tables has 80 columns, so this stays well below the 32,766
 * parameters of SQLite and the 65,535 of PostgreSQL.
 */
const STATEMENT_ROWS = [64, 16, 8, 7, 6, 5, 4, 3, 2, 1] as const

/** Resolves to the rows that the statements returned. Every row must have the same members. */
export type BulkInsert<Row, Returned> = (
  transaction: Transaction<Schema>,
  engine: Engine,
  rows: readonly Row[],
) => Promise<readonly Returned[]>

interface Compiled<Row> {
  readonly query: CompiledQuery
  readonly columns: readonly (keyof Row)[]
}

/** Call it once for each statement, when the module loads. */
export const bulkInsert = <Row extends object, Returned = never>(
  compile: (transaction: Transaction<Schema>, rows: Row[]) => { readonly sql: string },
): BulkInsert<Row, Returned> => {
  const statements: Record<Engine, Map<number, Compiled<Row>>> = { sqlite: new Map(), postgres: new Map() }
  return async (transaction, engine, rows) => {
    const answers: Promise<QueryResult<Returned>>[] = []
    let start = 0
    for (const size of STATEMENT_ROWS) {
      for (; rows.length - start >= size; start += size) {
        const slice = rows.slice(start, start + size)
        let statement = statements[engine].get(size)
        if (statement === undefined) {
          // Rows of another module may have their members in another order.
          statement = { query: CompiledQuery.raw(compile(transaction, slice).sql), columns: Object.keys(slice[0] ?? {}) as (keyof Row)[] }
          statements[engine].set(size, statement)
        }
        const { query, columns } = statement
        const parameters: unknown[] = []
        for (const row of slice) for (const column of columns) parameters.push(row[column])
        // A new CompiledQuery would freeze its thousand values one by one.
        answers.push(transaction.executeQuery<Returned>({ ...query, parameters }))
      }
    }
    return (await Promise.all(answers)).flatMap(({ rows: returned }) => returned)
  }
}
