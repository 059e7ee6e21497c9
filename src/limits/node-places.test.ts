import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { LimitStore } from '../storage/limits/limit-store.ts'
import { createAdmissionQueue } from './admission-queue.ts'
import { createNodePlaces, type NodePlaces } from './node-places.ts'
import { createSharedMeter } from './shared-meter.ts'

const SHARE = 0.8

/** A store that keeps the reports of all nodes; the test decides if it answers. */
const board = () => {
  const said = new Map<string, string>()
  let isAway = false
  const storeOf = (node: string): LimitStore => {
    const here = async (): Promise<void> => {
      if (isAway) throw new Error('away')
    }
    return {
      name: 'board',
      asksAlone: true,
      connect: here,
      ping: here,
      enter: async () => null,
      correct: here,
      close: here,
      async exchangePlaces(words) {
        await here()
        said.set(node, words)
        return [...said].filter(([name]) => name !== node).map(([, other]) => other)
      },
    }
  }
  return { storeOf, said, goAway: () => void (isAway = true), comeBack: () => void (isAway = false) }
}

interface Shared {
  readonly most: number
  readonly line: number
  readonly seen: number
}

const startNode = async (clock: Clock, store: LimitStore, { most, line, seen }: Shared) => {
  const meter = createSharedMeter({ clock, store, nodes: () => seen, timeoutMs: () => 50, onAway: () => undefined })
  await meter.connect()
  meter.start()
  const places: NodePlaces = createNodePlaces({
    clock,
    consult: meter.consult,
    own: () => ({ most, taken: queue.inside, held: queue.held }),
    onHeard: () => queue.admitWaiting(),
  })
  const queue = createAdmissionQueue(clock, () => ({ most, line, waitMs: 10_000, keyShare: SHARE }), places)
  places.start()
  const fill = (key: string): number => {
    let taken = 0
    while (queue.enter(key) === 'inside') taken += 1
    return taken
  }
  return { queue, fill }
}

const start = async (count: number, { most = 40, line = 0, seen = count }: Partial<Shared> = {}) => {
  const clock = createFakeClock()
  const { storeOf, ...rest } = board()
  const nodes = await Promise.all(
    Array.from({ length: count }, (_, index) => startNode(clock, storeOf(`node-${index}`), { most, line, seen })),
  )
  /** Long enough for every node, even an idle one, to report and to read the others' reports. */
  const exchange = async (): Promise<void> => {
    for (let round = 0; round < 21; round += 1) {
      clock.advance(100)
      for (let step = 0; step < 4; step += 1) await turn()
    }
  }
  const at = (index: number) => {
    const node = nodes[index]
    if (node === undefined) throw new Error('there is no such node')
    return node
  }
  return { ...rest, clock, nodes, exchange, at }
}

test('alone on all nodes a key gets its share of all their places', async () => {
  const { nodes, exchange } = await start(3)
  await exchange()
  let taken = 0
  for (const { fill } of nodes) {
    taken += fill('a')
    await exchange()
  }
  expect(taken).toBe(96)
})

test('places that a key holds on one node count on the others, and count no more when they are given back', async () => {
  const { at, exchange } = await start(2)
  expect(at(0).fill('a')).toBe(32)
  for (let other = 0; other < 8; other += 1) expect(at(0).queue.enter(`b${other}`)).toBe('inside')
  await exchange()
  // 58 of 80 places, while 22 are free. On this node alone it would be 32 of 40.
  expect(at(1).fill('a')).toBe(26)
  for (let place = 0; place < 32; place += 1) at(0).queue.leave('a')
  await exchange()
  expect(at(1).fill('a')).toBe(6)
})

test('a request that waits for a place that its key has elsewhere is admitted when that one ends', async () => {
  const { at, exchange } = await start(2, { line: 10 })
  for (let place = 0; place < 32; place += 1) expect(at(0).queue.enter('a')).toBe('inside')
  for (let other = 0; other < 8; other += 1) expect(at(0).queue.enter(`b${other}`)).toBe('inside')
  await exchange()
  for (let place = 0; place < 26; place += 1) expect(at(1).queue.enter('a')).toBe('inside')
  const waiting = at(1).queue.enter('a')
  expect(waiting).toBeInstanceOf(Promise)
  for (let place = 0; place < 10; place += 1) at(0).queue.leave('a')
  await exchange()
  expect(await waiting).toBe('inside')
})

describe('while the store is away', () => {
  test('a key has its share of each node: more than one place, and not all', async () => {
    const { at, exchange, goAway, comeBack } = await start(2)
    expect(at(0).fill('a')).toBe(32)
    for (let other = 0; other < 8; other += 1) expect(at(0).queue.enter(`b${other}`)).toBe('inside')
    await exchange()
    expect(at(1).fill('a')).toBe(26)
    goAway()
    await exchange()
    expect(at(1).fill('a')).toBe(6)
    expect(at(1).queue.enter('newcomer')).toBe('inside')
    comeBack()
    await exchange()
    at(1).queue.leave('a')
    expect(at(1).fill('a')).toBe(0)
  })

  test('a store that was never there leaves each node its own share', async () => {
    const { at, exchange, goAway } = await start(1, { seen: 3 })
    goAway()
    await exchange()
    expect(at(0).fill('a')).toBe(32)
  })
})

test('what another version or a stranger says is not heard', async () => {
  const hostile = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom(
      '{"most":40,"taken":-5,"held":{}}',
      '{"most":1e99,"taken":1,"held":{}}',
      '{"most":40,"taken":40,"held":{"a":-1}}',
      '{"most":40,"taken":40,"held":{"a":"40"}}',
      '{"most":40,"taken":40,"held":[["a",40]]}',
      '{"most":40,"held":{"a":40}}',
      '{"most":null,"taken":0,"held":{}}',
    ),
  )
  await fc.assert(
    fc.asyncProperty(hostile, async (words) => {
      const { at, exchange, said } = await start(1, { seen: 2 })
      said.set('stranger', words)
      await exchange()
      expect(at(0).fill('a')).toBe(32)
    }),
    { numRuns: 30 },
  )
})

describe('the places of the other nodes', () => {
  /** One node of 200 places, which hears what the test says. */
  const hearing = async (most = 200) => {
    const clock = createFakeClock()
    const { storeOf, said } = board()
    const held = new Map([
      ['one', 1],
      ['two', 2],
      ['many', 100],
    ])
    let heard = 0
    const store = storeOf('own')
    const places = createNodePlaces({
      clock,
      consult: (question) => question(store),
      own: () => ({ most, taken: 103, held }),
      onHeard: () => (heard += 1),
    })
    places.start()
    /** A second, in which a node without a bound reports as one that has room does. */
    const second = async (): Promise<void> => {
      for (let round = 0; round < 10; round += 1) {
        clock.advance(100)
        for (let step = 0; step < 4; step += 1) await turn()
      }
    }
    await second()
    return { places, said, second, heard: () => heard }
  }

  test('are what they said last, without what nobody understands', async () => {
    const { places, said, second, heard } = await hearing()
    said.set('first', '{"most":10,"taken":4,"held":{"a":3}}')
    said.set('stranger', '{"version":2}')
    said.set('second', '{"most":20,"taken":5,"held":{"a":1,"b":4}}')
    const before = heard()
    await second()
    expect(heard()).toBe(before + 10)
    expect([places.free, places.heldBy('a'), places.heldBy('b'), places.heldBy('c')]).toEqual([21, 4, 4, 0])
    said.clear()
    await second()
    expect([places.free, places.heldBy('a')]).toEqual([0, 0])
  })

  test('are never fewer than none, and without a bound more than anyone takes', async () => {
    const { places, said, second } = await hearing()
    said.set('lowered', '{"most":10,"taken":12,"held":{}}')
    said.set('first', '{"most":10,"taken":4,"held":{}}')
    await second()
    expect(places.free).toBe(6)
    said.set('unbounded', '{"most":0,"taken":12,"held":{}}')
    await second()
    expect(places.free).toBeGreaterThan(900_000_000)
  })

  test('include those of a key only if it has a hundredth of a node, and of a node without a bound only how many it has', async () => {
    const reported = async (most: number): Promise<unknown> => JSON.parse((await hearing(most)).said.get('own') ?? '')
    expect(await reported(200)).toEqual({ most: 200, taken: 103, held: { two: 2, many: 100 } })
    expect(await reported(0)).toEqual({ most: 0, taken: 103, held: {} })
    expect([(await hearing(200)).heard(), (await hearing(0)).heard()]).toEqual([10, 1])
  })
})

test('one node asks nobody, whatever it holds', async () => {
  const { at, exchange, said } = await start(1)
  at(0).fill('a')
  await exchange()
  expect(said.size).toBe(0)
})

test('a node with room reports once a second, one that has an eighth of its places taken ten times as often', async () => {
  const { at, clock, said } = await start(2)
  const heard = async (): Promise<number> => {
    let times = 0
    for (let round = 0; round < 20; round += 1) {
      said.delete('node-0')
      clock.advance(100)
      for (let step = 0; step < 4; step += 1) await turn()
      if (said.has('node-0')) times += 1
    }
    return times
  }
  for (let place = 0; place < 4; place += 1) await at(0).queue.enter('a')
  expect(await heard()).toBe(2)
  await at(0).queue.enter('a')
  expect(await heard()).toBe(20)
})

test('whoever comes and goes on whichever node: no key passes its share of all, and each gets the first place that is free', async () => {
  const step = fc.record({
    node: fc.nat(2),
    key: fc.constantFrom('a', 'b', 'c'),
    many: fc.integer({ min: 1, max: 40 }),
    leaves: fc.boolean(),
    away: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
      const { nodes, at, exchange, goAway, comeBack } = await start(3)
      const heldOf = (key: string): number => nodes.reduce((sum, { queue }) => sum + (queue.held.get(key) ?? 0), 0)
      const free = (): number => nodes.reduce((sum, { queue }) => sum + 40 - queue.inside, 0)
      for (const { node, key, many, leaves, away } of steps) {
        const { queue } = at(node)
        if (leaves) {
          for (let left = Math.min(many, queue.held.get(key) ?? 0); left > 0; left -= 1) queue.leave(key)
          continue
        }
        if (away) goAway()
        else comeBack()
        await exchange()
        for (let asked = 0; asked < many; asked += 1) {
          const hadHere = queue.held.get(key) ?? 0
          const hadRoom = queue.inside < 40
          const entered = queue.enter(key)
          // The limits always hold, and a key with nothing always gets in if there is room.
          expect(queue.inside).toBeLessThanOrEqual(40)
          if (hadHere === 0 && hadRoom) expect(entered).toBe('inside')
          if (entered !== 'inside' || hadHere === 0) continue
          expect((hadHere + 1) * (1 - SHARE)).toBeLessThanOrEqual((40 - queue.inside + 1) * SHARE + 1e-9)
          if (!away) expect(heldOf(key) * (1 - SHARE)).toBeLessThanOrEqual((free() + 1) * SHARE + 1e-9)
        }
      }
    }),
    { numRuns: 40 },
  )
})
