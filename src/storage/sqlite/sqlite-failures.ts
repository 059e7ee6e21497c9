/** The failures of SQLite and of its files, as the errors of storage. */
import { dirname } from 'node:path'

import type { RetryableFailure } from '../database.ts'
import { StorageRefused, StorageUnavailable } from '../storage-errors.ts'
import { isReadOnly, remedyIn } from './sqlite-file.ts'

/** Empty if the error is not one of SQLite's. */
export const sqliteCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Busy at BEGIN, or at a read: nothing was done. `SQLITE_BUSY_SNAPSHOT` and the like cannot follow a BEGIN IMMEDIATE. */
export const retryableFailure = (error: unknown): RetryableFailure | null => {
  const code = sqliteCode(error)
  return code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED') ? 'locked' : null
}

/** Damage may be in a page that is read long after the file was opened, and a disk may fail at any time. Null for any other error. */
export const fileFault = (path: string, cause: unknown): StorageUnavailable | null => {
  const code = sqliteCode(cause)
  if (DAMAGED.test(code)) return new StorageUnavailable(`The database ${path} is damaged. Restore it from a backup.`, { cause })
  if (code.startsWith(FULL)) return new StorageUnavailable(`The disk of ${dirname(path)} is full.`, { cause })
  return /^SQLITE_(?:IOERR|READONLY|CANTOPEN)/.test(code)
    ? new StorageUnavailable(`The database ${path}, or a file beside it, cannot be read and written (${code}).`, { cause })
    : null
}

export const cannotOpen = (path: string, cause: unknown): StorageRefused =>
  cause instanceof StorageRefused ? cause : new StorageRefused(whyNotOpen(path, cause), { cause })

const whyNotOpen = (path: string, cause: unknown): string => {
  const directory = dirname(path)
  // SQLite has several words for that, by which file it wanted to write first.
  if (isReadOnly(directory)) return `The database ${path} cannot be opened. ${remedyIn(directory)}`
  const code = sqliteCode(cause)
  if (DAMAGED.test(code))
    return `The file ${path} is not a SQLite database, or it is damaged. Restore a backup, or choose another --data-dir.`
  const fault = fileFault(path, cause)
  if (fault === null) return `The database ${path} cannot be opened: ${String(cause)}`
  return code.startsWith(FULL) ? fault.message : `${fault.message} ${remedyIn(directory)}`
}

const DAMAGED = /^SQLITE_(?:CORRUPT|NOTADB)/
const FULL = 'SQLITE_FULL'
