/** Reads a SQLite database in a thread of its own (reading-thread.ts). */
import {
  type CompiledQuery,
  type DatabaseConnection,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'

import type { Database } from '../database.ts'
import { refuseStreams } from '../connections/refuse-streams.ts'
import type { Schema } from '../tables/schema.ts'
import { createThread } from './sqlite-thread.ts'

export type ReadRequest =
  | { readonly kind: 'open'; readonly dataDir: string }
  | { readonly kind: 'read'; readonly sql: string; readonly parameters: readonly unknown[] }
  | { readonly kind: 'close' }

export type Rows = readonly Readonly<Record<string, unknown>>[]

/** The same database, except that its `reports` run in the thread. */
export const readInThread = (database: Database, { dataDir }: { readonly dataDir: string }): Database => {
  const thread = createThread<ReadRequest, Rows>('storage/sqlite/reading-thread.ts', { kind: 'open', dataDir })
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      return { rows: (await thread.ask({ kind: 'read', sql, parameters })) as readonly unknown[] as Row[] }
    },
    streamQuery: refuseStreams,
  }
  const refuseWrites = async (): Promise<void> => {
    throw new Error('Reports are read, and nothing is written by them.')
  }
  const reports = new Kysely<Schema>({
    dialect: {
      createDriver: () => ({
        init: async () => {},
        acquireConnection: async () => connection,
        releaseConnection: async () => {},
        beginTransaction: refuseWrites,
        commitTransaction: refuseWrites,
        rollbackTransaction: refuseWrites,
        destroy: async () => {},
      }),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
  })
  return {
    ...database,
    reports,
    async close() {
      await reports.destroy()
      if (thread.runs()) await thread.ask({ kind: 'close' })
      await database.close()
    },
  }
}
