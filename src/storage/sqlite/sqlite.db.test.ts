import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { sql, type Transaction } from 'kysely'

import type { Database } from '../database.ts'
import { openDatabase } from '../open-database.ts'
import type { Schema } from '../tables/schema.ts'
import { DATABASE_FILE } from './sqlite.ts'
import { networkFilesystem } from './sqlite-file.ts'
import { StorageRefused, StorageUnavailable } from '../storage-errors.ts'
import { preparePresets } from '../testing/preset-input.ts'
import { rejection, rejectionText } from '../testing/rejection.ts'

let parent = ''
let dataDir = ''
let opened: Database[] = []

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'patchbay-sqlite-'))
  dataDir = join(parent, 'nested', 'data')
})

afterEach(async () => {
  await Promise.all(opened.map((database) => database.close()))
  opened = []
  rmSync(parent, { recursive: true, force: true })
})

const open = async (exclusive: boolean): Promise<Database> => {
  const database = await openDatabase({ databaseUrl: null, dataDir, exclusive, onError: () => {} })
  opened.push(database)
  return database
}

const openFiles = (): readonly string[] =>
  readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)]
    } catch {
      // That of the directory itself is closed by now.
      return []
    }
  })

test('only the owner may read the directory and the files, whatever the umask', async () => {
  const old = process.umask(0)
  try {
    const { create } = await preparePresets(await open(true))
    await create('bot')
  } finally {
    process.umask(old)
  }
  const modeOf = (name: string) => (statSync(join(dataDir, name)).mode & 0o777).toString(8)
  expect(modeOf('.')).toBe('700')
  for (const name of ['patchbay.db', 'patchbay.db-wal', 'patchbay.db-shm', 'patchbay.lock']) expect(modeOf(name)).toBe('600')
})

test('every commit is on disk, references hold, and the schema is not trusted', async () => {
  const { kysely } = await open(false)
  const pragma = async (name: string) =>
    Object.values((await sql<object>`pragma ${sql.raw(name)}`.execute(kysely)).rows[0] ?? {})[0] as unknown
  expect(await pragma('journal_mode')).toBe('wal')
  expect(await pragma('synchronous')).toBe(2)
  expect(await pragma('foreign_keys')).toBe(1)
  expect(await pragma('trusted_schema')).toBe(0)
  expect(await pragma('busy_timeout')).toBeLessThanOrEqual(20)
})

test('what a large statement keeps on disk until it ends is in the data directory: a container may write nowhere else', async () => {
  const { kysely } = await open(false)
  const spilled = await kysely.transaction().execute(async (transaction) => {
    await sql`create table large (id integer primary key, text text not null)`.execute(transaction)
    const rows = sql`with recursive n (id) as (select 1 union all select id + 1 from n where id < 1000) select id, hex(zeroblob(500)) from n`
    await sql`insert into large ${rows}`.execute(transaction)
    const before = new Set(openFiles())
    await sql`update large set text = text || 'x'`.execute(transaction)
    return openFiles().filter((path) => !before.has(path))
  })
  expect(spilled.map((path) => dirname(path))).toEqual([realpathSync(dataDir)])
})

test('every table of ours is strict: a column takes no value of another type', async () => {
  const { kysely } = await open(false)
  const loose = await sql<{ name: string }>`select name from pragma_table_list
    where schema = 'main' and type = 'table' and strict = 0 and name not like 'kysely_%' and name not like 'sqlite_%'`.execute(kysely)
  expect(loose.rows).toEqual([])
})

test('a second service on the same directory is refused; the CLI beside it is not', async () => {
  const service = await open(true)
  expect(await rejection(open(true))).toBeInstanceOf(StorageRefused)
  expect(await rejectionText(open(true))).toContain('Stop it, or choose another --data-dir.')
  const { create } = await preparePresets(await open(false))
  await create('by-cli')
  const { store, workspaceId } = await preparePresets(service)
  expect(await store.get(workspaceId, 'by-cli')).not.toBeNull()
})

test('the lock goes with the service, also when it is killed', async () => {
  await (await open(true)).close()
  opened = []
  const holder = `
    import { openDatabase } from ${JSON.stringify(`${import.meta.dir}/../open-database.ts`)}
    // Kept, as the service keeps it: what nobody holds is collected, and its lock with it.
    globalThis.held = await openDatabase({ databaseUrl: null, dataDir: ${JSON.stringify(dataDir)}, exclusive: true, onError: () => {} })
    console.log('holding')
    setInterval(() => {}, 1000)`
  const child = Bun.spawn([process.execPath, '-e', holder], { stdout: 'pipe', stderr: 'inherit' })
  await child.stdout.getReader().read()
  expect(await rejectionText(open(true))).toContain('Another Patchbay service is running')
  child.kill('SIGKILL')
  await child.exited
  await (await open(true)).ping()
})

test('a file that is not a database is refused, naming it, and stays as it is', async () => {
  dataDir = parent
  const path = join(dataDir, DATABASE_FILE)
  const text = 'My diary. '.repeat(1000)
  writeFileSync(path, text)
  expect(await rejection(open(true))).toMatchObject({
    name: 'StorageRefused',
    message: `The file ${path} is not a SQLite database, or it is damaged. Restore a backup, or choose another --data-dir.`,
  })
  expect(await Bun.file(path).text()).toBe(text)
  // The refused start has released its lock.
  rmSync(path)
  await (await open(true)).ping()
})

test('a directory that cannot be made is refused, naming it', async () => {
  const file = join(parent, 'file')
  writeFileSync(file, '')
  dataDir = join(file, 'data')
  expect(await rejection(open(true))).toMatchObject({
    name: 'StorageRefused',
    message: expect.stringMatching(/^The data directory \S+ cannot be made \([A-Z]+\)\. Choose another --data-dir, or /),
  })
})

test('network file systems are known by their type, and disks are not taken for one', () => {
  expect(networkFilesystem(0x6969)).toBe('NFS')
  expect(networkFilesystem(0xff534d42)).toBe('CIFS')
  expect(networkFilesystem(0xff534d42 - 2 ** 32)).toBe('CIFS')
  expect(networkFilesystem(0xef53)).toBeUndefined()
})

test('closing waits for the transaction under way', async () => {
  const database = await open(true)
  const { create } = await preparePresets(database)
  const [outcome] = await Promise.all([create('bot'), database.close()])
  opened = []
  expect(outcome.kind).toBe('created')
})

test('a query that comes after the end of its transaction is refused, and is not part of the next one', async () => {
  const { transaction } = await open(true)
  const write = (name: string) => (writing: Transaction<Schema>) =>
    writing.insertInto('service_facts').values({ name, value: '' }).execute()
  let ended: Transaction<Schema> | null = null
  await transaction(async (writing) => {
    ended = writing
    await write('in time')(writing)
  })
  const names = await transaction(async (reading) => {
    expect(await rejectionText(write('late')(ended!))).toContain('The transaction has ended.')
    return reading.selectFrom('service_facts').select('name').execute()
  })
  expect(names.map(({ name }) => name)).toContain('in time')
  expect(names.map(({ name }) => name)).not.toContain('late')
})

test('a probe writes each time, so that it fails where a write would: a file size limit is not seen otherwise', async () => {
  const database = await open(true)
  const log = (): number => statSync(join(dataDir, `${DATABASE_FILE}-wal`)).size
  for (const _ of [1, 2, 3]) {
    const before = log()
    await database.probe()
    expect(log()).toBeGreaterThan(before)
  }
})

test('a full disk fails the write with StorageUnavailable; reads go on, and so do writes once there is room again', async () => {
  const database = await open(true)
  const { create, store, workspaceId } = await preparePresets(database)
  await create('bot')
  const limitPages = (pages: number) => sql`pragma max_page_count = ${sql.lit(pages)}`.execute(database.kysely)
  await limitPages(1)
  const large = { shape: 'chat' as const, config: {}, systemPrompt: 'x'.repeat(200_000) }
  const full = await rejection(create('bot', { content: large }))
  expect(full).toBeInstanceOf(StorageUnavailable)
  expect(String(full)).toMatch(/The disk of .* is full\./)
  expect((await store.get(workspaceId, 'bot'))?.designated_version.version).toBe(1)
  // A row that stays as long as it is would still fit.
  for (const _ of [1, 2]) expect(await rejection(database.probe())).toBeInstanceOf(StorageUnavailable)
  await limitPages(1_000_000)
  await database.probe()
  expect(await create('bot', { content: large })).toMatchObject({ kind: 'created', preset: { designated_version: { version: 2 } } })
})
