import { expect, test } from 'bun:test'
import { type KyselyPlugin, sql } from 'kysely'

import { describeEachEngine, type TestEngine } from '../../../test/support/databases.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { patient } from '../../../test/support/patience.ts'
import { until } from '../../../test/support/started-service.ts'
import { systemClock } from '../../lib/clock.ts'
import { systemIds } from '../../lib/id.ts'
import type { Database, EngineConnection } from '../database.ts'
import { holdOffNewWindows } from '../ledger/scope-windows.ts'
import { migrate } from './migrate.ts'
import { migrationsFor } from './schema.ts'
import type { DatabaseLocation } from '../open-database.ts'
import { openPostgres } from '../postgres/postgres.ts'
import { openSqlite } from '../sqlite/sqlite.ts'
import { StorageRefused } from '../storage-errors.ts'
import { preparePresets } from '../testing/preset-input.ts'
import { rejection, rejectionText } from '../testing/rejection.ts'

const AT = '2026-11-20T10:00:00.000Z'
const OPTIONS = { clock: systemClock, ids: systemIds }

const openBare = async ({ databaseUrl, dataDir }: DatabaseLocation) =>
  databaseUrl === null
    ? openSqlite({ ...OPTIONS, dataDir, exclusive: false, onError: () => {} })
    : openPostgres({ databaseUrl, onError: () => {} })

const tablesOf = async (database: Pick<Database, 'kysely'>): Promise<string[]> =>
  (await database.kysely.introspection.getTables()).map(({ name }) => name).toSorted()

const appliedIn = async (database: Pick<Database, 'kysely'>): Promise<string[]> =>
  (await sql<{ name: string }>`select name from kysely_migration order by name`.execute(database.kysely)).rows.map(({ name }) => name)

describeEachEngine('migrations', (engine: TestEngine) => {
  test('their names are in the order in which they were written', () => {
    const names = Object.keys(migrationsFor(engine.name))
    expect(names).toEqual(names.toSorted())
    names.forEach((name, index) => expect(name).toStartWith(`${String(index + 1).padStart(4, '0')}-`))
  })

  test('six processes that start at once on an empty database all open it, and each migration ran once', async () => {
    const location = await engine.locate()
    const databases = await Promise.all(Array.from({ length: 6 }, () => engine.open(location)))
    for (const database of databases) await database.ping()
    expect(await appliedIn(databases[0] as Database)).toEqual(Object.keys(migrationsFor(engine.name)))
  })

  test('opening again keeps what is there', async () => {
    const location = await engine.locate()
    const before = await engine.open(location)
    const { create } = await preparePresets(before)
    await create('bot')
    await before.close()
    const { store, workspaceId } = await preparePresets(await engine.open(location))
    expect((await store.get(workspaceId, 'bot'))?.designated_version.version).toBe(1)
  })

  test('a database that has all of them is asked one question, whatever else it holds', async () => {
    const connection = await openBare(await engine.locate())
    let questions = 0
    const counting: KyselyPlugin = {
      transformQuery({ node }) {
        questions += 1
        return node
      },
      transformResult: async ({ result }) => result,
    }
    const counted: EngineConnection = {
      ...connection,
      withMigrationAccess: (work) => connection.withMigrationAccess((kysely) => work(kysely.withPlugin(counting))),
    }
    try {
      await migrate(counted, OPTIONS)
      expect(questions).toBeGreaterThan(1)
      questions = 0
      await migrate(counted, OPTIONS)
      expect(questions).toBe(1)
    } finally {
      await connection.close()
    }
  })

  test('one that fails half-way leaves nothing of any, and can run later', async () => {
    const location = await engine.locate()
    const connection = await openBare(location)
    const migrations = {
      ...migrationsFor(engine.name),
      '9000-fails': {
        async up(db: Parameters<ReturnType<typeof migrationsFor>[string]['up']>[0]) {
          await sql`create table half (id integer)`.execute(db)
          throw new Error('power cut')
        },
      },
    }
    expect(await rejectionText(migrate(connection, OPTIONS, migrations))).toContain('power cut')
    expect(await tablesOf(connection)).toEqual([])
    await migrate(connection, OPTIONS)
    expect(await tablesOf(connection)).toContain('presets')
    await connection.close()
  })

  test('a process killed in the middle of one leaves nothing, and the next start migrates', async () => {
    const location = await engine.locate()
    const child = Bun.spawn(
      [process.execPath, `${import.meta.dir}/../testing/hang-in-migration.ts`, location.databaseUrl ?? '', location.dataDir],
      { stdout: 'pipe', stderr: 'inherit' },
    )
    const { value } = await child.stdout.getReader().read()
    expect(new TextDecoder().decode(value)).toBe('half\n')
    child.kill('SIGKILL')
    await child.exited
    const database = await engine.open(location)
    expect(await tablesOf(database)).not.toContain('half')
    expect(await appliedIn(database)).toEqual(Object.keys(migrationsFor(engine.name)))
  })

  test('one that waits for a session which uses its table says so, holds up no other session, and goes on once that one ends', async () => {
    // A SQLite file has one writer, whom nobody else holds up.
    if (engine.name === 'sqlite') return
    const location = await engine.locate()
    const connection = await openBare(location)
    const before = Object.entries(migrationsFor(engine.name)).filter(([name]) => name < '0027')
    await migrate(connection, OPTIONS, Object.fromEntries(before))
    const reading = Promise.withResolvers<void>()
    const read = Promise.withResolvers<void>()
    const report = connection.transaction(async (transaction) => {
      await sql`select 1 from api_keys`.execute(transaction)
      reading.resolve()
      await read.promise
    }, 'power')
    await reading.promise
    const clock = createFakeClock()
    const sentences: string[] = []
    const migrating = migrate(connection, { clock, ids: systemIds, onWait: (sentence) => sentences.push(sentence) })
    // The sentence, and then the pause after the first try.
    await until(() => clock.waiting === 2, 'the migration to give way', patient(10_000))
    await sql`select 1 from api_keys`.execute(connection.kysely)
    clock.advance(3000)
    expect(sentences).toEqual([expect.stringContaining('pg_stat_activity')])
    read.resolve()
    await report
    clock.advance(5000)
    await migrating
    expect(await appliedIn(connection)).toEqual(Object.keys(migrationsFor(engine.name)))
    await connection.close()
  })

  test('several that change what a settlement uses wait for one that is under way, and neither fails', async () => {
    // A SQLite file has one writer.
    if (engine.name === 'sqlite') return
    const connection = await openBare(await engine.locate())
    const before = Object.entries(migrationsFor(engine.name)).filter(([name]) => name < '0031')
    await migrate(connection, OPTIONS, Object.fromEntries(before))
    const waiting = sql`select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`
    const begun = Promise.withResolvers<void>()
    const settlement = connection.transaction(async (transaction) => {
      await holdOffNewWindows(transaction, engine.name)
      await sql`update activity_days set requests = requests`.execute(transaction)
      begun.resolve()
      await until(async () => (await waiting.execute(connection.kysely)).rows.length > 0, 'the migration to wait', patient(10_000))
      await sql`update usage_hours set requests = requests`.execute(transaction)
      await sql`update scope_window set held_n = held_n`.execute(transaction)
    }, 'power')
    await begun.promise
    const clock = createFakeClock()
    const migrating = migrate(connection, { clock, ids: systemIds }).then(() => 'migrated')
    const gaveWay = until(() => clock.waiting === 2, 'the migration to give way', patient(10_000)).then(() => 'gave way')
    gaveWay.catch(() => undefined)
    await settlement
    expect(await Promise.race([migrating, gaveWay])).toBe('migrated')
    await connection.close()
  })

  test('a database of a newer version is refused, naming the migration', async () => {
    const location = await engine.locate()
    const database = await engine.open(location)
    await sql`insert into kysely_migration (name, timestamp) values ('9999-from-the-future', '2030-01-01T00:00:00.000Z')`.execute(
      database.kysely,
    )
    await database.close()
    const reopening = engine.open(location)
    expect(await rejection(reopening)).toBeInstanceOf(StorageRefused)
    expect(await rejectionText(reopening)).toContain('"9999-from-the-future"')
  })

  test('a clock that was set back between two releases does not lock us out', async () => {
    const location = await engine.locate()
    const connection = await openBare(location)
    await migrate(connection, OPTIONS)
    await sql`update kysely_migration set timestamp = '2099-01-01T00:00:00.000Z'`.execute(connection.kysely)
    await migrate(connection, OPTIONS, {
      ...migrationsFor(engine.name),
      '9000-next': { up: async (db) => void (await sql`create table next (id integer)`.execute(db)) },
    })
    await migrate(connection, OPTIONS, {
      ...migrationsFor(engine.name),
      '9000-next': { up: async () => {} },
    })
    expect(await tablesOf(connection)).toContain('next')
    await connection.close()
  })

  test('records of before are found by what only their JSON said', async () => {
    const location = await engine.locate()
    const connection = await openBare(location)
    const before = Object.entries(migrationsFor(engine.name)).filter(([name]) => name < '0010')
    await migrate(connection, OPTIONS, Object.fromEntries(before))
    const insert = (id: string, record: object) =>
      sql`insert into generations (id, created_at, workspace_id, key_hash, model, streamed, cancelled, tokens_prompt, tokens_completion, cost_nanos, byok_cost_nanos, record)
        values (${id}, '2026-11-20T10:00:00.000Z', 'w', 'k', 'm', 0, 0, 1, 1, 1, 0, ${JSON.stringify(record)})`.execute(connection.kysely)
    await insert('gen-1', { error_type: 'timeout', session_id: 's-1', request_id: 'req-1', latency: null, generation_time: 7 })
    await insert('gen-2', { error_type: null, session_id: 'a\u0000b', request_id: 'req-2', latency: 3, generation_time: 9 })
    await migrate(connection, OPTIONS)
    const rows = await connection.kysely
      .selectFrom('generations')
      .select(['error_type', 'session_id', 'request_id', 'first_token_ms', 'total_ms'])
      .orderBy('id')
      .execute()
    expect(rows[0]).toEqual({ error_type: 'timeout', session_id: 's-1', request_id: 'req-1', first_token_ms: null, total_ms: 7 })
    expect(rows[1]).toMatchObject({ error_type: null })
    await connection.close()
  })

  test('the last uses of keys that are there stay theirs', async () => {
    const location = await engine.locate()
    const connection = await openBare(location)
    const before = Object.entries(migrationsFor(engine.name)).filter(([name]) => name < '0027')
    await migrate(connection, OPTIONS, Object.fromEntries(before))
    const [used, unused, revoked] = ['a', 'b', 'c'].map((digit) => digit.repeat(64))
    await sql`insert into workspaces (id, slug, name, created_at, created_by, updated_at) values ('w', 'w', 'w', ${AT}, 'ada', ${AT})`.execute(
      connection.kysely,
    )
    for (const hash of [used, unused, revoked])
      await sql`insert into api_keys (hash, digest, kind, name, label, workspace_id, creator_user_id, disabled, include_byok_in_limit, created_at, deleted_at)
        values (${hash}, ${hash}, 'inference', 'k', 'pb_inf_…1234', 'w', 'ada', 0, 0, ${AT}, ${hash === revoked ? AT : null})`.execute(
        connection.kysely,
      )
    for (const hash of [used, revoked])
      await sql`insert into key_uses (key_hash, last_used_at) values (${hash}, ${AT})`.execute(connection.kysely)
    await migrate(connection, OPTIONS)
    const rows = await connection.kysely.selectFrom('api_keys').select(['hash', 'last_used_at']).orderBy('hash').execute()
    expect(rows.map(({ last_used_at }) => last_used_at)).toEqual([AT, '', AT])
    await connection.close()
  })

  test('days have the cached tokens of before', async () => {
    const connection = await openBare(await engine.locate())
    const before = Object.entries(migrationsFor(engine.name)).filter(([name]) => name < '0033')
    await migrate(connection, OPTIONS, Object.fromEntries(before))
    for (const [hour, provider, cached] of [
      ['2026-11-19T10', 'p', 3],
      ['2026-11-19T11', 'p', 4],
      ['2026-11-19T10', 'q', 5],
      ['2026-11-20T10', 'p', 6],
    ] as const)
      await sql`insert into usage_hours (hour, workspace_id, key_hash, user_id, model, provider, preset_id, preset_version, interface, error_type, tokens_cache_read)
        values (${hour}, 'w', 'k', '', 'm', ${provider}, '', 0, '', '', ${cached})`.execute(connection.kysely)
    for (const [date, provider] of [
      ['2026-11-18', 'p'],
      ['2026-11-19', 'p'],
      ['2026-11-19', 'q'],
    ] as const)
      await sql`insert into activity_days (day, workspace_id, key_hash, model, provider, requests, tokens_prompt, tokens_completion, tokens_reasoning, cost_nanos, byok_cost_nanos)
        values (${date}, 'w', 'k', 'm', ${provider}, 1, 9, 9, 0, 1, 0)`.execute(connection.kysely)
    await migrate(connection, OPTIONS)
    const days = await connection.kysely.selectFrom('activity_days').select('tokens_cached').orderBy('day').orderBy('provider').execute()
    expect(days.map(({ tokens_cached }) => tokens_cached)).toEqual([0, 7, 5])
    await connection.close()
  })

  test('what a workspace had and spent before is counted, and processes of the version before still add to it', async () => {
    const location = await engine.locate()
    const connection = await openBare(location)
    const before = Object.entries(migrationsFor(engine.name)).filter(([name]) => name < '0030')
    await migrate(connection, OPTIONS, Object.fromEntries(before))
    for (const workspace of ['v', 'w'])
      await sql`insert into workspaces (id, slug, name, created_at, created_by, updated_at) values (${workspace}, ${workspace}, 'x', ${AT}, 'ada', ${AT})`.execute(
        connection.kysely,
      )
    const day = (hash: string, date: string, nanos: number) =>
      sql`insert into key_usage_days (key_hash, day, cost_nanos, byok_cost_nanos, requests, tokens) values (${hash}, ${date}, ${nanos}, 7, 1, 1)
        on conflict (key_hash, day) do update set cost_nanos = key_usage_days.cost_nanos + excluded.cost_nanos`.execute(connection.kysely)
    for (const [hash, workspace, revokedAt] of [
      ['a'.repeat(64), 'w', null],
      ['b'.repeat(64), 'w', AT],
      ['c'.repeat(64), 'v', null],
    ] as const) {
      await sql`insert into api_keys (hash, digest, kind, name, label, workspace_id, creator_user_id, disabled, include_byok_in_limit, created_at, deleted_at)
        values (${hash}, ${hash}, 'inference', 'k', 'pb_inf_…1234', ${workspace}, 'ada', 0, 0, ${AT}, ${revokedAt})`.execute(
        connection.kysely,
      )
      for (const date of ['2025-01-01', '2026-11-19']) await day(hash, date, 2_000_000_000)
    }
    for (const user of ['ada', 'bob'])
      await sql`insert into workspace_members (id, workspace_id, user_id, role, created_at) values (${user}, 'w', ${user}, 'member', ${AT})`.execute(
        connection.kysely,
      )
    for (const [id, status] of [
      ['1', 'active'],
      ['2', 'active'],
      ['3', 'archived'],
    ] as const)
      await sql`insert into presets (id, workspace_id, slug, name, status, creator_user_id, last_version, designated_version_id, labels, created_at, updated_at)
        values (${id}, 'w', ${id}, ${id}, ${status}, 'ada', 1, ${id}, '{}', ${AT}, ${AT})`.execute(connection.kysely)
    await sql`insert into audit_log (id, created_at, workspace_id, user_id, action, object_type, object_id) values ('1', ${AT}, 'v', 'ada', 'created', 'preset', '1')`.execute(
      connection.kysely,
    )
    await migrate(connection, OPTIONS)
    const counts = await connection.kysely.selectFrom('workspace_counts').selectAll().orderBy('workspace_id').orderBy('counted').execute()
    expect(counts.map(({ workspace_id, counted, amount }) => [workspace_id, counted, amount])).toEqual([
      ['v', 'audit_log', 1],
      ['v', 'keys', 1],
      ['w', 'keys', 1],
      ['w', 'members', 2],
      ['w', 'presets/active', 2],
      ['w', 'presets/archived', 1],
    ])
    const spend = async () =>
      (await connection.kysely.selectFrom('workspace_spend').select('cost_nanos').orderBy('workspace_id').execute()).map(
        ({ cost_nanos }) => cost_nanos,
      )
    expect(await spend()).toEqual([4_000_000_000, 8_000_000_000])
    // A SQLite database is used by one process only, which was replaced.
    if (engine.name === 'postgres') {
      await day('a'.repeat(64), '2026-11-19', 30)
      await day('a'.repeat(64), '2026-11-20', 500)
      expect(await spend()).toEqual([4_000_000_000, 8_000_000_530])
    }
    await connection.close()
  })
})
