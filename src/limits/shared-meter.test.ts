import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, type AddressInfo, type Server } from 'node:net'
import fc from 'fast-check'

import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { systemClock } from '../lib/clock.ts'
import type { BoundReached, Claim, Correction, KeyBounds, LimitStore } from '../storage/limits/limit-store.ts'
import { createRedisLimits } from '../storage/limits/redis-limits.ts'
import { createSharedMeter } from './shared-meter.ts'

const bounds = (more: Partial<KeyBounds> = {}): KeyBounds => ({
  hash: 'a',
  concurrency: 0,
  tokensPerMinute: 0,
  requestsPerMinute: 0,
  ...more,
})

/** A store whose behaviour the test determines. */
const scripted = () => {
  const asked: Claim[] = []
  const corrected: Correction[] = []
  let mode: 'answers' | 'hangs' | 'fails' = 'answers'
  let verdict: BoundReached | null = null
  const inMode = async <Value>(value: () => Value): Promise<Value> => {
    if (mode === 'fails') throw new Error('refused')
    if (mode === 'hangs') return new Promise(() => undefined)
    return value()
  }
  const store: LimitStore = {
    name: 'scripted',
    asksAlone: true,
    connect: () => inMode(() => undefined),
    ping: () => inMode(() => undefined),
    enter: (claim) => {
      asked.push(claim)
      return inMode(() => verdict)
    },
    correct: (corrections) =>
      inMode(() => {
        corrected.push(...corrections)
      }),
    exchangePlaces: () => inMode(() => []),
    close: async () => undefined,
  }
  return { store, asked, corrected, be: (next: typeof mode) => void (mode = next), answer: (next: typeof verdict) => void (verdict = next) }
}

const open = async (nodes = 3) => {
  const clock = createFakeClock()
  const script = scripted()
  const reported: (string | null)[] = []
  const meter = createSharedMeter({
    clock,
    store: script.store,
    nodes: () => nodes,
    timeoutMs: () => 50,
    onAway: (thrown) => reported.push(thrown === null ? null : (thrown as Error).message),
  })
  await meter.connect()
  meter.start()
  /** The number of requests admitted out of this many. */
  const enterMany = async (many: number, of: KeyBounds): Promise<number> => {
    let admitted = 0
    for (let request = 0; request < many; request += 1) if ((await meter.enter(of)) === null) admitted += 1
    return admitted
  }
  return { clock, meter, reported, enterMany, ...script }
}

test('a key without limits is admitted at once, without asking the store', async () => {
  const { meter, asked, clock, corrected } = await open()
  expect(meter.enter(bounds())).toBeNull()
  meter.leave(bounds(), 1000)
  clock.advance(10_000)
  await turn()
  expect([asked, corrected]).toEqual([[], []])
})

test('each request is one query, and its use is reported together with that of others', async () => {
  const { meter, asked, corrected, clock } = await open()
  const limited = bounds({ tokensPerMinute: 1000, concurrency: 5 })
  await Promise.all([meter.enter(limited), meter.enter(limited), meter.enter(limited)])
  expect(asked).toEqual([1, 2, 3].map((running) => ({ ...limited, running })))
  meter.leave(limited, 11)
  meter.leave(limited, 21)
  clock.advance(5)
  await turn()
  expect(corrected).toEqual([{ ...limited, running: 1, usedTokens: 30, usedRequests: 0 }])
})

test('reports go one after the other, so that no count overtakes a newer one, and the store is closed behind the last', async () => {
  const clock = createFakeClock()
  const events: string[] = []
  const answers: (() => void)[] = []
  const meter = createSharedMeter({
    clock,
    store: {
      ...scripted().store,
      correct: ([correction]) =>
        new Promise((resolve) => {
          const report = `${correction?.running} running`
          events.push(report)
          answers.push(() => (events.push(`${report}: counted`), resolve()))
        }),
      close: async () => void events.push('closed'),
    },
    nodes: () => 2,
    timeoutMs: () => 50,
    onAway: () => undefined,
  })
  await meter.connect()
  const stop = meter.start()
  const limited = bounds({ concurrency: 5 })
  for (let request = 0; request < 2; request += 1) await meter.enter(limited)
  for (let request = 0; request < 2; request += 1) {
    meter.leave(limited, 1)
    clock.advance(5)
  }
  answers[0]?.()
  await turn()
  clock.advance(5)
  const stopped = stop()
  await turn()
  answers[1]?.()
  await stopped
  expect(events).toEqual(['1 running', '1 running: counted', '0 running', '0 running: counted', 'closed'])
})

test('a request that could not begin gives back to the store what it took, even of a rate of requests alone', async () => {
  const { meter, corrected, clock } = await open()
  const limited = bounds({ requestsPerMinute: 5 })
  await meter.enter(limited)
  meter.giveBack(limited)
  clock.advance(5)
  await turn()
  expect(corrected).toEqual([{ ...limited, running: 0, usedTokens: -1, usedRequests: -1 }])
})

test('a refusal of the store is the answer, and the request no longer counts as running', async () => {
  const { meter, asked, answer } = await open()
  const reached = { bound: 'requests', remaining: 0, retryAfterMs: 700, resetMs: 9000 } as const
  answer(reached)
  expect(await meter.enter(bounds({ requestsPerMinute: 5, concurrency: 9 }))).toEqual(reached)
  answer(null)
  await meter.enter(bounds({ requestsPerMinute: 5, concurrency: 9 }))
  expect(asked.map(({ running }) => running)).toEqual([1, 1])
})

test('a limit of one is one, whatever is limited; and what a key with a limit of tokens alone used is reported', async () => {
  for (const limited of [bounds({ concurrency: 1 }), bounds({ requestsPerMinute: 1 }), bounds({ tokensPerMinute: 1 })]) {
    const { meter, asked, corrected, clock } = await open()
    await meter.enter(limited)
    expect(asked).toEqual([{ ...limited, running: 1 }])
    meter.leave(limited, 7)
    clock.advance(5)
    await turn()
    expect(corrected.map(({ usedTokens }) => usedTokens)).toEqual(limited.requestsPerMinute > 0 ? [] : [6])
  }
})

test('a key of which nothing runs any more is not reported again', async () => {
  const { meter, corrected, clock } = await open()
  const limited = bounds({ concurrency: 5 })
  await meter.enter(limited)
  meter.leave(limited, 1)
  for (let second = 0; second < 9; second += 1) {
    clock.advance(1000)
    await turn()
  }
  expect(corrected).toEqual([{ ...limited, running: 0, usedTokens: 0, usedRequests: 0 }])
})

test('without a store each process has the whole of each limit, however many there are', async () => {
  const meter = createSharedMeter({ clock: createFakeClock(), store: null, nodes: () => 3, timeoutMs: () => 50, onAway: () => undefined })
  const limited = bounds({ requestsPerMinute: 6, tokensPerMinute: 9 })
  for (let request = 0; request < 6; request += 1) expect(meter.enter(limited)).toBeNull()
  expect(meter.enter(limited)).toMatchObject({ bound: 'requests' })
  meter.leave(limited, 1 + 3)
  const tokens = bounds({ hash: 'tokens', tokensPerMinute: 9 })
  expect(meter.enter(tokens)).toBeNull()
  meter.leave(tokens, 8)
  expect(meter.enter(tokens)).toBeNull()
  expect(meter.enter(tokens)).toMatchObject({ bound: 'tokens' })
})

test('a limit that was changed is counted from its whole, whatever was used of the old one', async () => {
  const meter = createSharedMeter({ clock: createFakeClock(), store: null, nodes: () => 1, timeoutMs: () => 50, onAway: () => undefined })
  for (const changed of [2, 3]) {
    const requests = bounds({ hash: 'requests', requestsPerMinute: changed })
    for (let request = 0; request < changed; request += 1) expect(meter.enter(requests)).toBeNull()
    expect(meter.enter(requests)).toMatchObject({ bound: 'requests' })
    const tokens = bounds({ hash: 'tokens', tokensPerMinute: changed })
    expect(meter.enter(tokens)).toBeNull()
    meter.leave(tokens, changed)
    expect(meter.enter(tokens)).toMatchObject({ bound: 'tokens' })
  }
})

test('what was used of a limit before it was changed is reported for that limit', async () => {
  const { meter, corrected, clock } = await open()
  const [before, after] = [bounds({ tokensPerMinute: 100 }), bounds({ tokensPerMinute: 200 })]
  for (const limited of [before, after]) await meter.enter(limited)
  meter.leave(before, 11)
  meter.leave(after, 21)
  clock.advance(5)
  await turn()
  expect(corrected.map(({ tokensPerMinute, usedTokens }) => [tokensPerMinute, usedTokens])).toEqual([
    [100, 10],
    [200, 20],
  ])
})

test('the usage of more keys than are sent at once arrives without anything else happening', async () => {
  const { meter, corrected, clock } = await open()
  for (let key = 0; key < 501; key += 1) {
    const limited = bounds({ hash: `k-${key}`, tokensPerMinute: 1000 })
    await meter.enter(limited)
    meter.leave(limited, 11)
  }
  for (let round = 0; round < 2; round += 1) {
    clock.advance(5)
    await turn()
  }
  expect(corrected).toHaveLength(501)
})

test('no timer is left behind where the node stops while the store is tried again', async () => {
  const clock = createFakeClock()
  const { store, be } = scripted()
  const meter = createSharedMeter({ clock, store, nodes: () => 2, timeoutMs: () => 50, onAway: () => undefined })
  be('fails')
  await meter.connect()
  const stop = meter.start()
  clock.advance(1000)
  await Promise.all([stop(), turn()])
  expect(clock.waiting).toBe(0)
})

describe('while the store is away', () => {
  test.each<[string, (parts: Awaited<ReturnType<typeof open>>) => unknown, number]>([
    ['a report', ({ meter }) => meter.leave(bounds({ concurrency: 2 }), 1), 56],
    ['a question that no request waits for', ({ meter }) => meter.consult((store) => store.exchangePlaces('')), 2001],
    ['a connection', ({ meter }) => meter.connect(), 2001],
  ])('%s that hangs counts as a failure', async (_, ask, withinMs) => {
    const parts = await open()
    const { meter, clock, be } = parts
    await meter.enter(bounds({ concurrency: 2 }))
    be('hangs')
    void ask(parts)
    await turn()
    clock.advance(withinMs)
    await turn()
    expect(meter.away).toBe(true)
  })

  test('so is one that takes no writes', async () => {
    const { store } = scripted()
    const readOnly = { ...store, ping: () => Promise.reject(new Error('READONLY')) }
    const meter = createSharedMeter({
      clock: createFakeClock(),
      store: readOnly,
      nodes: () => 2,
      timeoutMs: () => 50,
      onAway: () => undefined,
    })
    await meter.connect()
    expect(meter.away).toBe(true)
  })

  test('the usage of ten thousand keys at most is remembered for it', async () => {
    const { meter, clock, be, corrected } = await open()
    be('fails')
    for (let key = 0; key < 10_010; key += 1) {
      const limited = bounds({ hash: `k-${key}`, requestsPerMinute: 100 })
      await meter.enter(limited)
    }
    // A key that is remembered already goes on being counted.
    await meter.enter(bounds({ hash: 'k-1', requestsPerMinute: 100 }))
    be('answers')
    clock.advance(1000)
    for (let round = 0; round < 30; round += 1) {
      await turn()
      clock.advance(5)
    }
    expect(corrected).toHaveLength(10_000)
    expect(corrected.find(({ hash }) => hash === 'k-1')).toMatchObject({ usedRequests: 2 })
  })

  test('once it is back, it is told at once what runs, although nothing ended meanwhile', async () => {
    const { meter, clock, be, corrected } = await open()
    const limited = bounds({ concurrency: 5 })
    await meter.enter(limited)
    be('fails')
    await meter.consult((store) => store.ping())
    be('answers')
    clock.advance(1000)
    await turn()
    expect(corrected).toEqual([{ ...limited, running: 1, usedTokens: 0, usedRequests: 0 }])
  })

  test('requests that this node refuses are not reported as used, and the store is told that they do not run', async () => {
    const { meter, clock, be, corrected, enterMany } = await open(3)
    const limited = bounds({ requestsPerMinute: 3, concurrency: 9 })
    await meter.enter(limited)
    meter.leave(limited, 1)
    clock.advance(5)
    await turn()
    be('fails')
    expect(await enterMany(10, limited)).toBe(0)
    be('answers')
    clock.advance(1000)
    await turn()
    expect(corrected).toEqual([
      { ...limited, running: 0, usedTokens: 0, usedRequests: 0 },
      { ...limited, running: 0, usedTokens: 0, usedRequests: 0 },
    ])
  })

  test('it is asked nothing else either', async () => {
    const { meter, be } = await open(3)
    expect(await meter.consult(async () => 'answer')).toBe('answer')
    be('fails')
    expect(await meter.consult(async (store) => store.ping())).toBeUndefined()
    expect(meter.away).toBe(true)
    expect(await meter.consult(async () => 'answer')).toBeUndefined()
  })

  test('a request waits for it no longer than the timeout, and those after it not at all', async () => {
    const { meter, clock, be, reported } = await open()
    be('hangs')
    const limited = bounds({ requestsPerMinute: 30 })
    const waiting = meter.enter(limited)
    expect(waiting).toBeInstanceOf(Promise)
    clock.advance(51)
    expect(await waiting).toBeNull()
    expect(meter.enter(limited)).toBeNull()
    expect(reported).toEqual(['It did not answer within 50 ms.'])
    expect([meter.away, meter.decidedAlone]).toEqual([true, 2])
  })

  test('each node keeps to its part of each bound: never all, never none', async () => {
    const { meter, be, enterMany } = await open(3)
    be('fails')
    expect(await enterMany(100, bounds({ hash: 'rate', requestsPerMinute: 30 }))).toBe(10)
    expect(await enterMany(100, bounds({ hash: 'small', requestsPerMinute: 2 }))).toBe(1)
    expect(await enterMany(100, bounds({ hash: 'many', concurrency: 12 }))).toBe(4)
    expect(await enterMany(100, bounds({ hash: 'one', concurrency: 1 }))).toBe(1)
    expect(await enterMany(100, bounds({ hash: 'uneven', requestsPerMinute: 11 }))).toBe(3)
    const tokens = bounds({ hash: 'tokens', tokensPerMinute: 3000 })
    await meter.enter(tokens)
    meter.leave(tokens, 1500)
    expect(await meter.enter(tokens)).toMatchObject({ bound: 'tokens' })
  })

  test('what this node admitted before counts for its part', async () => {
    const { be, enterMany } = await open(3)
    const limited = bounds({ requestsPerMinute: 30 })
    expect(await enterMany(8, limited)).toBe(8)
    be('fails')
    expect(await enterMany(30, limited)).toBe(2)
  })

  test('it is found again by itself, learns what was used meanwhile, and both turns are reported once', async () => {
    const { meter, clock, be, reported, asked, corrected, enterMany } = await open(3)
    const limited = bounds({ requestsPerMinute: 30, tokensPerMinute: 600, concurrency: 30 })
    be('fails')
    expect(await enterMany(5, limited)).toBe(5)
    for (let second = 0; second < 5; second += 1) {
      clock.advance(1000)
      await turn()
    }
    expect(reported).toEqual(['refused'])
    be('answers')
    const before = asked.length
    clock.advance(1000)
    await turn()
    expect(reported).toEqual(['refused', null])
    // The store was asked about the first of the five, and may have counted it.
    expect(corrected.at(-1)).toEqual({ ...limited, running: 5, usedTokens: 4, usedRequests: 4 })
    await meter.enter(limited)
    expect(asked).toHaveLength(before + 1)
  })

  test('a store that was never there is reported once, and the service starts', async () => {
    const { store, be } = scripted()
    be('fails')
    const reported: unknown[] = []
    const meter = createSharedMeter({
      clock: createFakeClock(),
      store,
      nodes: () => 2,
      timeoutMs: () => 50,
      onAway: (thrown) => reported.push(thrown),
    })
    await meter.connect()
    await meter.connect()
    expect([meter.away, reported.length]).toEqual([true, 1])
    expect(meter.enter(bounds({ requestsPerMinute: 2 }))).toBeNull()
  })
})

test('running requests are reported again before their lease ends, and at the end it is reported that none runs', async () => {
  const clock = createFakeClock()
  const { store, corrected } = scripted()
  const meter = createSharedMeter({ clock, store, nodes: () => 2, timeoutMs: () => 50, onAway: () => undefined })
  await meter.connect()
  const stop = meter.start()
  const limited = bounds({ concurrency: 5 })
  await meter.enter(limited)
  for (let second = 0; second < 9; second += 1) {
    clock.advance(1000)
    await turn()
  }
  expect(corrected.filter(({ running }) => running === 1).length).toBeGreaterThanOrEqual(2)
  meter.leave(limited, 0)
  await stop()
  expect(corrected.at(-1)).toMatchObject({ running: 0 })
})

test('the end of a request is reported again if the store failed while it was reported', async () => {
  const { meter, clock, be, corrected } = await open()
  const limited = bounds({ concurrency: 4 })
  await meter.enter(limited)
  meter.leave(limited, 3)
  be('fails')
  clock.advance(60)
  await turn()
  expect(meter.away).toBe(true)
  be('answers')
  clock.advance(1000)
  await turn()
  expect(corrected).toMatchObject([{ hash: 'a', running: 0, usedTokens: 0, usedRequests: 0 }])
})

test('one node on PostgreSQL counts by itself; with a second one they count together', async () => {
  const { store, asked } = scripted()
  let nodes = 1
  const meter = createSharedMeter({
    clock: createFakeClock(),
    store: { ...store, asksAlone: false },
    nodes: () => nodes,
    timeoutMs: () => 50,
    onAway: () => undefined,
  })
  await meter.connect()
  expect(meter.enter(bounds({ requestsPerMinute: 5 }))).toBeNull()
  expect(await meter.consult(async () => 'answer')).toBeUndefined()
  nodes = 2
  await meter.enter(bounds({ requestsPerMinute: 5 }))
  expect(asked).toHaveLength(1)
})

test('whatever the store does, in whatever order: the count of running requests ends at none', async () => {
  const step = fc.constantFrom('enter', 'leave', 'hangs', 'fails', 'answers', 'pass', 'refuse', 'allow')
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { meter, clock, be, answer, corrected } = await open(2)
      const limited = bounds({ concurrency: 4, tokensPerMinute: 1_000_000 })
      const inside: Promise<boolean>[] = []
      for (const each of steps) {
        if (each === 'enter') inside.push(Promise.resolve(meter.enter(limited)).then((reached) => reached === null))
        else if (each === 'leave') {
          const first = inside.shift()
          clock.advance(60)
          if (first !== undefined && (await first)) meter.leave(limited, 3)
        } else if (each === 'pass') clock.advance(400)
        else if (each === 'refuse') answer({ bound: 'tokens', remaining: 0, retryAfterMs: 1, resetMs: 1 })
        else if (each === 'allow') answer(null)
        else be(each)
        await turn()
      }
      clock.advance(60)
      be('answers')
      answer(null)
      for (const each of inside) if (await each) meter.leave(limited, 3)
      for (let second = 0; second < 4; second += 1) {
        clock.advance(1000)
        await turn()
      }
      if (corrected.length > 0) expect(corrected.at(-1)?.running).toBe(0)
      // All places of this node, half of the four, are free again, and no more.
      be('fails')
      const free = await Promise.all(Array.from({ length: 8 }, async () => meter.enter(limited)))
      expect(free.filter((reached) => reached === null)).toHaveLength(2)
    }),
    { numRuns: 60, examples: [[['enter', 'leave', 'enter', 'leave', 'fails']]] },
  )
})

describe('a server that is not a working Redis', () => {
  const servers: Server[] = []
  afterAll(() => servers.forEach((server) => server.close()))

  /** Answers the greeting, the loading of scripts and the probe as Redis does, and every other script with `answer`. */
  const pretend = async (answer: string | null, greets = true): Promise<string> => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1')
        if (!greets) return
        if (text.includes('HELLO')) socket.write('%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n')
        for (const _ of text.matchAll(/\r\nSCRIPT\r\n/g)) socket.write('$3\r\nabc\r\n')
        if (text.includes('\r\nCLUSTER\r\n')) socket.write('-ERR This instance has cluster support disabled\r\n')
        if (text.includes('\r\nROLE\r\n')) socket.write('*1\r\n$6\r\nmaster\r\n')
        if (text.includes('{probe}')) socket.write(':0\r\n')
        else if (!text.includes('EVALSHA')) return
        else if (answer === null) socket.destroy()
        else socket.write(answer)
      })
    })
    servers.push(server)
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test.each<[string, string | null]>([
    ['says nothing', ''],
    ['closes the connection', null],
    ['answers in another protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['is loading', '-LOADING Redis is loading the dataset in memory\r\n'],
    ['has lost the script', '-NOSCRIPT No matching script.\r\n'],
    ['answers with a word', '+OK\r\n'],
    ['answers with nothing', '_\r\n'],
    ['answers with too little', '*2\r\n:0\r\n:0\r\n'],
    ['answers with words', '*4\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n'],
    ['refuses by a bound that there is not', '*4\r\n:9\r\n:0\r\n:0\r\n:0\r\n'],
    ['answers with negative times', '*4\r\n:2\r\n:0\r\n:-5\r\n:0\r\n'],
    ['stops within an answer', '*4\r\n:0\r\n:0'],
    ['announces an answer without end', '$999999999\r\nxxxx'],
  ])('one that %s counts as away, and this node keeps to its part', async (_, answer) => {
    const store = createRedisLimits({ url: await pretend(answer), prefix: 'p', node: 'n' })
    const faults: unknown[] = []
    // Generous at first, so that load on the machine cannot make the greeting late.
    let timeoutMs = 10_000
    const meter = createSharedMeter({
      clock: systemClock,
      store,
      nodes: () => 2,
      timeoutMs: () => timeoutMs,
      onAway: (thrown) => faults.push(thrown),
    })
    await meter.connect()
    expect(faults).toEqual([])
    timeoutMs = 50
    const outcomes: unknown[] = []
    for (let request = 0; request < 10; request += 1) outcomes.push(await meter.enter(bounds({ requestsPerMinute: 10 })))
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(5)
    expect([meter.away, faults.length]).toEqual([true, 1])
    await store.close()
  })

  test('one that does not even greet, or that is not there, lets the service start', async () => {
    for (const url of [await pretend('', false), 'redis://127.0.0.1:1']) {
      const store = createRedisLimits({ url, prefix: 'p', node: 'n' })
      const meter = createSharedMeter({ clock: systemClock, store, nodes: () => 1, timeoutMs: () => 50, onAway: () => undefined })
      await meter.connect()
      expect(meter.away).toBe(true)
      expect(meter.enter(bounds({ requestsPerMinute: 10 }))).toBeNull()
      await store.close()
    }
  })
})

test('usage that is being sent when the node stops arrives before the connection ends, and so does what ended meanwhile', async () => {
  const clock = createFakeClock()
  const arrived: (number | string)[] = []
  const first = Promise.withResolvers<void>()
  const store: LimitStore = {
    ...scripted().store,
    async correct(corrections) {
      await first.promise
      arrived.push(...corrections.map(({ usedTokens }) => usedTokens))
    },
    close: async () => void arrived.push('closed'),
  }
  const meter = createSharedMeter({ clock, store, nodes: () => 2, timeoutMs: () => 50, onAway: (thrown) => arrived.push(String(thrown)) })
  await meter.connect()
  const stop = meter.start()
  const limited = bounds({ tokensPerMinute: 1000 })
  for (const tokens of [11, 21]) {
    await meter.enter(limited)
    meter.leave(limited, tokens)
    clock.advance(5)
    await turn()
  }
  const stopped = stop()
  first.resolve()
  await stopped
  expect(arrived).toEqual([10, 20, 'closed'])
})

test('usage of more keys than are sent at once arrives before the connection ends, too', async () => {
  const { store } = scripted()
  const arrived: number[] = []
  const meter = createSharedMeter({
    clock: createFakeClock(),
    store: { ...store, correct: async (corrections) => void arrived.push(corrections.length), close: async () => void arrived.push(0) },
    nodes: () => 2,
    timeoutMs: () => 50,
    onAway: () => undefined,
  })
  await meter.connect()
  const stop = meter.start()
  for (let key = 0; key < 1001; key += 1) {
    const limited = bounds({ hash: `k-${key}`, tokensPerMinute: 1000 })
    await meter.enter(limited)
    meter.leave(limited, 11)
  }
  await stop()
  expect(arrived).toEqual([500, 500, 1, 0])
})
