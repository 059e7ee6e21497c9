/** Creates files that hold secrets and customers' data. */
import { closeSync, constants, fchownSync, mkdirSync, openSync, statSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'

/** SQLite gives -wal and -shm the mode of the database file. */
export const OWNER_ONLY = 0o600
const ROOT = 0
const OWNER_ONLY_DIRECTORY = 0o700
const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/**
 * Creates a file that only its owner may read, and returns its descriptor. A command that root runs beside a service of another user would
 * otherwise leave a file that the service cannot read: root's files belong to the owner of `directory`. Throws the system's error, EEXIST
 * if there is such a file.
 */
export const openPrivateFile = (path: string, directory: string): number => {
  const descriptor = openSync(path, 'wx', OWNER_ONLY)
  try {
    giveToOwnerOf(directory, descriptor)
    return descriptor
  } catch (thrown) {
    closeSync(descriptor)
    unlinkSync(path)
    throw thrown
  }
}

/** Creates the directory if it is missing; root's belongs to the owner of the directory around it. Throws the system's error. */
export const makePrivateDirectory = (path: string): void => {
  if (mkdirSync(path, { recursive: true, mode: OWNER_ONLY_DIRECTORY }) === undefined) return
  const descriptor = openSync(path, OPEN_DIRECTORY)
  try {
    giveToOwnerOf(dirname(path), descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The descriptor is used because a path could be replaced by a link to a file of root's meanwhile. */
const giveToOwnerOf = (directory: string, descriptor: number): void => {
  if (process.getuid?.() !== ROOT) return
  const { uid, gid } = statSync(directory)
  if (uid === ROOT) return
  try {
    fchownSync(descriptor, uid, gid)
  } catch (thrown) {
    // In a container root may lack this right: then it is the only user, and keeps its files.
    if ((thrown as NodeJS.ErrnoException).code !== 'EPERM') throw thrown
  }
}
