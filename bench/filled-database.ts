/** A database with many records, which exists while it is measured: SQLite in a directory of its own, or an empty PostgreSQL. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { systemClock } from '../src/lib/clock.ts'
import type { Database } from '../src/storage/database.ts'
import { openDatabase } from '../src/storage/open-database.ts'
import { READS_HEAD } from './measure-reads.ts'

export interface Filling {
  /** Null means SQLite. */
  readonly databaseUrl: string | null
  /** Describes the records in the head of the table. */
  readonly records: string
  readonly fill: (database: Database, databaseUrl: string | null) => Promise<void>
}

export const measureFilled = async (
  { databaseUrl, records, fill }: Filling,
  measure: (database: Database) => Promise<void>,
): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-bench-'))
  const database = await openDatabase({ databaseUrl, dataDir, exclusive: false, thread: true, onError: () => undefined })
  try {
    const startMs = systemClock.monotonicMs()
    await fill(database, databaseUrl)
    const seconds = Math.round((systemClock.monotonicMs() - startMs) / 1000)
    process.stdout.write(`${database.engine}: ${records}, made in ${seconds} s\n\n${READS_HEAD}`)
    await measure(database)
  } finally {
    await database.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
