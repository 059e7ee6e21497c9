/** The data directory and the database file in it, before SQLite opens them. */
import { accessSync, closeSync, constants, mkdirSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'

import { openPrivateFile } from '../../lib/private-file.ts'
import { systemFault } from '../../lib/system-fault.ts'
import { StorageRefused } from '../storage-errors.ts'

const DIRECTORY_MODE = 0o700

/**
 * `f_type` of statfs(2). WAL needs shared memory between processes, which these file systems do not
 * provide (https://www.sqlite.org/wal.html, 2.2).
 */
const NETWORK_FILESYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
])

/** Creates the directory if it is missing. Throws StorageRefused if a database there could not be trusted. */
export const prepareDataDirectory = (dataDir: string): void => {
  try {
    mkdirSync(dataDir, { recursive: true, mode: DIRECTORY_MODE })
  } catch (cause) {
    throw new StorageRefused(
      `The data directory ${dataDir} cannot be made (${systemFault(cause)}). Choose another --data-dir, or let the user of the service write there.`,
      { cause },
    )
  }
  const network = networkFilesystem(filesystemOf(dataDir))
  if (network !== undefined) {
    throw new StorageRefused(
      `The data directory ${dataDir} is on a network file system (${network}), where SQLite would lose data. Use a local disk, or --database-url postgres://….`,
    )
  }
}

const filesystemOf = (dataDir: string): number => {
  try {
    return statfsSync(dataDir).type
  } catch (cause) {
    throw new StorageRefused(
      `The data directory ${dataDir} cannot be read (${systemFault(cause)}). Choose another --data-dir, or let the user of the service read there.`,
      { cause },
    )
  }
}

/** SQLite needs this much beside the database to open it. */
const ROOM_TO_OPEN_BYTES = 64 * 1024

/** A sentence that says what to do if a file in this directory cannot be read and written. */
export const remedyIn = (directory: string): string => {
  if (isReadOnly(directory)) return `The file system of ${directory} is read-only.`
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize < ROOM_TO_OPEN_BYTES
    ? `The disk of ${directory} is full.`
    : `Make the user of the service the owner of the files in ${directory}.`
}

export const isReadOnly = (directory: string): boolean => {
  try {
    accessSync(directory, constants.W_OK)
    return false
  } catch (thrown) {
    return isNodeError(thrown) && thrown.code === 'EROFS'
  }
}

/** The name of the network file system with that `f_type`; undefined for any other. The kernel's field is signed on some machines. */
export const networkFilesystem = (type: number): string | undefined => NETWORK_FILESYSTEMS.get(type >>> 0)

/**
 * Creates an empty private file if there is none; root's belongs to the owner of `directory`. An existing file is not even opened: closing any descriptor of a file drops all
 * POSIX locks that this process holds on it (https://www.sqlite.org/howtocorrupt.html, 2.2).
 */
export const createPrivateFile = (path: string, directory: string = dirname(path)): void => {
  try {
    closeSync(openPrivateFile(path, directory))
  } catch (cause) {
    if (isNodeError(cause) && cause.code === 'EEXIST') return
    throw new StorageRefused(`The file ${path} cannot be made (${systemFault(cause)}). Let the user of the service write there.`, { cause })
  }
}

const isNodeError = (thrown: unknown): thrown is NodeJS.ErrnoException => thrown instanceof Error && 'code' in thrown
