/** Opens the database file, keeps it safe while it is open, and closes it. */
import { existsSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { constants, Database as SqliteHandle } from 'bun:sqlite'
import { type Dialect, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'

import { systemFault } from '../../lib/system-fault.ts'
import type { Durability, EngineConnection, RetryOptions } from '../database.ts'
import { createTransactions } from '../connections/direct-transactions.ts'
import type { Schema } from '../tables/schema.ts'
import { createDriver } from './sqlite-driver.ts'
import { cannotOpen, retryableFailure, sqliteCode } from './sqlite-failures.ts'
import { createPrivateFile, prepareDataDirectory, remedyIn } from './sqlite-file.ts'
import { type FilePlace, watchPlace } from './sqlite-place.ts'
import { readWitness, requireDatabaseFile, requireFitting, type Witness, writeWitness } from './sqlite-witness.ts'
import { StorageRefused, StorageUnavailable } from '../storage-errors.ts'

export const DATABASE_FILE = 'patchbay.db'
const LOCK_FILE = 'patchbay.lock'

/** While the database is being opened, nothing else runs in this process, so blocking the thread for another process does no harm. */
const OPENING_BUSY_TIMEOUT_MS = 5000

/**
 * bun:sqlite is synchronous: while SQLite waits for another process (the CLI) inside `busy_timeout`, every stream of
 * this process stalls. So it may only wait as long as a usual short write takes; longer waits are done by us without
 * blocking the thread (`retryConflicts`). See decisions/0004.
 */
const BUSY_TIMEOUT_MS = 5

export interface SqliteOptions extends RetryOptions {
  readonly dataDir: string
  readonly exclusive: boolean
  /** Called with failures that concern no waiting caller. */
  readonly onError: (error: Error) => void
}

/**
 * Opens the database in the data directory, and creates it if necessary. With `exclusive`, a second process that also asks for it is
 * refused: two services on one file would each trust their own caches and limits. The CLI does not ask for it.
 */
export const openSqlite = (options: SqliteOptions): EngineConnection => {
  const { dataDir, exclusive } = options
  prepareDataDirectory(dataDir)
  const releaseLock = exclusive ? takeServiceLock(join(dataDir, LOCK_FILE)) : () => {}
  try {
    const path = join(dataDir, DATABASE_FILE)
    inspect(dataDir, path, exclusive)
    const handle = openFile(path)
    const place = watchPlace(path)
    const driver = createDriver(handle, place, options)
    const dialect: Dialect = {
      createDriver: () => driver,
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createAdapter: () => new TransactionalDdlAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    }
    const kysely = new Kysely<Schema>({ dialect })
    return {
      engine: 'sqlite',
      server: null,
      kysely,
      reports: kysely,
      oneWriter: true,
      transaction: createTransactions({ kysely, dialect, driver, setDurability: createDurabilitySwitch(handle) }),
      retryableFailure,
      withMigrationAccess: (work) => work(kysely),
      ...createKeeping(handle, place, kysely, options),
      async close() {
        try {
          await kysely.destroy()
          if (exclusive) rescue(handle, place, options)
          handle.close()
        } finally {
          releaseLock()
        }
      },
    }
  } catch (error) {
    releaseLock()
    throw error
  }
}

/** Kysely runs DDL outside transactions on SQLite, although SQLite supports it inside: a killed migration must leave nothing behind. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

const openFile = (path: string): SqliteHandle => {
  createPrivateFile(path)
  let handle: SqliteHandle | undefined
  try {
    handle = new SqliteHandle(path, { readwrite: true, strict: true })
    handle.run(`PRAGMA busy_timeout = ${OPENING_BUSY_TIMEOUT_MS}`)
    // FULL (docs/contract/operating.md#sqlite): a committed version survives power loss too.
    handle.run('PRAGMA journal_mode = WAL')
    handle.run('PRAGMA synchronous = FULL')
    handle.run('PRAGMA foreign_keys = ON')
    handle.run('PRAGMA trusted_schema = OFF')
    handle.run('PRAGMA wal_autocheckpoint = 1000')
    handle.run('PRAGMA journal_size_limit = 4194304')
    // Statements of many rows and large sorts spill to files. By default these are in /var/tmp or /tmp, where a container may not write,
    // and whose disk may have other readers.
    handle.run(`PRAGMA temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`)
    // Without it, INSERT OR REPLACE would delete rows without running the triggers that keep versions immutable.
    handle.run('PRAGMA recursive_triggers = ON')
    handle.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return handle
  } catch (cause) {
    handle?.close()
    throw cannotOpen(path, cause)
  }
}

/**
 * Refuses, before anything is written, a database that is not the one that this directory had and, with `exclusive`, one that another
 * service has open: the lock file may have been deleted, but SQLite's own locks on the database remain.
 */
const inspect = (dataDir: string, path: string, exclusive: boolean): void => {
  requireDatabaseFile(dataDir, path)
  const witness = readWitness(dataDir)
  if (witness === null && (!exclusive || !existsSync(path))) return
  let handle: SqliteHandle | undefined
  try {
    handle = new SqliteHandle(path, { readwrite: true })
    // The last connection to close would delete the log, which may be all that is left for a recovery.
    handle.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
    handle.run(`PRAGMA busy_timeout = ${OPENING_BUSY_TIMEOUT_MS}`)
    // Set before the first read, this mode needs the file for itself: every open connection in WAL mode holds a shared lock.
    if (exclusive) handle.run('PRAGMA locking_mode = EXCLUSIVE')
    const found = readState(handle)
    if (witness !== null) requireFitting(dataDir, path, witness, found)
  } catch (cause) {
    if (!sqliteCode(cause).startsWith('SQLITE_BUSY')) throw cannotOpen(path, cause)
    throw new StorageRefused(
      `Another process has ${path} open: a Patchbay service, or a program that reads the file. Stop it, or choose another --data-dir.`,
      { cause },
    )
  } finally {
    handle?.close()
  }
}

/** Null if the tables do not exist. */
const readState = (handle: SqliteHandle): Witness | null => {
  const tables = handle.query("select name from sqlite_schema where name in ('change_counter', 'service_facts')").all()
  if (tables.length < 2) return null
  const row = handle
    .query<{ database: string | null; changes: number }, []>(
      "select (select value from service_facts where name = 'database-id') as database, value as changes from change_counter",
    )
    .get()
  return row ?? null
}

/** Keeps the log small and the witness up to date. */
const createKeeping = (
  handle: SqliteHandle,
  place: FilePlace,
  kysely: Kysely<Schema>,
  { dataDir, exclusive, ids, onError }: SqliteOptions,
): Pick<EngineConnection, 'prepared' | 'noteChanges' | 'checkpoint' | 'requireRoom'> => {
  let noted: Witness | null = null
  /** Never fails: the change before it is committed and must not be repeated. The next change writes the witness again. */
  const noteChanges = async (): Promise<void> => {
    try {
      const { value: changes } = await kysely.selectFrom('change_counter').select('value').executeTakeFirstOrThrow()
      if (noted === null || noted.changes === changes) return
      noted = { ...noted, changes }
      writeWitness(dataDir, noted)
    } catch (thrown) {
      onError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    }
  }
  return {
    async prepared() {
      const isNew = readState(handle)?.database === null
      if (isNew) {
        const name = { name: 'database-id', value: ids.uuid() }
        await kysely
          .insertInto('service_facts')
          .values(name)
          .onConflict((conflict) => conflict.column('name').doNothing())
          .execute()
      }
      // The id that makes a database one of ours must be in its file, not in a log that can be lost.
      if (isNew || exclusive) emptyLog(handle)
      noted = readState(handle)
      place.noteLog()
      if (noted === null || readWitness(dataDir)?.changes === noted.changes) return
      try {
        writeWitness(dataDir, noted)
      } catch (cause) {
        throw new StorageRefused(`The data directory ${dataDir} cannot be written (${systemFault(cause)}). ${remedyIn(dataDir)}`, { cause })
      }
    },
    noteChanges,
    async checkpoint() {
      place.require()
      await sql`pragma wal_checkpoint(passive)`.execute(kysely)
    },
    async requireRoom() {
      place.require()
      // Not in the runtime's pool of threads: name lookups that hang may occupy all of them.
      const { bavail, bsize } = statfsSync(dataDir)
      if (bavail * bsize < ROOM_MIN_BYTES) throw new StorageUnavailable('The disk of the database is full.')
    },
  }
}

/** Throws StorageRefused, for example if the disk has no room for what a killed service has left in the log. */
const emptyLog = (handle: SqliteHandle): void => {
  try {
    handle.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (cause) {
    throw cannotOpen(handle.filename, cause)
  }
}

/** If the database's file is gone, saves what this process still has of it in a separate file, so that nothing acknowledged is lost. */
const rescue = (handle: SqliteHandle, place: FilePlace, { dataDir, clock, onError }: SqliteOptions): void => {
  try {
    place.require()
  } catch (lost) {
    // The log of that name may belong to another database by now, and the last connection to close would delete it.
    handle.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
    const path = join(dataDir, `patchbay.rescued-${clock.now()}.db`)
    try {
      prepareDataDirectory(dataDir)
      createPrivateFile(path)
      handle.run('VACUUM INTO ?', [path])
      onError(new Error(`This process saved its state of the database in ${path}. To go on with it, move it to ${handle.filename}.`))
    } catch (cause) {
      onError(new Error('This process could not save its state of the database.', { cause: cause instanceof Error ? cause : lost }))
    }
  }
}

/** A log of usual length, and the same amount for the file. */
const ROOM_MIN_BYTES = 8 * 1024 * 1024

/** `synchronous` is a setting of the connection and cannot change inside a transaction. */
const createDurabilitySwitch = (handle: SqliteHandle): ((durability: Durability) => void) => {
  let now: Durability = 'power'
  return (durability) => {
    if (durability === now) return
    handle.run(`PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`)
    now = durability
  }
}

/**
 * Holds the lock of a tiny second database until the returned function is called. The operating system drops the lock with the process,
 * so kill -9 leaves nothing to clean up, unlike a file with a process id.
 */
const takeServiceLock = (path: string): (() => void) => {
  createPrivateFile(path)
  let handle: SqliteHandle | undefined
  try {
    handle = new SqliteHandle(path, { readwrite: true })
    handle.run('BEGIN EXCLUSIVE')
  } catch (cause) {
    handle?.close()
    throw sqliteCode(cause).startsWith('SQLITE_BUSY')
      ? new StorageRefused(
          `Another Patchbay service is running on this data directory (it holds ${path}). Stop it, or choose another --data-dir.`,
          { cause },
        )
      : new StorageRefused(`The lock file ${path} cannot be used (${sqliteCode(cause)}). ${remedyIn(dirname(path))}`, { cause })
  }
  const held = handle
  return () => held.close()
}
