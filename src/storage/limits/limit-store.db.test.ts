/** Redis and PostgreSQL count limits alike, each by its own clock. */
import { createServer, type AddressInfo } from 'node:net'

import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sql } from 'kysely'

import { describeEachEngine } from '../../../test/support/databases.ts'
import { patient } from '../../../test/support/patience.ts'
import { HAS_REDIS, startRedis } from '../../../test/support/redis.ts'
import { until } from '../../../test/support/started-service.ts'
import { openRedis } from '../redis-client.ts'
import { rejection } from '../testing/rejection.ts'
import { type Claim, type LimitStore, readVerdict } from './limit-store.ts'
import { createRedisLimits } from './redis-limits.ts'

type Open = (node: string) => Promise<LimitStore>

const claim = (hash: string, bounds: Partial<Claim>): Claim => ({
  hash,
  concurrency: 0,
  tokensPerMinute: 0,
  requestsPerMinute: 0,
  running: 1,
  ...bounds,
})

let keys = 0
const newKey = (): string => `key-${(keys += 1)}`

const suite = (open: Open): void => {
  test('a rate is counted exactly over all nodes: that many are admitted at once, and the next gets the time to wait', async () => {
    const nodes = [await open('a'), await open('b'), await open('c')]
    const asked = claim(newKey(), { requestsPerMinute: 60 })
    const outcomes = await Promise.all(Array.from({ length: 180 }, async (_, index) => nodes[index % 3]?.enter(asked)))
    const refused = outcomes.filter((outcome) => outcome !== null)
    // While they were asked, a few became available again, at one per second.
    expect(refused.length).toBeLessThanOrEqual(120)
    expect(refused.length).toBeGreaterThan(110)
    const [first] = refused
    expect(first).toMatchObject({ bound: 'requests', remaining: 0 })
    expect(first?.retryAfterMs).toBeGreaterThan(0)
    expect(first?.retryAfterMs).toBeLessThanOrEqual(1000)
    expect(first?.resetMs).toBeGreaterThan(50_000)
    expect(first?.resetMs).toBeLessThanOrEqual(60_000)
  })

  test('tokens that were counted later are owed by all nodes, and what is given back is there again', async () => {
    const [one, other] = [await open('a'), await open('b')]
    const asked = claim(newKey(), { tokensPerMinute: 1000 })
    expect(await one.enter(asked)).toBeNull()
    await one.correct([{ ...asked, running: 0, usedTokens: 2999, usedRequests: 0 }])
    const refused = await other.enter(asked)
    expect(refused).toMatchObject({ bound: 'tokens', remaining: 0 })
    expect(refused?.retryAfterMs).toBeGreaterThan(110_000)
    expect(refused?.retryAfterMs).toBeLessThanOrEqual(121_000)
    await other.correct([{ ...asked, running: 0, usedTokens: -2999, usedRequests: 0 }])
    expect(await one.enter(asked)).toBeNull()
  })

  test('what is refused by one bound takes nothing of another', async () => {
    const store = await open('a')
    const hash = newKey()
    const asked = claim(hash, { tokensPerMinute: 1, requestsPerMinute: 1000 })
    expect(await store.enter(asked)).toBeNull()
    for (let time = 0; time < 5; time += 1) expect(await store.enter(asked)).toMatchObject({ bound: 'tokens' })
    const requestsAlone = claim(hash, { requestsPerMinute: 1000 })
    const before = Array.from({ length: 999 }, () => store.enter(requestsAlone))
    expect((await Promise.all(before)).filter((outcome) => outcome !== null)).toEqual([])
  })

  test('as many run at once as a key may have, over all nodes, whatever the order of the questions', async () => {
    const nodes = [await open('a'), await open('b')]
    const hash = newKey()
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, async (_, index) =>
        nodes[index % 2]?.enter(claim(hash, { concurrency: 10, running: Math.floor(index / 2) + 1 })),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(10)
    expect(outcomes.find((outcome) => outcome !== null)).toMatchObject({ bound: 'concurrency' })
    // If one node ends all its requests, the other may have that many more.
    await nodes[0]?.correct([{ ...claim(hash, { concurrency: 10, running: 0 }), usedTokens: 0, usedRequests: 0 }])
    expect(await nodes[1]?.enter(claim(hash, { concurrency: 10, running: 6 }))).toBeNull()
    expect(await nodes[0]?.enter(claim(hash, { concurrency: 10, running: 5 }))).toMatchObject({ bound: 'concurrency' })
  })

  test('a key with another limit begins anew, and so does another key', async () => {
    const store = await open('a')
    const hash = newKey()
    expect(await store.enter(claim(hash, { requestsPerMinute: 1 }))).toBeNull()
    expect(await store.enter(claim(hash, { requestsPerMinute: 1 }))).not.toBeNull()
    expect(await store.enter(claim(hash, { requestsPerMinute: 2 }))).toBeNull()
    expect(await store.enter(claim(newKey(), { requestsPerMinute: 1 }))).toBeNull()
  })

  test('each node hears what the others last said of their places, whole, until they have been silent for a while', async () => {
    const [one, other, third] = [await open('place-1'), await open('place-2'), await open('place-3')]
    const reported = JSON.stringify({ words: 'one % two "three" \u4f60', more: 'x'.repeat(20_000) })
    expect(await one.exchangePlaces('early')).toEqual([])
    expect(await other.exchangePlaces('second')).toEqual(['early'])
    expect(await one.exchangePlaces(reported)).toEqual(['second'])
    expect((await third.exchangePlaces('third')).toSorted()).toEqual(['second', reported].toSorted())
    // Many exchanges at once: none waits for another, and none is lost.
    const rounds = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => [one, other, third][index % 3]?.exchangePlaces('again')),
    )
    expect(rounds.filter((heard) => heard?.length !== 2)).toEqual([])
    await until(async () => (await one.exchangePlaces('still here')).length === 0, 'the silence of the others', patient(5000))
  })

  test('under any use, over any nodes, a rate of n a minute lets in n at once and no more than time gives back', async () => {
    const nodes = [await open('a'), await open('b')]
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.record({ node: fc.nat(1), tokens: fc.integer({ min: 0, max: 20 }) }), { minLength: 1, maxLength: 30 }),
        async (limit, steps) => {
          const asked = claim(newKey(), { requestsPerMinute: limit, tokensPerMinute: 1000 })
          const startedAt = performance.now()
          let admitted = 0
          for (const { node, tokens } of steps) {
            if ((await nodes[node]?.enter(asked)) !== null) continue
            admitted += 1
            await nodes[node]?.correct([{ ...asked, running: 0, usedTokens: tokens - 1, usedRequests: 0 }])
          }
          const givenBack = ((performance.now() - startedAt) / 60_000) * limit
          expect(admitted).toBeLessThanOrEqual(limit + givenBack + 1)
          expect(admitted).toBeGreaterThanOrEqual(Math.min(limit, steps.length))
        },
      ),
      { numRuns: 25 },
    )
  })
}

const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closers) await close()
})

describe.skipIf(!HAS_REDIS)('limits in Redis', () => {
  const redis = HAS_REDIS ? startRedis() : null
  suite(async (node) => {
    const store = createRedisLimits({ url: (await redis)?.url ?? '', prefix: 'test:', node })
    await store.connect()
    closers.push(store.close)
    return store
  })

  test('a server that reads and does not write is away until it writes again', async () => {
    const { url, stop } = await startRedis()
    const [store, admin] = [createRedisLimits({ url, prefix: 'test:', node: 'a' }), await openRedis(url)]
    await store.connect()
    await store.ping()
    await admin.send('REPLICAOF', ['127.0.0.1', '1'])
    expect(await store.ping().then(() => 'written', String)).toContain('READONLY')
    await admin.send('REPLICAOF', ['NO', 'ONE'])
    await store.ping()
    admin.close()
    await store.close()
    await stop()
  })
})

describe.skipIf(!HAS_REDIS)('what is kept in Redis', () => {
  test('has the prefix of the service, goes by itself, and is given back by a node that is silent', async () => {
    const { url, stop } = await startRedis()
    const [store, admin] = [createRedisLimits({ url, prefix: 'test:', node: 'a' }), await openRedis(url)]
    await store.connect()
    const asked = claim('k', { concurrency: 1, tokensPerMinute: 60, requestsPerMinute: 60 })
    expect(await store.enter(asked)).toBeNull()
    await store.exchangePlaces('a')
    const names = ((await admin.send('KEYS', ['*'])) as string[]).toSorted()
    expect(names).toEqual(['test:places', 'test:{k} requests 60', 'test:{k} running', 'test:{k} tokens 60'])
    for (const name of names) expect(Number(await admin.send('PTTL', [name]))).toBeWithin(1, 10_001)
    await store.correct([{ ...asked, running: 0, usedTokens: 0, usedRequests: 0 }])
    await admin.send('HSET', ['test:{k} running', 'silent', '1 1', 'other', `1 ${Date.now() * 1000 + 60_000_000}`])
    expect(await store.enter(asked)).toMatchObject({ bound: 'concurrency' })
    expect(await store.enter({ ...asked, concurrency: 2 })).toBeNull()
    admin.close()
    await store.close()
    await stop()
  })
})

test.each([[[0, 0, 0]], [[1, -1, 0, 0]], [[4, 0, 0, 0]], [['no', 0, 0, 0]], [[-1, 0, 0, 0]]])(
  '%j is no answer of a store of limits',
  (answer) => {
    expect(() => readVerdict(answer)).toThrow('does not answer as it should')
  },
)

describe.skipIf(!HAS_REDIS)('a user of Redis', () => {
  test('who may write and run no scripts finds it away, until he may', async () => {
    const { url, stop } = await startRedis()
    const admin = await openRedis(url)
    const permit = (permission: string) => admin.send('ACL', ['SETUSER', 'weak', 'on', '>secret', '~*', '+@all', permission])
    await permit('-evalsha')
    const store = createRedisLimits({ url: url.replace('//', '//weak:secret@'), prefix: 'test:', node: 'a' })
    await store.connect()
    expect(await store.ping().then(() => 'written', String)).toContain('NOPERM')
    await permit('+evalsha')
    await store.ping()
    admin.close()
    await store.close()
    await stop()
  })
})

describeEachEngine('limits in the database', (engine) => {
  if (engine.name === 'sqlite') {
    test('a SQLite file has one process, which counts by itself', async () => {
      expect((await engine.open()).server).toBeNull()
    })
    return
  }
  const location = engine.locate()
  suite(async (node) => {
    const { server } = await engine.open(await location)
    if (server === null) throw new Error('PostgreSQL has a server')
    return server.openLimits(node)
  })

  test('a server that reads and does not write is away until it writes again', async () => {
    const { kysely, server } = await engine.open()
    const setReadOnly = (value: 'on' | 'off') =>
      sql`do ${sql.lit(`begin execute format('alter database %I set default_transaction_read_only = ${value}', current_database()); end`)}`.execute(
        kysely,
      )
    const store = server?.openLimits('a')
    await setReadOnly('on')
    expect(await store?.ping().then(() => 'written', String)).toContain('read-only')
    const ask = async () => store?.enter(claim(newKey(), { requestsPerMinute: 1 })).then(() => 'admitted', String)
    const asked = [ask(), ask()]
    for (const outcome of await Promise.all(asked)) expect(outcome).toContain('read-only')
    await setReadOnly('off')
    await store?.ping()
  })

  test('a report is valid anew each time, and a rate is forgotten only when it was whole again for a minute', async () => {
    const { kysely, server } = await engine.open()
    const store = server?.openLimits('a')
    await store?.exchangePlaces('first')
    await sql`update limit_places set lease_until = clock_timestamp() - interval '1 hour'`.execute(kysely)
    await store?.exchangePlaces('second')
    const { rows } = await sql<{ valid: boolean }>`select lease_until > clock_timestamp() as valid from limit_places`.execute(kysely)
    expect(rows).toEqual([{ valid: true }])
    await sql`insert into limit_places values ('silent', clock_timestamp() - interval '1 second', 'of before')`.execute(kysely)
    expect(await store?.exchangePlaces('third')).toEqual([])
    for (const [name, agoS] of [
      ['used', -3600],
      ['whole', 30],
      ['forgotten', 3600],
    ] as const)
      await sql`insert into limit_rates values (${name}, extract(epoch from clock_timestamp()) - ${agoS})`.execute(kysely)
    for (let time = 0; time < 100; time += 1) await store?.correct([])
    const kept = await sql<{ name: string }>`select name from limit_rates order by name`.execute(kysely)
    expect(kept.rows.map(({ name }) => name)).toEqual(['used', 'whole'])
  })
})

test('a Redis that accepts connections and then says nothing is left with one of them, and with none in the end', async () => {
  const asked: PromiseWithResolvers<void>[] = []
  const gone: Promise<void>[] = []
  const server = createServer((socket) => {
    const scripts = Promise.withResolvers<void>()
    asked.push(scripts)
    gone.push(new Promise((resolve) => socket.once('close', () => resolve())))
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write('%1\r\n$5\r\nproto\r\n:3\r\n')
      socket.once('data', () => scripts.resolve())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const store = createRedisLimits({ url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, prefix: 'p', node: 'a' })
  const attempts: Promise<unknown>[] = []
  for (let made = 1; made <= 3; made += 1) {
    attempts.push(rejection(store.connect()))
    await until(() => asked.length === made, 'the connection', patient(2000))
    await asked.at(-1)?.promise
  }
  await store.close()
  for (const outcome of await Promise.all(attempts)) expect(outcome).toBeInstanceOf(Error)
  await Promise.all(gone)
  server.close()
})
