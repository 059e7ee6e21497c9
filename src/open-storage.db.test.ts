import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'bun:test'

import { describeEachEngine } from '../test/support/databases.ts'
import { checkConfiguration, checkStorage } from './doctor/setup-checks.ts'
import { systemClock } from './lib/clock.ts'
import { systemIds } from './lib/id.ts'
import { openStorage } from './open-storage.ts'
import { appliedMigrations, migrate, migrationsOf } from './storage/tables/migrate.ts'
import { openPostgres } from './storage/postgres/postgres.ts'
import { openSqlite } from './storage/sqlite/sqlite.ts'
import { StorageOlder } from './storage/storage-errors.ts'
import { migrationsFor } from './storage/tables/schema.ts'
import { rejection } from './storage/testing/rejection.ts'

const PARTS = { clock: systemClock, ids: systemIds, onError: () => undefined }

describeEachEngine('a database of the version before', (engine) => {
  test('is not migrated by a command, since nodes of that version could not be started again; a start of the service does it', async () => {
    const location = await engine.locate()
    const settings = { ...location, secret: 'x'.repeat(32), config: null, secretPrevious: null, redisUrl: null }
    const bare = () =>
      location.databaseUrl === null
        ? openSqlite({ ...PARTS, dataDir: location.dataDir, exclusive: false })
        : openPostgres({ databaseUrl: location.databaseUrl, onError: PARTS.onError })
    const applied = async (): Promise<readonly string[]> => {
      const connection = await bare()
      try {
        return await appliedMigrations(connection.kysely)
      } finally {
        await connection.close()
      }
    }
    const all = Object.keys(migrationsFor(engine.name))
    const older = await bare()
    await migrate(older, PARTS, migrationsOf(engine.name, all.slice(0, -1)))
    await older.close()

    const open = (service: boolean) => openStorage(settings, { service, onError: PARTS.onError, warn: () => undefined })
    expect(await rejection(open(false))).toBeInstanceOf(StorageOlder)
    const { checks, imports } = await checkStorage(settings)
    expect(checks).toMatchObject([{ name: 'storage', state: 'note' }])
    // Its price lists were not read, so a model that one of them may have is no fault.
    const config = join(mkdtempSync(join(tmpdir(), 'patchbay-older-')), 'patchbay.yaml')
    writeFileSync(config, 'models: { acme/listed: { name: Listed } }')
    const stateWith = (lists: typeof imports) => checkConfiguration({ ...settings, config }, {}, lists).checks.map(({ state }) => state)
    expect([stateWith(imports), stateWith([])]).toEqual([['note'], ['wrong']])
    expect(await applied()).toEqual(all.slice(0, -1))

    await (await open(true)).database.close()
    expect(await applied()).toEqual(all)
    await (await open(false)).database.close()
  })

  test('an empty one gets its tables from the first command', async () => {
    const settings = { ...(await engine.locate()), secret: 'x'.repeat(32), config: null, secretPrevious: null, redisUrl: null }
    const { database } = await openStorage(settings, { service: false, onError: PARTS.onError, warn: () => undefined })
    expect(await appliedMigrations(database.kysely)).toEqual(Object.keys(migrationsFor(engine.name)))
    await database.close()
  })
})
