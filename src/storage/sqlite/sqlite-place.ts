/**
 * Checks that the files of an open database are still the ones in its directory. A file that was deleted or replaced
 * still accepts writes, which are lost when the process ends.
 */
import { statSync } from 'node:fs'

import { DatabaseFileLost } from '../storage-errors.ts'

export interface FilePlace {
  /** Call it once the write-ahead log exists: from then on, the log is watched too. */
  noteLog(): void
  /** Throws DatabaseFileLost. */
  require(): void
}

export const watchPlace = (path: string): FilePlace => {
  const files = new Map([[path, identityOf(path)]])
  return {
    noteLog() {
      files.set(`${path}-wal`, identityOf(`${path}-wal`))
    },
    require() {
      for (const [file, identity] of files) {
        if (identity === null || identityOf(file) === identity) continue
        throw new DatabaseFileLost(
          `${file} was deleted or replaced while this service had it open, so nothing more is written. Put the same file back; or stop the service, which writes all that it still has to a file patchbay.rescued-….db beside it.`,
        )
      }
    },
  }
}

/** Null if there is no such file. */
const identityOf = (path: string): string | null => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}
