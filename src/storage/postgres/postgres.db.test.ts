import { connect, createServer, type Server, type Socket } from 'node:net'

import { afterAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { Client } from 'pg'

import { describeEachEngine } from '../../../test/support/databases.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Database } from '../database.ts'
import { auditLedger } from '../ledger/ledger-audit.ts'
import { createNodeBoard } from '../nodes/node-board.ts'
import { type DatabaseLocation, openDatabase } from '../open-database.ts'
import { StorageUnavailable } from '../storage-errors.ts'
import { preparePresets } from '../testing/preset-input.ts'
import { rejection, rejectionText } from '../testing/rejection.ts'
import { patient } from '../../../test/support/patience.ts'
import { until } from '../../../test/support/started-service.ts'
import { startTcpRelay } from '../../../test/support/tcp-relay.ts'

const servers: Server[] = []
afterAll(() => servers.forEach((server) => server.close()))

const listen = async (answer: (socket: Socket) => void = () => undefined): Promise<number> => {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const openUrl = (databaseUrl: string) => openDatabase({ databaseUrl, dataDir: '', exclusive: true, onError: () => {} })

test('StorageUnavailable when nothing listens there, without the password in the sentence', async () => {
  const port = await listen()
  servers.pop()?.close()
  const opening = openUrl(`postgres://user:hunter2@127.0.0.1:${port}/db`)
  expect(await rejection(opening)).toBeInstanceOf(StorageUnavailable)
  expect(await rejectionText(opening)).not.toContain('hunter2')
})

test('StorageUnavailable after five seconds when what listens there never answers', async () => {
  const start = performance.now()
  expect(await rejection(openUrl(`postgres://user@127.0.0.1:${await listen()}/db`))).toBeInstanceOf(StorageUnavailable)
  expect(performance.now() - start).toBeLessThan(patient(6000))
})

test('another kind of URL is refused', async () => {
  expect(await rejection(openUrl('mysql://root:hunter2@localhost/db'))).toMatchObject({
    name: 'StorageRefused',
    message: 'The database URL must start with postgres:// or postgresql://.',
  })
})

test('a server that asks for a password, if there is none, is told apart in a sentence', async () => {
  const challenge = Buffer.from('R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0', 'latin1')
  const first = Buffer.from('R\0\0\0\x1f\0\0\0\x0br=abc,s=c2FsdA==,i=4096', 'latin1')
  const port = await listen((socket) => {
    socket.once('data', () => {
      socket.write(challenge)
      socket.once('data', () => socket.write(first))
    })
    socket.on('error', () => undefined)
  })
  expect(await rejection(openUrl(`postgres://user@127.0.0.1:${port}/db`))).toMatchObject({
    name: 'StorageRefused',
    message: 'The server asks for a password, and neither the database URL nor PGPASSWORD has one.',
  })
})

/** Answers the first message of a client as PgBouncer does if the message has a setting that it does not know. */
const listenAsPooler = async (): Promise<number> => {
  const fields = ['SFATAL', 'VFATAL', 'C08P01', 'Munsupported startup parameter: statement_timeout', '']
    .map((field) => `${field}\0`)
    .join('')
  const answer = Buffer.alloc(5 + fields.length)
  answer.write('E')
  answer.writeUInt32BE(4 + fields.length, 1)
  answer.write(fields, 5)
  return listen((socket) => socket.once('data', () => socket.end(answer)).on('error', () => undefined))
}

const BEHIND_POOLER = { name: 'StorageRefused', message: expect.stringContaining('such as PgBouncer') }

test('a pooler that refuses the time limits of connections is named as the fault', async () => {
  expect(await rejection(openUrl(`postgres://user@127.0.0.1:${await listenAsPooler()}/db`))).toMatchObject(BEHIND_POOLER)
})

const setForDatabase = async ({ databaseUrl }: DatabaseLocation, setting: string): Promise<void> => {
  const client = new Client({ connectionString: databaseUrl ?? '' })
  await client.connect()
  await client.query(`do $$ begin execute format('alter database %I set ${setting.replaceAll("'", "''")}', current_database()); end $$`)
  await client.end()
}

describeEachEngine('lost connections', (engine) => {
  if (engine.name === 'sqlite') return

  test('a connection without its time limits, as behind a pooler that drops them, is refused', async () => {
    const { databaseUrl } = await engine.locate()
    const { hostname, port } = new URL(databaseUrl ?? '')
    const pooler = await listen((socket) => {
      const onward = connect(Number(port), hostname)
      // In the first message, a setting of the same length that means nothing takes the place of the limit.
      socket.once('data', (bytes) => {
        onward.write(Buffer.from(bytes.toString('latin1').replace('lock_timeout', 'ignored.name'), 'latin1'))
        socket.on('data', (later) => void onward.write(later))
      })
      onward.on('data', (bytes) => void socket.write(bytes))
      socket.on('error', () => undefined).on('close', () => onward.destroy())
      onward.on('error', () => undefined).on('close', () => socket.destroy())
    })
    const url = new URL(databaseUrl ?? '')
    url.hostname = '127.0.0.1'
    url.port = String(pooler)
    expect(await rejection(openUrl(url.href))).toMatchObject(BEHIND_POOLER)
  })

  test("options of the URL are in effect, but not against the service's own limits: reports stay read-only, migrations have no limit", async () => {
    const { databaseUrl, dataDir } = await engine.locate()
    const options = '-c search_path=public,pg_temp -c statement_timeout=1 -c default_transaction_read_only=off'
    const location = { databaseUrl: `${databaseUrl}?options=${encodeURIComponent(options)}`, dataDir }
    const { kysely, reports } = await engine.open(location)
    const settings = sql<object>`select current_setting('search_path') as path, current_setting('statement_timeout') as statement,
      current_setting('default_transaction_read_only') as readonly`
    expect((await settings.execute(kysely)).rows).toEqual([{ path: 'public,pg_temp', statement: '5s', readonly: 'off' }])
    expect((await settings.execute(reports)).rows).toEqual([{ path: 'public,pg_temp', statement: '2500ms', readonly: 'on' }])
  })

  test('a database in another encoding than UTF8 is refused in a sentence', async () => {
    const { databaseUrl } = await engine.locate()
    const url = new URL(databaseUrl ?? '')
    const client = new Client({ connectionString: url.href })
    await client.connect()
    const name = `latin_${crypto.randomUUID().replaceAll('-', '')}`
    await client.query(`create database ${name} encoding 'LATIN1' template template0 locale_provider libc locale 'C'`)
    url.pathname = name
    try {
      expect(await rejection(openUrl(url.href))).toMatchObject({
        name: 'StorageRefused',
        message: 'The database must have the encoding UTF8, and this one has LATIN1.',
      })
    } finally {
      await client.query(`drop database ${name} with (force)`)
      await client.end()
    }
  })

  test('a role that may not create tables is refused in a sentence', async () => {
    const location = await engine.locate()
    const client = new Client({ connectionString: location.databaseUrl ?? '' })
    await client.connect()
    const role = `weak_${crypto.randomUUID().replaceAll('-', '')}`
    await client.query(`create role ${role} login`)
    const url = new URL(location.databaseUrl ?? '')
    url.username = role
    try {
      expect(await rejection(openUrl(url.href))).toMatchObject({
        name: 'StorageRefused',
        message: expect.stringContaining('create tables'),
      })
    } finally {
      await client.query(`drop role ${role}`)
      await client.end()
    }
  })

  test('a search_path without a schema that exists is refused in a sentence', async () => {
    const { databaseUrl } = await engine.locate()
    const url = `${databaseUrl}?options=${encodeURIComponent('-c search_path=missing')}`
    expect(await rejection(openUrl(url))).toMatchObject({ name: 'StorageRefused', message: expect.stringContaining('search_path') })
  })

  test('a time limit that the operator set for statements does not end a migration', async () => {
    const location = await engine.locate()
    await setForDatabase(location, 'statement_timeout = 1')
    await (await engine.open(location)).ping()
  })

  test('an audit of the ledger has no time limit, whatever one the operator set: it reads everything there is', async () => {
    const location = await engine.locate()
    await (await engine.open(location)).ping()
    await setForDatabase(location, 'lock_timeout = 1')
    await setForDatabase(location, 'statement_timeout = 1')
    const database = await engine.open(location)
    const limits: unknown[] = []
    const patiently: Database['patiently'] = (work) =>
      database.patiently(async (kysely) => {
        const { rows } =
          await sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`.execute(kysely)
        limits.push(...rows)
        return work(kysely)
      })
    expect(await auditLedger({ patiently }, '2026-11-22T00:00:00.000Z')).toEqual([])
    expect(limits).toEqual([{ statement: '0', lock: '0' }])
  })

  test('no connection ends because it is idle, whatever limit the operator set: a request that begins to use it would fail', async () => {
    const location = await engine.locate()
    await setForDatabase(location, 'idle_session_timeout = 1')
    const { kysely, reports } = await engine.open(location)
    const limit = sql`select current_setting('idle_session_timeout') as value`
    expect([(await limit.execute(kysely)).rows, (await limit.execute(reports)).rows]).toEqual([[{ value: '0' }], [{ value: '0' }]])
  })

  test('a database is migrated and used, whatever backslashes mean there by default', async () => {
    const location = await engine.locate()
    await setForDatabase(location, 'standard_conforming_strings = off')
    await (await engine.open(location)).ping()
  })

  test('the clock of the database is read exactly, whatever digits the operator set', async () => {
    const location = await engine.locate()
    await setForDatabase(location, 'extra_float_digits = -15')
    const { nowMs } = await createNodeBoard(await engine.open(location), 'one').exchange('')
    expect(Math.abs(nowMs - Date.now())).toBeLessThan(patient(60_000))
  })

  test('a database that is read-only by default is told apart from one that does not answer', async () => {
    const location = await engine.locate()
    await setForDatabase(location, 'default_transaction_read_only = on')
    expect(await rejection(engine.open(location))).toMatchObject({
      name: 'StorageUnavailable',
      message: expect.stringContaining('takes no writes, as a standby or one with default_transaction_read_only'),
    })
  })

  test('a transaction that waited for another sees what that one wrote, whatever isolation the operator set', async () => {
    const location = await engine.locate()
    await setForDatabase(location, "default_transaction_isolation = 'serializable'")
    const { kysely, transaction } = await engine.open(location)
    const lock = sql`select pg_advisory_xact_lock(1)`
    const locked = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const first = transaction(async (writing) => {
      await lock.execute(writing)
      locked.resolve()
      await released.promise
      await writing.insertInto('service_facts').values({ name: 'first', value: '' }).execute()
    })
    await locked.promise
    const second = transaction(async (reading) => {
      await lock.execute(reading)
      return reading.selectFrom('service_facts').select('name').where('name', '=', 'first').execute()
    })
    const waiting = sql`select 1 from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`
    await until(async () => (await waiting.execute(kysely)).rows.length === 1, 'the second one to wait', patient(1000))
    released.resolve()
    await first
    expect(await second).toEqual([{ name: 'first' }])
  })

  const terminateOthers = sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`

  test('every text of ours sorts by bytes, whatever the locale of the server', async () => {
    const { kysely } = await engine.open()
    const { rows } = await sql<{ collation: string | null }>`
      select distinct collation_name as collation from information_schema.columns
      where table_schema = current_schema() and data_type = 'text'`.execute(kysely)
    expect(rows).toEqual([{ collation: 'C' }])
  })

  test('an idle connection that dies is reported and replaced', async () => {
    const location = await engine.locate()
    const { promise: reported, resolve: onError } = Promise.withResolvers<Error>()
    const database = await engine.open(location, { onError })
    const other = await engine.open(location)
    await database.ping()
    await terminateOthers.execute(other.kysely)
    expect((await reported).message).toContain('terminating connection')
    await database.ping()
  })

  test('a read that the server ends while it runs is not run again', async () => {
    const { reports, kysely } = await engine.open()
    await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.05)`.execute(reports)))
    const read = rejection(sql`select pg_sleep(2) /* ended */`.execute(reports))
    const end = sql`select pg_terminate_backend(pid) from pg_stat_activity
      where query like '%/* ended */' and pid <> pg_backend_pid() and state = 'active' and clock_timestamp() > query_start + interval '0.3 s'`
    await until(async () => (await end.execute(kysely)).rows.length === 1, 'the read to run', patient(1000))
    expect(await read).toBeInstanceOf(StorageUnavailable)
  })

  test('connections that died while they were idle fail no read and no transaction, and no write is sent twice', async () => {
    const { databaseUrl } = await engine.locate()
    const relay = await startTcpRelay(databaseUrl ?? '')
    const { kysely, transaction } = await engine.open({ databaseUrl: relay.url, dataDir: '' })
    const write = (name: string) => kysely.insertInto('service_facts').values({ name, value: '' })
    const idle = async (): Promise<void> => {
      await Promise.all(Array.from({ length: 10 }, () => transaction((each) => sql`select pg_sleep(0.05)`.execute(each))))
      relay.forget()
    }
    await idle()
    await kysely.selectFrom('change_counter').select('value').executeTakeFirstOrThrow()
    await idle()
    await transaction((each) => each.insertInto('service_facts').values({ name: 'once', value: '' }).execute())
    await idle()
    expect(await rejection(write('never').execute())).toBeInstanceOf(StorageUnavailable)
    const facts = kysely.selectFrom('service_facts').select('name').where('name', 'in', ['once', 'never'])
    expect(await facts.execute()).toEqual([{ name: 'once' }])
    relay.close()
  })

  test('the server asks within a minute for a node whose machine is gone, so that it does not keep its locks for hours', async () => {
    const database = await engine.open()
    const asks = (kysely: Database['kysely']) =>
      sql<object>`select current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_user_timeout') as unread`.execute(kysely)
    const expected = [{ idle: '30', unread: '60000' }]
    expect((await asks(database.kysely)).rows).toEqual(expected)
    expect((await database.patiently(asks)).rows).toEqual(expected)
  })

  test('StorageUnavailable, and nothing written, when a connection dies within a transaction; the next one works', async () => {
    const location = await engine.locate()
    const database = await engine.open(location)
    const other = await engine.open(location)
    const { create, store, workspaceId } = await preparePresets(database)
    await create('bot')
    const interrupted = database.transaction(async (transaction) => {
      await transaction.updateTable('presets').set({ name: 'half' }).execute()
      await terminateOthers.execute(other.kysely)
      await transaction.updateTable('presets').set({ name: 'whole' }).execute()
    })
    expect(await rejection(interrupted)).toBeInstanceOf(StorageUnavailable)
    expect((await store.get(workspaceId, 'bot'))?.name).toBe('bot')
    expect((await create('bot')).kind).toBe('created')
  })

  test('StorageUnavailable as soon as the server has left one statement of a transaction unanswered: its rollback is not waited for as well', async () => {
    const { databaseUrl } = await engine.locate()
    const relay = await startTcpRelay(databaseUrl ?? '')
    const database = await engine.open({ databaseUrl: relay.url, dataDir: '' })
    const unanswered = Promise.withResolvers<void>()
    const hanging = rejection(
      database.transaction(async (transaction) => {
        await sql`select 1`.execute(transaction)
        relay.hang()
        await sql`select 1`.execute(transaction).finally(unanswered.resolve)
      }),
    )
    await unanswered.promise
    // It waits for a connection for some seconds, as a rollback would for its answer.
    const another = rejection(database.ping())
    expect(await Promise.race([hanging, another.then(() => 'later than that')])).toBeInstanceOf(StorageUnavailable)
    relay.close()
    await another
  })

  test('a transaction is tried again for the first failure of statements that were sent at once, not for what the others say of it', async () => {
    const { transaction } = await engine.open()
    let tries = 0
    const deadlock = sql`do ${sql.lit("begin raise exception 'deadlock' using errcode = '40P01'; end")}`
    await transaction(async (writing) => {
      tries += 1
      if (tries > 1) return
      const failing = deadlock.execute(writing)
      const failedToo = sql`select 1`.execute(writing)
      // A caller that waits for both may hear of either first.
      await failing.catch(() => undefined)
      await failedToo
    })
    expect(tries).toBe(2)
  })

  test('a connection that dies while its transaction waits for us does not end the process', async () => {
    const location = await engine.locate()
    const database = await engine.open(location)
    const other = await engine.open(location)
    const interrupted = database.transaction(async (transaction) => {
      await sql`select 1`.execute(transaction)
      await terminateOthers.execute(other.kysely)
      await Bun.sleep(50)
      await sql`select 1`.execute(transaction)
    })
    expect(await rejection(interrupted)).toBeInstanceOf(StorageUnavailable)
    await database.ping()
  })

  test('StorageUnavailable after a second when every connection of the pool is taken', async () => {
    const database = await engine.open()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const holding = Array.from({ length: 10 }, () => database.transaction(() => released))
    const start = performance.now()
    expect(await rejection(database.ping())).toBeInstanceOf(StorageUnavailable)
    expect(performance.now() - start).toBeLessThan(patient(2500))
    release()
    await Promise.all(holding)
    // The late permit was released, so all ten are free again.
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    let begun = 0
    const all = Array.from({ length: 10 }, () =>
      database.transaction(async () => {
        begun += 1
        if (begun === 10) end()
        await over
      }),
    )
    await Promise.all(all)
  })

  test('a process has fifteen connections at most, whatever it is asked for at once', async () => {
    const database = await engine.open()
    const { server } = database
    if (server === null) throw new Error('PostgreSQL is a server.')
    const stop = server.listen(systemClock, { heard: () => undefined, missed: () => undefined })
    const limits = server.openLimits('node')
    const asking = (kysely: typeof database.kysely) => Array.from({ length: 30 }, () => sql`select pg_sleep(0.02)`.execute(kysely))
    // On a busy machine some wait for a connection in vain: only the connections that exist count.
    await Promise.allSettled([...asking(database.kysely), ...asking(database.reports), limits.connect(), limits.ping()])
    const { rows } = await sql<{ connections: number }>`
      select count(*)::int as connections from pg_stat_activity
      where datname = current_database() and application_name = 'patchbay'`.execute(database.kysely)
    expect(rows[0]?.connections).toBeGreaterThan(3)
    expect(rows[0]?.connections).toBeLessThanOrEqual(15)
    stop()
  })

  test('StorageUnavailable where a server takes no writes, as a standby does, and its connection is not used again', async () => {
    const { kysely, transaction } = await engine.open()
    const process = sql<{ pid: number }>`select pg_backend_pid() as pid`
    const { rows: before } = await process.execute(kysely)
    const writing = transaction(async (transaction) => {
      await sql`set transaction read only`.execute(transaction)
      await transaction.updateTable('presets').set({ name: 'written' }).execute()
    })
    expect(await rejection(writing)).toBeInstanceOf(StorageUnavailable)
    expect((await process.execute(kysely)).rows).not.toEqual(before)
  })

  test('StorageUnavailable when a statement takes longer than it may', async () => {
    const database = await engine.open()
    const slow = database.kysely.connection().execute(async (connection) => {
      await sql`set statement_timeout = 20`.execute(connection)
      await sql`select pg_sleep(1)`.execute(connection)
    })
    expect(await rejection(slow)).toBeInstanceOf(StorageUnavailable)
  })

  test.each(['53100', '53200'])('StorageUnavailable when the server is out of disk or memory (%s)', async (code) => {
    const database = await engine.open()
    const full = sql`do ${sql.lit(`begin raise exception 'no room' using errcode = '${code}'; end`)}`.execute(database.kysely)
    expect(await rejection(full)).toBeInstanceOf(StorageUnavailable)
  })
})
