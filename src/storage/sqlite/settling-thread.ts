/**
 * The code of a SQLite database's settling thread: it has a connection of its own that settles finished requests.
 * bun:sqlite is synchronous, a batch takes long, and its commit may wait for the disk to empty the log: in this thread
 * that delays no request. settle-in-thread.ts sends the work.
 */
import { sql } from 'kysely'

import type { Database } from '../database.ts'
import { insertContents } from '../generations/content-store.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { openDatabase } from '../open-database.ts'
import type { Settlement } from '../ledger/settle-requests.ts'
import type { Request } from './settle-in-thread.ts'
import { answerRequests } from './sqlite-thread-side.ts'
import { writeTraces } from '../broadcast/waiting-trace-store.ts'

let opened: Database | null = null

answerRequests<Request>(
  async (request) => {
    if (request.kind === 'open') {
      opened = await openDatabase({ databaseUrl: null, dataDir: request.dataDir, exclusive: false, onError: () => {} })
      await sql`pragma wal_autocheckpoint = 0`.execute(opened.kysely)
      // A batch changes some seventy pages, whose former content would go to a file in case a statement fails.
      await sql`pragma temp_store = memory`.execute(opened.kysely)
      return null
    }
    if (opened === null) throw new Error('The database is not open.')
    if (request.kind === 'settle') await createLedgerStore(opened).settle(JSON.parse(`[${request.lines}]`) as Settlement[])
    else if (request.kind === 'contents') await insertContents(opened, request.rows)
    else if (request.kind === 'traces') await writeTraces(opened, request.change)
    else await (request.kind === 'checkpoint' ? opened.checkpoint() : opened.close())
    return null
  },
  (request) => request.kind === 'close',
)
