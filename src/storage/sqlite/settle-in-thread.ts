/** Settles the finished requests of a service on SQLite in a separate thread (settling-thread.ts). */
import { statSync } from 'node:fs'
import { join } from 'node:path'

import { sql } from 'kysely'

import type { Database, TraceChange } from '../database.ts'
import type { GenerationContentsTable } from '../tables/generation-tables.ts'
import { createThread } from './sqlite-thread.ts'

export type Request =
  | { readonly kind: 'open'; readonly dataDir: string }
  /** `lines` is the JSON of settlements, separated by commas. */
  | { readonly kind: 'settle'; readonly lines: string }
  | { readonly kind: 'contents'; readonly rows: readonly GenerationContentsTable[] }
  | { readonly kind: 'traces'; readonly change: TraceChange }
  | { readonly kind: 'checkpoint' | 'close' }

/**
 * Settlements per transaction: it takes a few milliseconds, after which a waiting admission gets its
 * turn. Smaller transactions cost more per settlement.
 */
const SLICE = 128

/** The number of settlements that make a log of usual length, a few megabytes. Admissions continue while it is checkpointed. */
const CHECKPOINT_LINES = 1000
const LOG_FILE = 'patchbay.db-wal'
const LOG_BYTES_MAX = 64 * 1024 * 1024
/** The largest single write, a piece of an upload, has about a mebibyte. */
const WRITES_BETWEEN_LOOKS = 16

/**
 * The same database, except that settlements and checkpoints run in the thread. All other statements stay here: an admission is many
 * short ones that depend on each other, and each round trip to a thread costs more than they do.
 */
export const settleInThread = async (
  database: Database,
  { dataDir, onError }: { readonly dataDir: string; readonly onError: (error: Error) => void },
): Promise<Database> => {
  const thread = createThread<Request, null>('storage/sqlite/settling-thread.ts', { kind: 'open', dataDir })
  const checkpoint = async (): Promise<void> => void (await thread.ask({ kind: 'checkpoint' }))
  let settled = 0
  let writes = 0
  let shortening: Promise<void> | null = null
  const isLong = (): boolean => (statSync(join(dataDir, LOG_FILE), { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES_MAX
  /** The write before it is committed, so a failure here only goes to the log of the service. */
  const keepLogShort = async ({ onlyIfLong = false } = {}): Promise<void> => {
    try {
      // The log restarts only if nothing was written during the checkpoint.
      if (isLong()) await database.alone(checkpoint)
      else if (!onlyIfLong) await checkpoint()
    } catch (thrown) {
      onError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    }
  }
  /** Deletions, uploads and contents fill the log too, also while nothing is settled. Nobody waits for the checkpoint but the next writes. */
  const noteWrite = <Written>(written: Written): Written => {
    writes += 1
    if (writes % WRITES_BETWEEN_LOOKS === 0) shortening ??= keepLogShort({ onlyIfLong: true }).finally(() => void (shortening = null))
    return written
  }
  // A checkpoint waits for the disk, so no commit makes one, neither here nor in the thread.
  await sql`pragma wal_autocheckpoint = 0`.execute(database.kysely)
  return {
    ...database,
    async settleLines(lines) {
      for (let start = 0; start < lines.length; start += SLICE) {
        const slice = lines.slice(start, start + SLICE).join(',')
        await database.alone(() => thread.ask({ kind: 'settle', lines: slice }))
      }
      settled += lines.length
      if (settled < CHECKPOINT_LINES) return
      settled = 0
      await keepLogShort()
    },
    transaction: (work, durability) => database.transaction(work, durability).then(noteWrite),
    keepContents: async (rows) => void noteWrite(await database.alone(() => thread.ask({ kind: 'contents', rows }))),
    writeTraces: async (change) => void noteWrite(await database.alone(() => thread.ask({ kind: 'traces', change }))),
    checkpoint: () => (thread.runs() ? checkpoint() : database.checkpoint()),
    async close() {
      try {
        await shortening
        if (thread.runs()) await thread.ask({ kind: 'close' })
      } finally {
        await database.close()
      }
    },
  }
}
