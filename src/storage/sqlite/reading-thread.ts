/**
 * The code of a SQLite database's reading thread: it has a connection of its own for queries by people. Such a query may look at a
 * million records, and bun:sqlite is synchronous: in this thread it delays no request. read-in-thread.ts sends the queries.
 */
import { CompiledQuery, sql } from 'kysely'

import type { Database } from '../database.ts'
import { openDatabase } from '../open-database.ts'
import type { ReadRequest, Rows } from './read-in-thread.ts'
import { answerRequests } from './sqlite-thread-side.ts'

const NO_ROWS: Rows = []

let opened: Database | null = null

answerRequests<ReadRequest>(
  async (request) => {
    if (request.kind === 'open') {
      opened = await openDatabase({ databaseUrl: null, dataDir: request.dataDir, exclusive: false, onError: () => {} })
      await sql`pragma query_only = 1`.execute(opened.kysely)
      return NO_ROWS
    }
    if (opened === null) throw new Error('The database is not open.')
    if (request.kind === 'read') {
      const { rows } = await opened.kysely.executeQuery<Rows[number]>(CompiledQuery.raw(request.sql, [...request.parameters]))
      return rows
    }
    await opened.close()
    return NO_ROWS
  },
  (request) => request.kind === 'close',
)
