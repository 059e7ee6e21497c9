/**
 * What runs in the thread of a SQLite database: a connection of its own that settles finished requests. bun:sqlite is
 * synchronous, a batch takes long, and its commit may wait for the disk to empty the log: here no request stands still for
 * that. settle-in-thread.ts asks it.
 */
import { sql } from 'kysely'

import type { Database } from './database.ts'
import { createLedgerStore } from './ledger-store.ts'
import { openDatabase } from './open-database.ts'
import type { Settlement } from './settle-requests.ts'
import type { Answer, Request } from './settle-in-thread.ts'
import { encodeFailure } from './thread-failures.ts'

/** The types of the main thread say nothing of a thread's own scope. */
declare const self: Worker & { close(): void }

const NOTHING_TRANSFERRED: Bun.Transferable[] = []

let opened: Database | null = null
let last: Promise<void> = Promise.resolve()

self.addEventListener('message', ({ data }: MessageEvent<Request>) => {
  last = last.then(() => answer(data))
})

const answer = async (request: Request): Promise<void> => {
  let failure: Answer = null
  try {
    await handle(request)
  } catch (thrown) {
    failure = encodeFailure(thrown)
  }
  self.postMessage(failure, NOTHING_TRANSFERRED)
  if (request.kind === 'close') self.close()
}

const handle = async (request: Request): Promise<void> => {
  if (request.kind === 'open') {
    opened = await openDatabase({ databaseUrl: null, dataDir: request.dataDir, exclusive: false, onError: () => {} })
    await sql`pragma wal_autocheckpoint = 0`.execute(opened.kysely)
    return
  }
  if (opened === null) throw new Error('The database is not open.')
  if (request.kind === 'settle') return createLedgerStore(opened).settle(JSON.parse(`[${request.lines}]`) as Settlement[])
  return request.kind === 'checkpoint' ? opened.checkpoint() : opened.close()
}
