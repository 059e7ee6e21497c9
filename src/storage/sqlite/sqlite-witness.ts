/**
 * Facts that the data directory records about its database: which one it is, and how far it had come. If the write-ahead log is damaged,
 * cut off or missing, the database opens without an error but has lost committed changes, which SQLite itself cannot notice; and a
 * directory without its database looks like one before the first start.
 */
import { closeSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { openPrivateFile } from '../../lib/private-file.ts'
import { systemFault } from '../../lib/system-fault.ts'
import { StorageRefused } from '../storage-errors.ts'

export interface Witness {
  /** The id that was given to the database; null if the file is unreadable, which still shows that there was a database. */
  readonly database: string | null
  /** The database's change counter after the last change. */
  readonly changes: number
}

const WITNESS_FILE = 'database.json'

const witnessPath = (dataDir: string): string => join(dataDir, WITNESS_FILE)

/** Null if the directory never had a database. Throws StorageRefused. */
export const readWitness = (dataDir: string): Witness | null => {
  let text: string
  try {
    text = readFileSync(witnessPath(dataDir), 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new StorageRefused(
      `The file ${witnessPath(dataDir)} cannot be read (${systemFault(cause)}). Make the user of the service the owner of the files in ${dataDir}.`,
      { cause },
    )
  }
  const [, database = null, changes = '0'] = FORM.exec(text) ?? []
  return { database, changes: Number(changes) }
}

const FORM = /^\{"database":"([0-9a-f-]{36})","changes":(\d{1,15})\}\n$/

/** Writes the file whole or not at all. */
export const writeWitness = (dataDir: string, { database, changes }: Witness): void => {
  const draft = `${witnessPath(dataDir)}.${process.pid}`
  try {
    // A process of the same id may have been killed before it renamed its draft.
    rmSync(draft, { force: true })
    const file = openPrivateFile(draft, dataDir)
    try {
      writeFileSync(file, `${JSON.stringify({ database, changes })}\n`)
    } finally {
      closeSync(file)
    }
    renameSync(draft, witnessPath(dataDir))
  } catch (thrown) {
    rmSync(draft, { force: true })
    throw thrown
  }
}

/** The files that a service leaves in its directory beside the database. */
const TRACES = [WITNESS_FILE, 'secret', 'journal']

/**
 * Must be called before the file is opened, which would create it: a directory in which a service has
 * worked must contain its database. Throws StorageRefused.
 */
export const requireDatabaseFile = (dataDir: string, path: string): void => {
  // The tables are in the database file before anything else is written, so an empty file has lost them, whatever is in the log.
  if (existsSync(path) && statSync(path).size > 0) return
  const traces = TRACES.filter((name) => existsSync(join(dataDir, name)))
  if (traces.length === 0) return
  const listed = traces.join(' and ')
  throw new StorageRefused(
    `The database ${path} is missing or empty, but a service has used ${dataDir} before: it holds ${listed}. ` +
      'Restore the database from a backup, or name the right one with --data-dir or --database-url; ' +
      `or, to start with an empty service on purpose, move ${listed} out of ${dataDir}.`,
  )
}

/** `found` are the facts of the opened file; null if the database is empty or not one of ours. Throws StorageRefused. */
export const requireFitting = (dataDir: string, path: string, witness: Witness, found: Witness | null): void => {
  if (found === null)
    throw lost(
      dataDir,
      `The database ${path} is empty. Restore it, with ${path}-wal, from a backup; or, to start with an empty service on purpose,`,
    )
  if (witness.database !== null && found.database !== witness.database) {
    throw lost(
      dataDir,
      `The file ${path} is another database than the one of this directory. Put the right one back; or, to use this one on purpose,`,
    )
  }
  if (found.changes < witness.changes) {
    throw lost(
      dataDir,
      `The database ${path} has lost changes: ${path}-wal is damaged or missing, or an older copy was put in its place. Restore both files; or, to go on with what is there,`,
    )
  }
}

const lost = (dataDir: string, sentences: string): StorageRefused => new StorageRefused(`${sentences} delete ${witnessPath(dataDir)}.`)
