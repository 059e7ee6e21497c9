/** A loss in a data directory is noticed before anything is served from the rest. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import type { Database } from '../database.ts'
import { openDatabase } from '../open-database.ts'
import { DatabaseFileLost, StorageRefused } from '../storage-errors.ts'
import { preparePresets } from '../testing/preset-input.ts'
import { rejection } from '../testing/rejection.ts'

let parent = ''
/** A directory as a killed service leaves it: nothing is closed, and the last changes are only in the log. */
let crashed = ''
const SLUGS = Array.from({ length: 12 }, (_, number) => `preset-${number}`)

const open = (dataDir: string, exclusive = true): Promise<Database> =>
  openDatabase({ databaseUrl: null, dataDir, exclusive, onError: () => {} })

let copies = 0
const copyOf = (directory: string): string => {
  const copy = join(parent, `copy-${(copies += 1)}`)
  mkdirSync(copy)
  for (const name of readdirSync(directory)) copyFileSync(join(directory, name), join(copy, name))
  return copy
}

const slugsIn = async (dataDir: string): Promise<readonly string[]> => {
  const database = await open(dataDir)
  try {
    const { store, workspaceId } = await preparePresets(database)
    return (await store.list({ workspaceId, offset: 0, limit: 100 })).items.map(({ slug }) => slug).toSorted()
  } finally {
    await database.close()
  }
}

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), 'patchbay-loss-'))
  const living = join(parent, 'living')
  const database = await open(living)
  const { create } = await preparePresets(database)
  for (const slug of SLUGS) await create(slug)
  crashed = copyOf(living)
  await database.close()
})

afterAll(() => rmSync(parent, { recursive: true, force: true }))

test('a crash alone loses nothing, and is no reason to refuse', async () => {
  const dataDir = copyOf(crashed)
  expect(statSync(join(dataDir, 'patchbay.db-wal')).size).toBeGreaterThan(0)
  expect(await slugsIn(dataDir)).toEqual(SLUGS.toSorted())
  expect(await slugsIn(dataDir)).toEqual(SLUGS.toSorted())
})

describe('refused, with what to restore and how to go on on purpose', () => {
  const remove = (dataDir: string, ...names: string[]) => names.forEach((name) => rmSync(join(dataDir, name), { force: true }))
  test.each<[string, (dataDir: string) => void]>([
    ['no database', (dataDir) => remove(dataDir, 'patchbay.db', 'patchbay.db-wal', 'patchbay.db-shm')],
    [
      'an emptied database',
      (dataDir) => (remove(dataDir, 'patchbay.db-wal', 'patchbay.db-shm'), truncateSync(join(dataDir, 'patchbay.db'))),
    ],
    ['an emptied database with its log', (dataDir) => truncateSync(join(dataDir, 'patchbay.db'))],
    ['no log', (dataDir) => remove(dataDir, 'patchbay.db-wal', 'patchbay.db-shm')],
    ['an emptied log', (dataDir) => truncateSync(join(dataDir, 'patchbay.db-wal'))],
    [
      'a log without its head',
      (dataDir) => {
        const path = join(dataDir, 'patchbay.db-wal')
        const bytes = readFileSync(path)
        writeFileSync(path, bytes.fill(0, 0, 32))
      },
    ],
  ])('%s', async (_, damage) => {
    for (const exclusive of [true, false]) {
      const dataDir = copyOf(crashed)
      damage(dataDir)
      const before = readdirSync(dataDir).filter((name) => name.startsWith('patchbay.db') && !name.endsWith('-shm'))
      const refusal = await rejection(open(dataDir, exclusive))
      expect(refusal).toBeInstanceOf(StorageRefused)
      expect(String(refusal)).toMatch(/(?:[Rr]estore|Put the right one back).*(?:delete .*database\.json|move database\.json out of .*)\.$/)
      // Nothing was created that looks like a database, and nothing was removed that may help to recover one.
      expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(before))
      expect(existsSync(join(dataDir, 'patchbay.db'))).toBe(before.includes('patchbay.db'))
      // The operator accepts the loss on purpose.
      rmSync(join(dataDir, 'database.json'))
      await (await open(dataDir, exclusive)).close()
    }
  })

  test('the database of another directory', async () => {
    const other = join(parent, 'other')
    await (await open(other)).close()
    const dataDir = copyOf(crashed)
    remove(dataDir, 'patchbay.db-wal', 'patchbay.db-shm')
    copyFileSync(join(other, 'patchbay.db'), join(dataDir, 'patchbay.db'))
    expect(String(await rejection(open(dataDir)))).toContain('is another database than the one of this directory')
  })
})

describe('a directory in which a service has worked, without its database, is refused', () => {
  test.each<{ left: string[] }>([
    { left: ['secret'] },
    { left: ['journal'] },
    { left: ['secret', 'journal'] },
    { left: ['database.json', 'secret'] },
  ])('with what moves it on: $left', async ({ left }) => {
    for (const emptied of [false, true]) {
      const dataDir = mkdtempSync(join(parent, 'left-'))
      for (const name of left) {
        if (name === 'journal') mkdirSync(join(dataDir, name))
        else writeFileSync(join(dataDir, name), 's'.repeat(43))
      }
      if (emptied) writeFileSync(join(dataDir, 'patchbay.db'), '')
      for (const exclusive of [true, false]) {
        const refusal = String(await rejection(open(dataDir, exclusive)))
        expect(refusal).toContain('name the right one with --data-dir or --database-url')
        expect(refusal).toEndWith(`move ${left.join(' and ')} out of ${dataDir}.`)
      }
      for (const name of left) rmSync(join(dataDir, name), { recursive: true })
      await (await open(dataDir)).close()
    }
  })
})

describe('a file that is deleted or replaced while it is open', () => {
  const write = (database: Database) =>
    database.transaction((transaction) =>
      transaction
        .insertInto('service_facts')
        .values({ name: crypto.randomUUID(), value: 'x' })
        .execute()
        .then(() => undefined),
    )
  const files = ['patchbay.db', 'patchbay.db-wal', 'patchbay.db-shm']

  test.each<[string, (dataDir: string) => void]>([
    ['all files deleted', (dataDir) => files.forEach((name) => rmSync(join(dataDir, name)))],
    ['the directory deleted', (dataDir) => rmSync(dataDir, { recursive: true })],
    ['the log deleted', (dataDir) => rmSync(join(dataDir, 'patchbay.db-wal'))],
    [
      'replaced by a copy',
      (dataDir) => {
        copyFileSync(join(dataDir, 'patchbay.db'), join(dataDir, 'copy'))
        renameSync(join(dataDir, 'copy'), join(dataDir, 'patchbay.db'))
      },
    ],
  ])('%s: nothing more is written, and what was acknowledged is in a file of its own at the end', async (_, lose) => {
    const dataDir = mkdtempSync(join(parent, 'open-'))
    const reported: string[] = []
    const database = await openDatabase({
      databaseUrl: null,
      dataDir,
      exclusive: true,
      onError: ({ message }) => void reported.push(message),
    })
    const { create } = await preparePresets(database)
    for (const slug of SLUGS) await create(slug)
    lose(dataDir)
    for (const refused of [write(database), database.probe(), database.checkpoint()]) {
      const lost = await rejection(refused)
      expect(lost).toBeInstanceOf(DatabaseFileLost)
      expect(String(lost)).toMatch(/was deleted or replaced.*Put the same file back; or stop the service/)
    }
    await database.close()
    const [rescued = ''] = readdirSync(dataDir).filter((name) => name.startsWith('patchbay.rescued-'))
    expect(reported).toEqual([expect.stringContaining(rescued)])
    expect(statSync(join(dataDir, rescued)).mode & 0o777).toBe(0o600)
    const restored = mkdtempSync(join(parent, 'rescued-'))
    copyFileSync(join(dataDir, rescued), join(restored, 'patchbay.db'))
    expect(await slugsIn(restored)).toEqual(SLUGS.toSorted())
  })

  test('put back in time, it is written again', async () => {
    const dataDir = mkdtempSync(join(parent, 'back-'))
    const database = await open(dataDir)
    const [path, away] = [join(dataDir, 'patchbay.db'), join(dataDir, 'away')]
    renameSync(path, away)
    expect(await rejection(write(database))).toBeInstanceOf(DatabaseFileLost)
    renameSync(away, path)
    await write(database)
    await database.probe()
    await database.close()
    expect(readdirSync(dataDir).filter((name) => name.includes('rescued'))).toEqual([])
  })
})

test('a log that is cut or damaged anywhere is refused, or has lost no change', async () => {
  const log = readFileSync(join(crashed, 'patchbay.db-wal'))
  await fc.assert(
    fc.asyncProperty(fc.nat(log.length - 1), fc.constantFrom('cut', 'flip', 'zero-rest'), async (at, kind) => {
      const dataDir = copyOf(crashed)
      const bytes = Buffer.from(log)
      if (kind === 'flip') bytes[at] = (bytes[at] ?? 0) ^ 0xff
      if (kind === 'zero-rest') bytes.fill(0, at)
      writeFileSync(join(dataDir, 'patchbay.db-wal'), kind === 'cut' ? bytes.subarray(0, at) : bytes)
      const outcome = await slugsIn(dataDir).catch((thrown: unknown) => thrown)
      if (!(outcome instanceof StorageRefused)) expect(outcome).toEqual(SLUGS.toSorted())
      rmSync(dataDir, { recursive: true })
    }),
    { numRuns: 60 },
  )
}, 300_000)

test('damage in any page is a sentence, at the start or when the page is read, or touches nothing that is read', async () => {
  const whole = copyOf(crashed)
  await (await open(whole)).close()
  const path = join(whole, 'patchbay.db')
  const pages = Math.floor(statSync(path).size / 4096)
  let damaged = 0
  for (let page = 1; page < pages; page += 1) {
    const copy = copyOf(whole)
    const bytes = readFileSync(join(copy, 'patchbay.db'))
    bytes.fill(0xa5, page * 4096, (page + 1) * 4096)
    writeFileSync(join(copy, 'patchbay.db'), bytes)
    const read = await slugsIn(copy).catch((thrown: unknown) => thrown)
    if (Array.isArray(read)) continue
    damaged += 1
    expect(read).toBeInstanceOf(Error)
    expect(['StorageRefused', 'StorageUnavailable']).toContain((read as Error).name)
    expect((read as Error).message).toMatch(/damaged/)
    rmSync(copy, { recursive: true })
  }
  expect(damaged).toBeGreaterThan(1)
}, 300_000)

test('a database of an earlier version, or from a backup, has no witness: it is taken as it is, and gets one', async () => {
  const dataDir = join(parent, 'restored')
  mkdirSync(dataDir)
  const whole = copyOf(crashed)
  await slugsIn(whole)
  copyFileSync(join(whole, 'patchbay.db'), join(dataDir, 'patchbay.db'))
  expect(await slugsIn(dataDir)).toEqual(SLUGS.toSorted())
  expect(existsSync(join(dataDir, 'database.json'))).toBe(true)
})

test('a witness that cannot be read says that there was a database, and no more', async () => {
  const dataDir = copyOf(crashed)
  writeFileSync(join(dataDir, 'database.json'), '')
  expect(await slugsIn(dataDir)).toEqual(SLUGS.toSorted())
  writeFileSync(join(dataDir, 'database.json'), '{"database":')
  for (const name of ['patchbay.db', 'patchbay.db-wal', 'patchbay.db-shm']) rmSync(join(dataDir, name), { force: true })
  expect(await rejection(open(dataDir))).toBeInstanceOf(StorageRefused)
})

describe('the lock', () => {
  test('a second service does not start on the same data, whatever became of the lock file', async () => {
    const dataDir = join(parent, 'locked')
    const first = await open(dataDir)
    rmSync(join(dataDir, 'patchbay.lock'))
    expect(String(await rejection(open(dataDir)))).toContain('Another process has')
    // The shell works beside it, and the next service after it.
    await (await open(dataDir, false)).close()
    await first.close()
    await (await open(dataDir)).close()
  }, 300_000)

  test('a lock path that is a directory is a sentence', async () => {
    const dataDir = join(parent, 'odd')
    mkdirSync(join(dataDir, 'patchbay.lock'), { recursive: true })
    expect(await rejection(open(dataDir))).toMatchObject({ name: 'StorageRefused', message: expect.stringContaining('The lock file') })
  })
})
