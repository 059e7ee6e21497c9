/** Cached answers in memory and in Redis: found until they expire, and never blocking a request. */
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { createFakeClock, turn } from '../../../test/support/fake-clock.ts'
import { HAS_REDIS, startRedis } from '../../../test/support/redis.ts'
import { systemClock } from '../../lib/clock.ts'
import { createMemoryAnswers } from './memory-answers.ts'
import { createRedisAnswers } from './redis-answers.ts'

describe('answers in memory', () => {
  test('are found until their time is over', () => {
    const clock = createFakeClock()
    const answers = createMemoryAnswers(10_000, clock)
    answers.keep('a', 'sealed', 1000)
    clock.advance(999)
    expect(answers.find('a')).toBe('sealed')
    clock.advance(1)
    expect([answers.find('a'), answers.bytes]).toEqual([null, 0])
  })

  test('go in the order in which they were last asked for, when there is no room', () => {
    const answers = createMemoryAnswers(1000, createFakeClock())
    for (const name of 'abc') answers.keep(name, 'x'.repeat(100), 1000)
    answers.find('a')
    answers.keep('d', 'x'.repeat(100), 1000)
    expect([...'abcd'].filter((name) => answers.find(name) !== null)).toEqual(['a', 'c', 'd'])
  })

  test('stay where another one is too large for all the room', () => {
    const answers = createMemoryAnswers(1000, createFakeClock())
    answers.keep('a', 'x'.repeat(100), 1000)
    answers.keep('b', 'x'.repeat(1000), 1000)
    expect([answers.find('a'), answers.find('b')]).toEqual(['x'.repeat(100), null])
  })

  test('property: never hold more than they may, and count what they hold', () => {
    const step = fc.tuple(fc.constantFrom('keep', 'drop', 'find'), fc.constantFrom(...'abcdef'), fc.nat(900), fc.nat(50))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const clock = createFakeClock()
        const answers = createMemoryAnswers(2000, clock)
        for (const [what, name, length, ms] of steps) {
          if (what === 'keep') answers.keep(name, 'x'.repeat(length), 40)
          else if (what === 'drop') answers.drop(name)
          else answers.find(name)
          clock.advance(ms)
          expect(answers.bytes).toBeLessThanOrEqual(2000)
        }
        for (const name of 'abcdef') answers.drop(name)
        expect(answers.bytes).toBe(0)
      }),
    )
  })
})

describe.skipIf(!HAS_REDIS)('answers in Redis', () => {
  const open = (url: string, prefix: string, reported: unknown[] = [], timeoutMs = 2000) =>
    createRedisAnswers({
      url,
      prefix,
      clock: systemClock,
      timeoutMs: () => timeoutMs,
      onAway: (thrown) => reported.push(thrown === null ? 'back' : 'away'),
    })

  /** Resolves when a server has so many connections beside that of the test. */
  const connectionsLeft = async (admin: Bun.RedisClient, count: number): Promise<void> => {
    for (;;) {
      const lines = String(await admin.send('CLIENT', ['LIST', 'TYPE', 'normal']))
        .trim()
        .split('\n')
      if (lines.length - 1 <= count) return
    }
  }

  test('are kept for their time, and no connection is left behind at the end', async () => {
    const { url } = await startRedis()
    const admin = new Bun.RedisClient(url)
    const [used, unused] = [open(url, 'p:'), open(url, 'p:')]
    await used.connect()
    used.keep('a', 'sealed', 60_000)
    expect(await used.find('a')).toBe('sealed')
    expect(Number(await admin.send('PTTL', ['p:a']))).toBeWithin(1, 60_001)
    const connecting = unused.connect()
    unused.close()
    used.close()
    await connecting
    await connectionsLeft(admin, 0)
    admin.close()
  })

  test('are none where it stops answering, and that connection is given up', async () => {
    const { url } = await startRedis()
    const admin = new Bun.RedisClient(url)
    const reported: unknown[] = []
    const answers = open(url, 'p:', reported, 50)
    await answers.connect()
    const server = Number(/process_id:(\d+)/.exec(String(await admin.send('INFO', ['server'])))?.[1])
    process.kill(server, 'SIGSTOP')
    expect([await answers.find('a'), reported]).toEqual([null, ['away']])
    process.kill(server, 'SIGCONT')
    await connectionsLeft(admin, 0)
    answers.close()
    admin.close()
  })

  test('are found by every node, under one prefix, until they are dropped', async () => {
    const { url } = await startRedis()
    const [one, two, other] = [open(url, 'p:'), open(url, 'p:'), open(url, 'q:')]
    await Promise.all([one.connect(), two.connect(), other.connect()])
    one.keep('a', 'sealed', 60_000)
    expect([await one.find('a'), await two.find('a'), await other.find('a'), await two.find('b')]).toEqual(['sealed', 'sealed', null, null])
    two.drop('a')
    expect(await two.find('a')).toBeNull()
    for (const each of [one, two, other]) each.close()
  })

  test('are none while it is away, without an error, and are there again when it is', async () => {
    const redis = await startRedis()
    const reported: unknown[] = []
    let nowMs = 0
    const answers = createRedisAnswers({
      url: redis.url,
      prefix: 'p:',
      clock: { after: systemClock.after, monotonicMs: () => nowMs },
      timeoutMs: () => 2000,
      onAway: (thrown) => reported.push(thrown === null ? 'back' : 'away'),
    })
    await answers.connect()
    answers.keep('a', 'sealed', 60_000)
    expect(await answers.find('a')).toBe('sealed')
    await redis.stop()
    answers.keep('b', 'sealed', 60_000)
    expect([await answers.find('a'), await answers.find('a')]).toEqual([null, null])
    await startRedis(Number(new URL(redis.url).port))
    nowMs += 1000
    await answers.connect()
    answers.keep('c', 'sealed', 60_000)
    expect([await answers.find('c'), reported]).toEqual(['sealed', ['away', 'back']])
    answers.close()
  })

  test('are none, and reported as away once, while it reads and takes nothing', async () => {
    const { url } = await startRedis()
    const admin = new Bun.RedisClient(url)
    const reported: unknown[] = []
    let nowMs = 0
    const answers = createRedisAnswers({
      url,
      prefix: 'p:',
      clock: { after: systemClock.after, monotonicMs: () => nowMs },
      timeoutMs: () => 2000,
      onAway: (thrown) => reported.push(thrown === null ? 'back' : 'away'),
    })
    await answers.connect()
    await admin.send('REPLICAOF', ['127.0.0.1', '1'])
    for (let round = 0; round < 5; round += 1) {
      nowMs += 1000
      await answers.connect()
      answers.keep('a', 'sealed', 60_000)
      expect(await answers.find('a')).toBeNull()
    }
    expect(reported).toEqual(['away'])
    // The first one, which nobody has used since.
    await connectionsLeft(admin, 1)
    await admin.send('REPLICAOF', ['NO', 'ONE'])
    await answers.connect()
    answers.keep('a', 'sealed', 60_000)
    expect([await answers.find('a'), reported]).toEqual(['sealed', ['away', 'back']])
    answers.close()
    admin.close()
  })

  test('nobody waits for a server that takes connections and says nothing', async () => {
    let tried = 0
    const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { open: () => void (tried += 1), data() {} } })
    const reported: unknown[] = []
    const answers = open(`redis://127.0.0.1:${silent.port}`, 'p:', reported)
    await answers.connect()
    const before = tried
    expect([await answers.find('a'), await answers.find('b'), reported]).toEqual([null, null, ['away']])
    // It is not tried again with each request: the next connection is that of the test.
    const own = await Bun.connect({ hostname: '127.0.0.1', port: silent.port, socket: { data() {} } })
    while (tried === before) await turn()
    expect(tried).toBe(before + 1)
    own.end()
    answers.close()
    silent.stop(true)
  })
})
