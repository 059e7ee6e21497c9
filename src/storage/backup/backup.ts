/**
 * A backup is one SQLite file with a snapshot of the database, whichever engine that uses. So it needs no PostgreSQL program and can be
 * restored into either engine (decisions/0064). Nothing is migrated for it: the file has the schema of the database.
 */
import { chmodSync, closeSync, copyFileSync, existsSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { type Kysely, sql } from 'kysely'

import { systemClock } from '../../lib/clock.ts'
import { systemIds } from '../../lib/id.ts'
import { OWNER_ONLY } from '../../lib/private-file.ts'
import { copyTables } from './copy-tables.ts'
import { appendDigest, takeDigest } from './digest.ts'
import type { EngineConnection } from '../database.ts'
import { appliedMigrations, migrate, migrationsOf } from '../tables/migrate.ts'
import type { DatabaseLocation } from '../open-database.ts'
import { openPostgres } from '../postgres/postgres.ts'
import { DATABASE_FILE, openSqlite } from '../sqlite/sqlite.ts'
import { fileFault, sqliteCode } from '../sqlite/sqlite-failures.ts'
import { createPrivateFile, prepareDataDirectory } from '../sqlite/sqlite-file.ts'
import { readWitness } from '../sqlite/sqlite-witness.ts'
import type { Schema } from '../tables/schema.ts'
import { StorageRefused, StorageUnavailable } from '../storage-errors.ts'

const parts = { clock: systemClock, ids: systemIds, onError: () => undefined }

const openFile = (dataDir: string): EngineConnection => openSqlite({ ...parts, dataDir, exclusive: false })

/** Creates the file at `path`, whole or not at all, readable by its owner only. Throws StorageRefused or StorageUnavailable. */
export const writeBackup = async ({ databaseUrl, dataDir }: DatabaseLocation, path: string): Promise<void> => {
  if (existsSync(path)) throw new StorageRefused(`There is a file ${path} already. Choose another path.`)
  await withDraft(dirname(path), async (draft) => {
    const copy = join(draft, basename(path))
    createPrivateFile(copy)
    const source = databaseUrl === null ? openFile(dataDir) : await copyOfPostgres(databaseUrl, join(draft, 'tables'))
    try {
      await sql`vacuum into ${copy}`.execute(source.kysely).catch((thrown: unknown) => {
        throw faultOfCopy(path, thrown)
      })
    } finally {
      await source.close()
    }
    appendDigest(copy)
    synchronise(copy)
    renameSync(copy, path)
    synchronise(dirname(path))
  })
}

/** The database reports every fault as its own, but what it cannot write is the copy. */
const faultOfCopy = (path: string, thrown: unknown): unknown =>
  thrown instanceof StorageUnavailable && /^SQLITE_(?:FULL|IOERR_WRITE)/.test(sqliteCode(thrown.cause))
    ? (fileFault(path, thrown.cause) ?? thrown)
    : thrown

/** Restores the file at `path` as a database that must not exist yet. Throws StorageRefused or StorageUnavailable. */
export const restoreBackup = async (path: string, { databaseUrl, dataDir }: DatabaseLocation): Promise<void> => {
  if (!existsSync(path)) throw new StorageRefused(`There is no file ${path}.`)
  if (statSync(path).isDirectory()) throw new StorageRefused(`${path} is a directory. Name the file of the backup in it.`)
  if (databaseUrl === null && (existsSync(join(dataDir, DATABASE_FILE)) || readWitness(dataDir) !== null)) {
    throw new StorageRefused(`There is a database in ${dataDir} already: a backup is restored into a new directory.`)
  }
  const parent = databaseUrl === null ? dataDir : dirname(path)
  if (databaseUrl === null) prepareDataDirectory(dataDir)
  await withDraft(parent, async (draft) => {
    const copy = join(draft, DATABASE_FILE)
    createPrivateFile(copy, parent)
    copyFileSync(path, copy)
    // It has the mode of the backup now, which may be readable by everybody, or writable by nobody.
    chmodSync(copy, OWNER_ONLY)
    if (!takeDigest(copy)) throw new StorageRefused(`The file ${path} is damaged: it does not fit the digest at its end.`)
    const source = openCopy(draft, path)
    try {
      await requireWhole(source, path)
      if (databaseUrl !== null) await fillPostgres(databaseUrl, source)
    } finally {
      await source.close()
    }
    if (databaseUrl !== null) return
    synchronise(copy)
    renameSync(copy, join(dataDir, DATABASE_FILE))
    synchronise(dataDir)
  })
}

/** An SQLite database in `directory` with a snapshot of the PostgreSQL tables. */
const copyOfPostgres = async (databaseUrl: string, directory: string): Promise<EngineConnection> => {
  const postgres = await openPostgres({ databaseUrl, onError: parts.onError })
  const copy = openFile(directory)
  try {
    await postgres.withMigrationAccess(async (kysely) => {
      const applied = await appliedMigrations(kysely)
      if (applied.length === 0)
        throw new StorageRefused('The database has no tables of Patchbay. Name the right one with --data-dir or --database-url.')
      await migrate(copy, parts, migrationsOf('sqlite', applied))
      await copyTables(kysely, copy.kysely, copy.kysely)
    })
    return copy
  } catch (thrown) {
    await copy.close()
    throw thrown
  } finally {
    await postgres.close()
  }
}

const fillPostgres = async (databaseUrl: string, source: EngineConnection): Promise<void> => {
  const postgres = await openPostgres({ databaseUrl, onError: parts.onError })
  try {
    await postgres.withMigrationAccess(async (kysely) => {
      if (await isInUse(kysely)) {
        throw new StorageRefused('The PostgreSQL database has data of Patchbay already: a backup is restored into an empty one.')
      }
    })
    await migrate(postgres, parts, migrationsOf('postgres', await appliedMigrations(source.kysely)))
    await postgres.withMigrationAccess((kysely) => copyTables(source.kysely, kysely, source.kysely))
  } finally {
    await postgres.close()
  }
}

/** Every service that opened the database wrote facts into it; a restore that was interrupted left only what the migrations make. */
const isInUse = async (kysely: Kysely<Schema>): Promise<boolean> => {
  if ((await appliedMigrations(kysely)).length === 0) return false
  return (await kysely.selectFrom('service_facts').select('name').where('name', '=', 'secret-check').executeTakeFirst()) !== undefined
}

/** A fault of the copy is a fault of the file from which it was made. */
const openCopy = (draft: string, path: string): EngineConnection => {
  try {
    return openFile(draft)
  } catch (cause) {
    throw new StorageRefused(`The file ${path} is no backup of Patchbay, or it is damaged.`, { cause })
  }
}

const requireWhole = async ({ kysely }: EngineConnection, path: string): Promise<void> => {
  const isWhole = await isIntact(kysely)
  if (isWhole && (await appliedMigrations(kysely)).length > 0) return
  throw new StorageRefused(`The file ${path} is ${isWhole ? 'no backup of Patchbay' : 'damaged'}.`)
}

/** A page that cannot be read at all ends the check with an error, which names the copy. */
const isIntact = async (kysely: Kysely<Schema>): Promise<boolean> => {
  try {
    const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(kysely)
    return rows.length === 1 && rows[0]?.integrity_check === 'ok'
  } catch (thrown) {
    if (thrown instanceof StorageUnavailable) return false
    throw thrown
  }
}

/** Creates a directory on the same disk, removed afterwards, so that files made in it can be moved to their place atomically. */
const withDraft = async (parent: string, work: (draft: string) => Promise<void>): Promise<void> => {
  const draft = makeDraft(parent)
  try {
    await work(draft)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const makeDraft = (parent: string): string => {
  try {
    return mkdtempSync(join(parent, '.patchbay-backup-'))
  } catch (cause) {
    throw new StorageRefused(`The directory ${parent} is not there, or nothing can be written in it.`, { cause })
  }
}

const synchronise = (path: string): void => {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
