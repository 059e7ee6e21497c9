import { expect, test } from 'bun:test'
import { CompiledQuery, type Kysely, type KyselyPlugin, sql } from 'kysely'

import { describeEachEngine, describeEachSettler } from '../../../test/support/databases.ts'
import { testSeal } from '../../../test/support/test-seal.ts'
import type { Database } from '../database.ts'
import type { Schema } from '../tables/schema.ts'
import { createWaitingTraceStore, type WaitingTrace } from './waiting-trace-store.ts'

const [T0, T1, T2, T3] = [0, 1, 2, 3].map((minute) => `2026-11-20T10:0${minute}:00.000Z`) as [string, string, string, string]

const trace = (id: string, more: Partial<WaitingTrace> = {}): WaitingTrace => ({
  id,
  destinationId: 'd-1',
  createdAt: T0,
  text: `{"said":"a secret of ${id} \ud800"}`,
  path: `a/${id}.json`,
  ...more,
})

describeEachSettler('waiting traces', (engine) => {
  test('are sealed, and come back as they were, the oldest first, to one process at a time', async () => {
    const database = await engine.open()
    const store = createWaitingTraceStore(database, testSeal)
    const first = { holder: 'one', until: T1 }
    await store.write([trace('b', { createdAt: T1 }), trace('a'), trace('other', { destinationId: 'd-2' })], [], first)
    // Written again after an apparent failure.
    await store.write([trace('a')], [], first)
    const rows = await database.kysely.selectFrom('traces_waiting').selectAll().execute()
    expect(rows).toHaveLength(3)
    expect(JSON.stringify(rows)).not.toContain('secret')
    // While its process holds them, nobody else can take them.
    expect((await store.take(['d-1', 'd-2'], T0, 10, { holder: 'two', until: T2 })).read).toEqual([])
    const taken = await Promise.all(['two', 'three'].map(async (holder) => (await store.take(['d-1'], T2, 10, { holder, until: T3 })).read))
    expect(taken.flat().toSorted((one, other) => (one.id < other.id ? -1 : 1))).toEqual([trace('a'), trace('b', { createdAt: T1 })])
    expect(taken.filter((some) => some.length > 0)).toHaveLength(1)
  })

  test('are held as long as their process says so, handed on, and removed', async () => {
    const database = await engine.open()
    const store = createWaitingTraceStore(database, testSeal)
    await store.write([trace('a'), trace('b')], [], { holder: 'one', until: T1 })
    await store.write([], [], { holder: 'one', until: T3 })
    const other = { holder: 'two', until: T3 }
    expect((await store.take(['d-1'], T2, 10, other)).read).toEqual([])
    await store.release('nobody')
    expect((await store.take(['d-1'], T2, 10, other)).read).toEqual([])
    await store.release('one')
    expect((await store.take(['d-1'], T2, 1, other)).read).toHaveLength(1)
    await store.release(null)
    await store.write([], ['a', 'never there'], other)
    expect((await store.take(['d-1'], T2, 10, other)).read.map(({ id }) => id)).toEqual(['b'])
    expect((await store.read(['a', 'b', 'never there'])).read.map(({ id }) => id)).toEqual(['b'])
    await store.write([trace('new', { createdAt: T2 })], [], other)
    expect([await store.deleteOlderThan(T1, 10), await store.deleteOlderThan(T1, 10)]).toEqual([1, 0])
    // A process that is gone is deleted once no trace of its own waits.
    expect((await database.kysely.selectFrom('trace_senders').select('id').execute()).map(({ id }) => id)).toEqual(['two'])
  })

  test('are taken up in all to the number that was asked for, the oldest of each destination first', async () => {
    const store = createWaitingTraceStore(await engine.open(), testSeal)
    const inOther = { destinationId: 'd-2' }
    await store.write([trace('b', { createdAt: T1 }), trace('a')], [], { holder: 'one', until: T1 })
    await store.write([trace('d', { ...inOther, createdAt: T1 }), trace('c', inOther)], [], { holder: 'two', until: T1 })
    const idsOf = async (most: number) =>
      (await store.take(['d-1', 'd-2'], T2, most, { holder: 'own', until: T3 })).read.map(({ id }) => id).toSorted()
    const first = await idsOf(1)
    expect(['a', 'c']).toContain(first[0] ?? '')
    const next = await idsOf(2)
    expect([first.length, next.length]).toEqual([1, 2])
    expect([...first, ...next, ...(await idsOf(10))].toSorted()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('are left to a process that is back before they are taken', async () => {
    const database = await engine.open()
    const own = createWaitingTraceStore(database, testSeal)
    const back = { holder: 'one', until: T3 }
    /** Another process, which takes the first one for gone just before that writes again. */
    const takenMeanwhile = async (sent: readonly string[]) => {
      await own.write([trace('a')], [], { ...back, until: T1 })
      const other = createWaitingTraceStore(
        {
          ...database,
          async transaction(work, durability) {
            await own.write([], sent, back)
            return database.transaction(work, durability)
          },
        },
        testSeal,
      )
      return (await other.take(['d-2', 'd-1'], T2, 10, { holder: 'two', until: T3 })).read
    }
    const holders = async () => (await database.kysely.selectFrom('trace_senders').select('id').orderBy('id').execute()).map(({ id }) => id)
    expect([await takenMeanwhile([]), await holders()]).toEqual([[], ['one', 'two']])
    expect([await takenMeanwhile(['a']), await holders()]).toEqual([[], ['one', 'two']])
  })

  test('of a process that was taken for gone are its own again as soon as it writes', async () => {
    const store = createWaitingTraceStore(await engine.open(), testSeal)
    await store.write([trace('a')], [], { holder: 'one', until: T0 })
    expect((await store.take(['d-1'], T1, 10, { holder: 'two', until: T3 })).read).toHaveLength(1)
    await store.write([trace('b')], [], { holder: 'one', until: T2 })
    expect((await store.take(['d-1'], T1, 10, { holder: 'two', until: T3 })).read).toEqual([])
    expect((await store.take(['d-1'], T3, 10, { holder: 'three', until: T3 })).read.map(({ id }) => id)).toEqual(['b'])
  })
})

describeEachEngine('many waiting traces', (engine) => {
  test('cost no more than few: no row of one that goes on waiting is written or looked at', async () => {
    const database = await engine.open()
    await countWrites(database, 'traces_waiting')
    const { watched, plans } = watchPlans(database)
    const store = createWaitingTraceStore(watched, testSeal)
    const own = { holder: 'own', until: T3 }
    /** Everything that a process does by itself while its destination is down and another process's traces wait for a third one. */
    const tick = async (name: string) => {
      await store.write([trace(name)], [], own)
      await store.write([], [], own)
      const { read: taken } = await store.take(['d-1'], T2, 100, own)
      return { taken, written: await writesSince(database) }
    }
    const add = async (from: number, to: number) => {
      const names = Array.from({ length: to - from }, (_, at) => `w-${from + at}`)
      await store.write(
        names.map((name) => trace(name)),
        [],
        own,
      )
      await store.write(
        names.map((name) => trace(`other ${name}`, { destinationId: 'd-2' })),
        [],
        { holder: 'gone', until: T1 },
      )
      await writesSince(database)
    }
    await add(0, 10)
    expect(await tick('few')).toEqual({ taken: [], written: 1 })
    await add(10, 2000)
    expect(await tick('many')).toEqual({ taken: [], written: 1 })
    const names = Array.from({ length: 2000 }, (_, at) => `w-${at}`)
    expect((await store.read(names)).read).toHaveLength(2000)
    await store.write([], names, own)
    expect((await store.read(names)).read).toEqual([])
    const looked = await plans()
    expect(looked).not.toEqual([])
    expect(looked.filter((line) => READS_ALL.test(line))).toEqual([])
  })
})

/** A plan that reads a whole table, or sorts its result: its work grows with the rows. */
const READS_ALL = /SCAN traces_waiting|TEMP B-TREE|Seq Scan on traces_waiting|Sort/

/** Counts the rows of a table that any connection writes. */
const countWrites = async ({ engine, kysely }: Database, table: string): Promise<void> => {
  await sql`create table rows_written (event text)`.execute(kysely)
  const count = sql`insert into rows_written values ('written');`
  if (engine === 'sqlite') {
    for (const event of ['insert', 'update', 'delete']) {
      await sql`create trigger ${sql.id(`count_${event}`)} after ${sql.raw(event)} on ${sql.table(table)} begin ${count} end`.execute(
        kysely,
      )
    }
    return
  }
  await sql`create function count_row() returns trigger language plpgsql as $$ begin ${count} return null; end $$`.execute(kysely)
  await sql`create trigger count_rows after insert or update or delete on ${sql.table(table)} for each row execute function count_row()`.execute(
    kysely,
  )
}

const writesSince = async ({ kysely }: Database): Promise<number> => {
  const { numAffectedRows } = await sql`delete from rows_written`.execute(kysely)
  return Number(numAffectedRows ?? 0)
}

/** The same database; `plans` returns the plan of each statement that it was given. */
const watchPlans = (database: Database): { readonly watched: Database; readonly plans: () => Promise<readonly string[]> } => {
  const statements = new Map<string, CompiledQuery>()
  const spy: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      const compiled = database.kysely.getExecutor().compileQuery(node, queryId)
      if (compiled.sql.includes('traces_waiting')) statements.set(compiled.sql, compiled)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const explained = async (connection: Kysely<Schema>): Promise<readonly string[]> => {
    const lines: string[] = []
    for (const statement of statements.values()) lines.push(...(await explain(database, connection, statement)))
    return lines
  }
  return {
    watched: {
      ...database,
      kysely: database.kysely.withPlugin(spy),
      transaction: (work, durability) => database.transaction((transaction) => work(transaction.withPlugin(spy)), durability),
    },
    plans: () => database.kysely.connection().execute(explained),
  }
}

const explain = async (
  { engine }: Database,
  connection: Kysely<Schema>,
  { sql: text, parameters }: CompiledQuery,
): Promise<readonly string[]> => {
  const how = engine === 'sqlite' ? 'explain query plan' : 'explain'
  // PostgreSQL reads a small table as a whole, whatever indexes it has.
  if (engine === 'postgres') await sql`set enable_seqscan = off`.execute(connection)
  const { rows } = await connection.executeQuery<Record<string, unknown>>(CompiledQuery.raw(`${how} ${text}`, [...parameters]))
  return rows.map((row) => String(row['detail'] ?? row['QUERY PLAN']))
}
