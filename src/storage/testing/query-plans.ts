/** The plans with which an engine runs the queries that a store makes on `reports`. */
import { CompiledQuery, type KyselyPlugin, sql } from 'kysely'

import type { Database } from '../database.ts'

/**
 * One plan for each statement, as the engine explains it. PostgreSQL considers the size of its tables, and would read a few rows as a
 * whole and sort them: so it is made to use an index wherever one has the rows in the requested order.
 */
export const plansOf = async (
  database: Database,
  read: (watched: Database) => Promise<unknown>,
  closedWays: readonly string[] = OTHER_WAYS,
): Promise<readonly string[]> => {
  const { engine, reports } = database
  const asked: CompiledQuery[] = []
  const watch: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      asked.push(reports.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  }
  await read({ ...database, reports: reports.withPlugin(watch) })
  return reports.transaction().execute(async (transaction) => {
    if (engine === 'postgres') for (const way of closedWays) await sql`set local ${sql.raw(way)} = off`.execute(transaction)
    const plans: string[] = []
    for (const { sql: text, parameters } of asked) {
      const explained = CompiledQuery.raw(`explain ${engine === 'sqlite' ? 'query plan ' : ''}${text}`, [...parameters])
      const { rows } = await transaction.executeQuery<{ detail?: string; 'QUERY PLAN'?: string }>(explained)
      plans.push(rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n'))
    }
    return plans
  })
}

const OTHER_WAYS = ['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'enable_incremental_sort'] as const
