/**
 * Runs a suite on every engine. PostgreSQL is the server of TEST_DATABASE_URL (whose user may create databases), or one that is started
 * here, once for each test process, from binaries found on this machine; otherwise its half is skipped and the reason printed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

import { afterAll, describe } from 'bun:test'
import { Client } from 'pg'

import type { Database } from '../../src/storage/database.ts'
import type { Engine } from '../../src/storage/engine.ts'
import { type DatabaseLocation, openDatabase, type OpenDatabaseOptions } from '../../src/storage/open-database.ts'
import { onFreePort } from './free-port.ts'

export interface TestEngine {
  readonly name: Engine
  /** A location for a new, empty database; removed after the suite. */
  locate(): Promise<DatabaseLocation>
  /** Opens the database at the location, or a new one; closed after the suite unless the test has closed it. */
  open(location?: DatabaseLocation, options?: Partial<OpenDatabaseOptions>): Promise<Database>
}

export const describeEachEngine = (name: string, suite: (engine: TestEngine) => void): void => {
  describe(`${name} (sqlite)`, () => suite(createTestEngine('sqlite', locateSqlite)))
  describe.skipIf(POSTGRES.skipped !== null)(`${name} (postgres)`, () => suite(createTestEngine('postgres', locatePostgres)))
}

/** Runs the suite on each engine, and once more with a settlement thread, which services on SQLite use. */
export const describeEachSettler = (name: string, suite: (engine: TestEngine) => void): void => {
  describeEachEngine(name, suite)
  describe(`${name} (sqlite, settled in a thread)`, () => suite(createTestEngine('sqlite', locateSqlite, { thread: true })))
}

interface Place {
  readonly location: DatabaseLocation
  remove(): Promise<void>
}

const createTestEngine = (name: Engine, locate: () => Promise<Place>, always: Partial<OpenDatabaseOptions> = {}): TestEngine => {
  const opened: Database[] = []
  const places: Place[] = []
  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close().catch(() => {})))
    await Promise.all(places.map((place) => place.remove()))
  })
  const newLocation = async (): Promise<DatabaseLocation> => {
    const place = await locate()
    places.push(place)
    return place.location
  }
  return {
    name,
    locate: newLocation,
    async open(location, options) {
      const database = await openDatabase({
        ...(location ?? (await newLocation())),
        exclusive: false,
        onError: () => {},
        ...always,
        ...options,
      })
      opened.push(database)
      return database
    },
  }
}

const locateSqlite = async (): Promise<Place> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-sqlite-'))
  return { location: { databaseUrl: null, dataDir }, remove: async () => rmSync(dataDir, { recursive: true, force: true }) }
}

let databasesMade = 0

const locatePostgres = async (): Promise<Place> => {
  if (POSTGRES.url === null) throw new Error('PostgreSQL is not there')
  const name = `patchbay_test_${process.pid}_${++databasesMade}`
  await administer(POSTGRES.url, `create database ${name} template template0`)
  const url = new URL(POSTGRES.url)
  url.pathname = `/${name}`
  return {
    location: { databaseUrl: url.href, dataDir: '' },
    remove: () => administer(POSTGRES.url ?? '', `drop database if exists ${name} with (force)`),
  }
}

const administer = async (url: string, statement: string): Promise<void> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

type PostgresServer = { readonly url: string; readonly skipped: null } | { readonly url: null; readonly skipped: string }

const findPostgres = async (): Promise<PostgresServer> => {
  const url = process.env['TEST_DATABASE_URL']
  if (url !== undefined && url !== '') return { url, skipped: null }
  const binaries = findBinaries()
  if (binaries === null) return { url: null, skipped: 'no TEST_DATABASE_URL, and no PostgreSQL binaries on this machine' }
  try {
    return { url: await startPostgres(binaries), skipped: null }
  } catch (error) {
    return { url: null, skipped: `the PostgreSQL of ${binaries} does not start: ${String(error)}` }
  }
}

/** Newest first. */
const findBinaries = (): string | null => {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((left, right) => Number(right) - Number(left)) : []
  const folders = [...versions.map((version) => join(debian, version, 'bin')), ...(process.env['PATH'] ?? '').split(delimiter)]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null
}

const startPostgres = async (binaries: string): Promise<string> => {
  const owner = unprivilegedOwner()
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-postgres-'))
  if (owner !== undefined) chownSync(directory, owner.uid, owner.gid)
  const data = join(directory, 'data')
  const made = spawnSync(
    join(binaries, 'initdb'),
    [
      '--pgdata',
      data,
      '--username',
      'patchbay',
      '--auth',
      'trust',
      '--encoding',
      'UTF8',
      '--locale',
      'C',
      '--no-sync',
      '--no-instructions',
    ],
    { ...owner, cwd: directory, encoding: 'utf8' },
  )
  if (made.status !== 0) {
    rmSync(directory, { recursive: true, force: true })
    throw new Error(`initdb: ${made.stderr ?? String(made.error)}`)
  }

  // The shell stops the server and removes its files when our end of its stdin closes, which also happens when this process is killed.
  const script = `"$0" -D "$1" -p "$2" -h 127.0.0.1 -k '' -c fsync=off -c max_connections=200 >"$3/log" 2>&1 &
    server=$!; read -r _; kill -QUIT $server; wait $server; rm -rf "$3"`
  return onFreePort(async (port) => {
    const keeper = spawn('/bin/sh', ['-c', script, join(binaries, 'postgres'), data, String(port), directory], {
      ...owner,
      cwd: directory,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    keeper.unref()
    const url = `postgres://patchbay@127.0.0.1:${port}/postgres`
    if ((await dataDirectoryOf(url)) !== data) throw new Error(`another server answers at port ${port}`)
    return url
  })
}

/** PostgreSQL refuses to run as root. */
const unprivilegedOwner = (): { uid: number; gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((option) => Number(spawnSync('id', [option, name], { encoding: 'utf8' }).stdout.trim() || 0))
    if (uid && gid) return { uid, gid }
  }
  throw new Error('there is no user to run it as')
}

/** Waits until the server answers. */
const dataDirectoryOf = async (url: string): Promise<unknown> => {
  for (let tries = 1; ; tries++) {
    const client = new Client({ connectionString: url })
    try {
      await client.connect()
      return (await client.query<{ data_directory: string }>('show data_directory')).rows[0]?.data_directory
    } catch (error) {
      if (tries === STARTING_TRIES) throw error
      await Bun.sleep(50)
    } finally {
      await client.end()
    }
  }
}

/** A busy machine may take half a minute. */
const STARTING_TRIES = 600

/** Started while the module loads, because suites are declared before any of their asynchronous code runs. */
const POSTGRES = await findPostgres()
if (POSTGRES.skipped !== null) console.warn(`PostgreSQL suites are skipped: ${POSTGRES.skipped}`)
