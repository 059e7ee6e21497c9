/** Settles the finished requests of a service on SQLite in a thread of their own (settling-thread.ts). */
import { statSync } from 'node:fs'
import { join } from 'node:path'

import { sql } from 'kysely'

import type { Database, TraceChange } from './database.ts'
import type { GenerationContentsTable } from './generation-tables.ts'
import { createThread } from './sqlite-thread.ts'

export type Request =
  | { readonly kind: 'open'; readonly dataDir: string }
  /** `lines`: JSON of a settlement each, with commas between them. */
  | { readonly kind: 'settle'; readonly lines: string }
  | { readonly kind: 'contents'; readonly rows: readonly GenerationContentsTable[] }
  | { readonly kind: 'traces'; readonly change: TraceChange }
  | { readonly kind: 'checkpoint' | 'close' }

/** Settlements of one transaction: some milliseconds, after which an admission that waits has its turn. Smaller ones cost more each. */
const SLICE = 128

/** Settlements that come to a log of usual length, some megabytes. Admissions go on while it is put into the database. */
const CHECKPOINT_LINES = 1000
const LOG_FILE = 'patchbay.db-wal'
const LOG_BYTES_MAX = 64 * 1024 * 1024

/**
 * The same database, whose settlements and checkpoints run in the thread. Its other statements stay here: an admission is
 * many short ones that depend on each other, and each way to a thread and back costs more than they do.
 */
export const settleInThread = async (
  database: Database,
  { dataDir, onError }: { readonly dataDir: string; readonly onError: (error: Error) => void },
): Promise<Database> => {
  const thread = createThread<Request, null>('storage/settling-thread.ts', { kind: 'open', dataDir })
  const checkpoint = async (): Promise<void> => void (await thread.ask({ kind: 'checkpoint' }))
  let settled = 0
  /** The write before it is committed, so a failure of this goes to the log alone. */
  const keepLogShort = async (): Promise<void> => {
    if (settled < CHECKPOINT_LINES) return
    settled = 0
    try {
      const bytes = statSync(join(dataDir, LOG_FILE), { throwIfNoEntry: false })?.size ?? 0
      // A log begins anew only where nothing was written during the checkpoint.
      await (bytes > LOG_BYTES_MAX ? database.alone(checkpoint) : checkpoint())
    } catch (thrown) {
      onError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    }
  }
  // A checkpoint waits for the disk: so no commit makes one, neither here nor in the thread.
  await sql`pragma wal_autocheckpoint = 0`.execute(database.kysely)
  return {
    ...database,
    async settleLines(lines) {
      for (let start = 0; start < lines.length; start += SLICE) {
        const slice = lines.slice(start, start + SLICE).join(',')
        await database.alone(() => thread.ask({ kind: 'settle', lines: slice }))
      }
      settled += lines.length
      await keepLogShort()
    },
    keepContents: async (rows) => void (await database.alone(() => thread.ask({ kind: 'contents', rows }))),
    writeTraces: async (change) => void (await database.alone(() => thread.ask({ kind: 'traces', change }))),
    checkpoint: () => (thread.runs() ? checkpoint() : database.checkpoint()),
    async close() {
      try {
        if (thread.runs()) await thread.ask({ kind: 'close' })
      } finally {
        await database.close()
      }
    },
  }
}
