import { Database as SqliteFile } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

import { sql } from 'kysely'

import { describeEachEngine, type TestEngine } from '../../../test/support/databases.ts'
import { temporaryDirectory } from '../../../test/support/sqlite-database.ts'
import { systemClock } from '../../lib/clock.ts'
import { systemIds } from '../../lib/id.ts'
import { restoreBackup, writeBackup } from './backup.ts'
import type { EngineConnection } from '../database.ts'
import { createFactStore } from '../service/fact-store.ts'
import { type FinishedGeneration, insertGenerations } from '../generations/generation-store.ts'
import { auditLedger } from '../ledger/ledger-audit.ts'
import { migrationsFor } from '../tables/schema.ts'
import type { DatabaseLocation } from '../open-database.ts'
import { openPostgres } from '../postgres/postgres.ts'
import { openSqlite } from '../sqlite/sqlite.ts'
import { StorageRefused } from '../storage-errors.ts'
import { makeOlderDatabase, rowsOf } from '../testing/older-databases.ts'
import { preparePresets } from '../testing/preset-input.ts'
import { rejection, rejectionText } from '../testing/rejection.ts'
import { generationRecord } from '../testing/generation-record.ts'

const directory = temporaryDirectory()
const newPath = (): string => join(mkdtempSync(join(directory, 'kept-')), 'kept.db')
const NOW = '2026-11-22T10:00:00.000Z'

const connect = async ({ databaseUrl, dataDir }: DatabaseLocation): Promise<EngineConnection> =>
  databaseUrl === null
    ? openSqlite({ clock: systemClock, ids: systemIds, dataDir, exclusive: false, onError: () => undefined })
    : openPostgres({ databaseUrl, onError: () => undefined })

/** Makes a database of an earlier level, and returns its rows. */
const older = async (engine: TestEngine, names: readonly string[]) => {
  const location = await engine.locate()
  const connection = await connect(location)
  await makeOlderDatabase(connection, names)
  const rows = await rowsOf(connection.kysely)
  await connection.close()
  return { location, rows }
}

describeEachEngine('a database of an earlier version', (engine) => {
  const names = Object.keys(migrationsFor(engine.name))

  test.each(names.map((name, index) => [name, index + 1] as const))(
    'with rows, last changed by %s, is brought up to date and keeps them',
    async (_, count) => {
      const { location, rows } = await older(engine, names.slice(0, count))
      const database = await engine.open(location)
      const now = await rowsOf(database.kysely)
      for (const [table, kept] of Object.entries(rows)) {
        for (const row of kept) expect(now[table]).toContainEqual(expect.objectContaining(row))
      }
      const { store, workspaceId } = await preparePresets(database)
      expect((await store.get(workspaceId, 'bot'))?.designated_version).toMatchObject({ version: 2, system_prompt: 'Be kind, 2 times. ✓' })
      expect(await auditLedger(database, NOW)).toEqual([])
    },
  )

  test('is backed up and restored as it is, without being brought up to date', async () => {
    const [first = ''] = names
    const { location, rows } = await older(engine, [first])
    const path = newPath()
    await writeBackup(location, path)
    const restored = { databaseUrl: null, dataDir: join(directory, `restored-${engine.name}`) }
    await restoreBackup(path, restored)
    const connection = await connect(restored)
    expect(await rowsOf(connection.kysely)).toEqual(rows)
    await connection.close()
    expect(await (await engine.open(restored)).kysely.selectFrom('presets').select('slug').execute()).toEqual([{ slug: 'bot' }])
  })
})

describeEachEngine('a database whose summed days have no run', (engine) => {
  describeEachEngine('restored from its backup', (target) => {
    test('has its other rows, and sums the days anew', async () => {
      const names = Object.keys(migrationsFor(engine.name))
      const { location } = await older(engine, names.slice(0, names.indexOf('0034-runs-of-summed-days')))
      const connection = await connect(location)
      await sql`drop table usage_summed_days`.execute(connection.kysely)
      await sql`create table usage_summed_days (day text not null primary key, complete integer not null)`.execute(connection.kysely)
      await sql`insert into usage_summed_days values ('2026-09-01', 1)`.execute(connection.kysely)
      await connection.close()
      const path = newPath()
      await writeBackup(location, path)
      const restored = await target.locate()
      await restoreBackup(path, restored)
      const { kysely } = await target.open(restored)
      expect(await kysely.selectFrom('usage_summed_days').selectAll().execute()).toEqual([])
      expect(await kysely.selectFrom('presets').select('slug').execute()).toEqual([{ slug: 'bot' }])
    })
  })
})

describeEachEngine('a backup', (engine) => {
  const names = Object.keys(migrationsFor(engine.name))

  /** As the first start of a service does. */
  const useOnce = async (location: DatabaseLocation): Promise<void> => {
    const database = await engine.open(location)
    await createFactStore(database).establish('secret-check', 'of a secret')
    await database.close()
  }

  test('an interrupted restore into PostgreSQL can be run again', async () => {
    if (engine.name === 'sqlite') return
    const location = await engine.locate()
    await useOnce(location)
    const path = newPath()
    await writeBackup(location, path)
    const interrupted = await engine.locate()
    await (await engine.open(interrupted)).close()
    await restoreBackup(path, interrupted)
    expect(await createFactStore(await engine.open(interrupted)).read('secret-check')).toBe('of a secret')
  })

  describeEachEngine('restored', (target) => {
    test('holds every row, passes the audit, and takes new ones', async () => {
      const { location, rows } = await older(engine, names)
      // A table without rows would not show if rows are copied correctly.
      expect(Object.keys(rows).filter((table) => rows[table]?.length === 0)).toEqual([])
      const path = newPath()
      await writeBackup(location, path)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(readdirSync(join(path, '..'))).toEqual(['kept.db'])

      const restored = await target.locate()
      await restoreBackup(path, restored)
      const connection = await connect(restored)
      const found = await rowsOf(connection.kysely)
      await connection.close()
      expect(found).toEqual(rows)

      const database = await target.open(restored)
      expect(await auditLedger(database, NOW)).toEqual([])
      const { create } = await preparePresets(database)
      expect(await create('bot')).toMatchObject({ preset: { designated_version: { version: 3 } } })
    })

    test('holds the rows of a table that is longer than what is copied at once', async () => {
      const location = await engine.locate()
      const database = await engine.open(location)
      const rows = Array.from({ length: 2100 }, (_, at) => ({
        key_hash: `key ${Math.floor(at / 700)}`,
        day: `day ${String(at % 700).padStart(6, '0')}`,
        cost_nanos: at,
        byok_cost_nanos: 0,
        requests: 1,
        tokens: 1,
      }))
      await database.transaction(async (transaction) => {
        for (let at = 0; at < rows.length; at += 700)
          await transaction
            .insertInto('key_usage_days')
            .values(rows.slice(at, at + 700))
            .execute()
      })
      // So wide that a portion of them takes two statements.
      await database.transaction((transaction) => insertGenerations(transaction, engine.name, Array.from({ length: 1000 }, finishedAt)))
      const path = newPath()
      await writeBackup(location, path)
      const restored = await target.locate()
      await restoreBackup(path, restored)
      const { kysely } = await target.open(restored)
      expect(await kysely.selectFrom('key_usage_days').selectAll().orderBy('cost_nanos').execute()).toEqual(rows)
      const wide = await kysely.selectFrom('generations').select('id').orderBy('tokens_prompt').execute()
      expect(wide.map(({ id }) => id)).toEqual(Array.from({ length: 1000 }, (_, at) => `gen-${at}`))
    })
  })

  test('made while others write is of one moment: every version that it has is whole, and none is missing below it', async () => {
    const database = await engine.open()
    const location = await engine.locate()
    const own = await engine.open(location)
    const { create } = await preparePresets(own)
    await create('busy')
    let writing = true
    const writers = Array.from({ length: 3 }, async () => {
      while (writing) await create('busy')
    })
    const path = newPath()
    await writeBackup(location, path)
    writing = false
    await Promise.all(writers)
    await database.close()

    const restored = { databaseUrl: null, dataDir: join(directory, `busy-${engine.name}`) }
    await restoreBackup(path, restored)
    const copy = await engine.open(restored)
    const { kysely } = copy
    const preset = await kysely.selectFrom('presets').selectAll().executeTakeFirstOrThrow()
    const versions = await kysely.selectFrom('preset_versions').select(['id', 'version']).orderBy('version').execute()
    expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: preset.last_version }, (_, index) => index + 1))
    expect(versions.at(-1)?.id).toBe(preset.designated_version_id)
  })

  test('goes nowhere but into a new place, whole or not at all', async () => {
    const location = await engine.locate()
    await useOnce(location)
    const path = newPath()
    await writeBackup(location, path)
    expect(await rejection(writeBackup(location, path))).toBeInstanceOf(StorageRefused)
    expect(await rejectionText(restoreBackup(path, location))).toContain('already')
    expect(await rejectionText(writeBackup(location, join(directory, 'nowhere/x.db')))).toContain('is not there')
    expect(readdirSync(join(path, '..'))).toEqual(['kept.db'])
    if (engine.name === 'postgres') expect(await rejectionText(writeBackup(await engine.locate(), newPath()))).toContain('no tables')
  })
})

const finishedAt = (_: unknown, at: number): FinishedGeneration => ({
  userId: 'user-1',
  record: generationRecord({
    id: `gen-${at}`,
    createdAt: NOW,
    workspaceId: 'w',
    keyHash: 'k'.repeat(64),
    provider: null,
    tokensPrompt: at,
    costNanos: 1,
  }),
})

const change = (path: string, bytes: Uint8Array, at: number): void => {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

const PAGE = 4096

/** Leaves whole pages alone, as SQLite's own tools write them. */
const withoutDigest = (path: string): void => truncateSync(path, Math.floor(statSync(path).size / PAGE) * PAGE)

const losePage = (path: string): void => {
  withoutDigest(path)
  change(path, new Uint8Array(PAGE), statSync(path).size - 10 * PAGE)
}

const flipBit = (path: string): void => {
  const at = Math.floor(statSync(path).size / 2)
  change(path, Uint8Array.of((readFileSync(path)[at] ?? 0) ^ 1), at)
}

const flipBitOfDigest = (path: string): void => {
  const at = Math.floor(statSync(path).size / PAGE) * PAGE + 3
  change(path, Uint8Array.of((readFileSync(path)[at] ?? 0) ^ 1), at)
}

const replaceByDirectory = (path: string): void => {
  unlinkSync(path)
  mkdirSync(path)
}

/** Every page can be read, but an index names a row that is not there. */
const misleadIndex = (path: string): void => {
  withoutDigest(path)
  const file = new SqliteFile(path, { readonly: true })
  const { rootpage } = file.query<{ rootpage: number }, []>(`select rootpage from sqlite_master where name = 'generations_newest'`).get()!
  file.close()
  change(path, Uint8Array.of(0x7f), rootpage * PAGE - 1)
}

describe('what is no backup is refused in a sentence, and leaves nothing', () => {
  const whole = async (): Promise<string> => {
    const dataDir = mkdtempSync(join(directory, 'whole-'))
    const connection = await connect({ databaseUrl: null, dataDir })
    await makeOlderDatabase(connection, Object.keys(migrationsFor('sqlite')))
    await connection.close()
    const path = newPath()
    await writeBackup({ databaseUrl: null, dataDir }, path)
    return path
  }
  test.each<[string, (path: string) => void, string]>([
    ['a file that is cut', (path) => truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096), 'damaged'],
    ['a file of which a page is lost', losePage, 'kept.db is damaged.'],
    ['a file whose parts do not agree', misleadIndex, 'kept.db is damaged.'],
    ['a file with one wrong bit', flipBit, 'kept.db is damaged: it does not fit the digest at its end.'],
    [
      'a file with one wrong bit in the words before its digest',
      flipBitOfDigest,
      'kept.db is damaged: it does not fit the digest at its end.',
    ],
    ['a directory', replaceByDirectory, 'kept.db is a directory.'],
    ['a text', (path) => writeFileSync(path, 'no database at all'), 'is no backup of Patchbay'],
    ['an empty file', (path) => truncateSync(path, 0), 'no backup'],
    ['a file that is not there', () => undefined, 'There is no file'],
  ])('%s', async (what, damage, sentence) => {
    const path = what === 'a file that is not there' ? newPath() : await whole()
    damage(path)
    const dataDir = join(mkdtempSync(join(directory, 'target-')), 'data')
    expect(await rejectionText(restoreBackup(path, { databaseUrl: null, dataDir }))).toContain(sentence)
    expect(existsSync(join(dataDir, 'patchbay.db'))).toBe(false)
  })

  test('a file without a digest, as the tools of SQLite write one, is a backup', async () => {
    const path = await whole()
    withoutDigest(path)
    const dataDir = mkdtempSync(join(directory, 'plain-'))
    await restoreBackup(path, { databaseUrl: null, dataDir })
    expect(statSync(join(dataDir, 'patchbay.db')).size).toBe(statSync(path).size)
  })

  test('the digest is no part of the restored database', async () => {
    const dataDir = mkdtempSync(join(directory, 'stripped-'))
    await restoreBackup(await whole(), { databaseUrl: null, dataDir })
    expect(statSync(join(dataDir, 'patchbay.db')).size % PAGE).toBe(0)
  })

  test('a directory whose database was lost is no place for one', async () => {
    const path = await whole()
    const dataDir = mkdtempSync(join(directory, 'lost-'))
    await restoreBackup(path, { databaseUrl: null, dataDir })
    await (await connect({ databaseUrl: null, dataDir })).prepared()
    unlinkSync(join(dataDir, 'patchbay.db'))
    expect(await rejectionText(restoreBackup(path, { databaseUrl: null, dataDir }))).toContain('already')
  })

  test.each(['644', '400'])('a restored database is read and written by its owner alone, also from a backup of mode %s', async (mode) => {
    const path = await whole()
    chmodSync(path, Number.parseInt(mode, 8))
    const dataDir = mkdtempSync(join(directory, 'private-'))
    // A service seldom runs as root, who restores.
    if (process.getuid?.() === 0) chownSync(dataDir, 65_534, 65_534)
    await restoreBackup(path, { databaseUrl: null, dataDir })
    expect(statSync(join(dataDir, 'patchbay.db')).uid).toBe(statSync(dataDir).uid)
    expect([statSync(join(dataDir, 'patchbay.db')).mode & 0o777, existsSync(path), readdirSync(dataDir)]).toEqual([
      0o600,
      true,
      ['patchbay.db'],
    ])
  })

  test('bytes after its end are not part of it', async () => {
    const path = await whole()
    appendFileSync(path, Buffer.alloc(100))
    await restoreBackup(path, { databaseUrl: null, dataDir: join(directory, 'longer') })
  })
})
