import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { createFakeClock, turn } from '../../../test/support/fake-clock.ts'
import { nextStage } from '../../lib/cohort.ts'
import type { GenerationRecord } from '../../storage/generations/generation-store.ts'
import type { Segment } from '../../storage/journal.ts'
import { createGenerationRecorder } from './record-generations.ts'
import { generationRecord } from '../../storage/testing/generation-record.ts'

const record = (id: string | number): GenerationRecord =>
  generationRecord({
    id: String(id),
    createdAt: '2026-11-20T10:00:00.000Z',
    workspaceId: 'w',
    keyHash: 'ab'.repeat(32),
    model: 'm/one',
    provider: 'a',
    costNanos: 1,
  })

/** Fakes the border to storage: batches arrive here, and each test decides their outcome. */
const open = (answer: (ids: readonly string[]) => Promise<void> = async () => undefined) => {
  const clock = createFakeClock()
  const batches: string[][] = []
  const faults: [string, number][] = []
  const recorder = createGenerationRecorder({
    clock,
    write(entries) {
      const batch = entries.map((line) => (JSON.parse(line) as GenerationRecord).id)
      batches.push(batch)
      return answer(batch)
    },
    onError: (thrown, waiting) => faults.push([String(thrown), waiting]),
  })
  const add = (...ids: readonly (string | number)[]): void => ids.forEach((id) => recorder.add(JSON.stringify(record(id))))
  return { clock, recorder, batches, faults, add }
}

const ids = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index)

test('records that come within 50 ms are one batch, in their order', async () => {
  const { clock, batches, add } = open()
  add(1, 2)
  clock.advance(49)
  add(3)
  expect(batches).toEqual([])
  clock.advance(1)
  await turn()
  expect(batches).toEqual([['1', '2', '3']])
  add(4)
  clock.advance(50)
  await turn()
  expect(batches).toEqual([['1', '2', '3'], ['4']])
})

test('a batch holds at most a thousand records, and one follows the other at once', async () => {
  const { clock, batches, add } = open()
  add(...ids(0, 2500))
  clock.advance(50)
  await turn()
  expect(batches.map((batch) => batch.length)).toEqual([1000, 1000, 500])
  expect(batches.flat()).toEqual(ids(0, 2500).map(String))
})

test('records that come while a batch is written wait for others, as long as the first ones did', async () => {
  const { clock, batches, add } = open(async () => {
    if (batches.length === 1) add(2)
  })
  add(1)
  clock.advance(50)
  await turn()
  expect(batches).toEqual([['1']])
  add(3)
  clock.advance(50)
  await turn()
  expect(batches).toEqual([['1'], ['2', '3']])
})

describe('while storage is away', () => {
  test('a batch is tried again after a second, in the old order and followed by what came meanwhile', async () => {
    let away = true
    const { clock, batches, faults, add } = open(async () => {
      if (away) throw new Error('away')
    })
    add(1, 2)
    clock.advance(50)
    await turn()
    add(3)
    clock.advance(999)
    await turn()
    expect(batches).toHaveLength(1)
    away = false
    clock.advance(1)
    await turn()
    expect(batches).toEqual([
      ['1', '2'],
      ['1', '2', '3'],
    ])
    expect(faults).toEqual([['Error: away', 2]])
  })

  test('an entry that storage never takes keeps no other from it', async () => {
    const written = new Set<string>()
    const { clock, recorder, batches, add } = open(async (batch) => {
      if (batch.includes('300')) throw new Error('no such number')
      for (const id of batch) written.add(id)
    })
    add(...ids(0, 1000))
    for (let seconds = 0; seconds < 30; seconds += 1) {
      clock.advance(1000)
      await turn()
    }
    expect(written.size).toBe(999)
    expect(batches.at(-1)).toEqual(['300'])
    add('later')
    for (let seconds = 0; seconds < 3; seconds += 1) {
      clock.advance(1000)
      await turn()
    }
    expect(written.has('later')).toBe(true)
    expect(recorder.dropped).toBe(0)
  })

  test('beyond a hundred thousand records the newest are dropped and counted', async () => {
    const { clock, recorder, batches, add } = open(() => new Promise(() => undefined))
    for (const id of ids(0, 100_003)) recorder.add(JSON.stringify(record(id)))
    expect(recorder.dropped).toBe(3)
    clock.advance(50)
    expect(batches[0]).toEqual(ids(0, 1000).map(String))
    add('room again')
    expect(recorder.dropped).toBe(3)
  })
})

describe('flush', () => {
  test('writes at once what was added before it, and resolves when it is written', async () => {
    let written: () => void = () => undefined
    const { recorder, batches, add } = open(() => new Promise((resolve) => (written = resolve)))
    add(1)
    let over = false
    const flushed = recorder.flush().then(() => (over = true))
    await turn()
    expect([batches, over]).toEqual([[['1']], false])
    written()
    await flushed
  })

  test('with nothing to write asks nothing of storage', async () => {
    const { recorder, batches } = open()
    await recorder.flush()
    await recorder.flush()
    expect(batches).toEqual([])
  })

  test('includes what was added while a batch was on its way', async () => {
    const { recorder, batches, add } = open(() => turn())
    add(1)
    const first = recorder.flush()
    add(2)
    await recorder.flush()
    expect(batches).toEqual([['1'], ['2']])
    await first
  })

  test('waits for nothing that is added after it, so that it ends under load', async () => {
    const written: (() => void)[] = []
    const { recorder, batches, add } = open(() => new Promise((resolve) => written.push(resolve)))
    add(1)
    const first = recorder.flush()
    add(2)
    const second = recorder.flush()
    add(3)
    const third = recorder.flush()
    written[0]?.()
    await first
    await turn()
    written[1]?.()
    await Promise.all([second, third])
    add(4)
    void recorder.flush()
    expect(batches).toEqual([['1'], ['2', '3'], ['4']])
  })

  test('resolves, and does not reject, where storage does not take it', async () => {
    const { recorder, faults, add } = open(() => Promise.reject(new Error('away')))
    add(1)
    await recorder.flush()
    expect(faults).toHaveLength(1)
  })

  test('always covers what was added before it, at whatever moment it comes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('add', 'microtask', 'flush', 'turn'), { maxLength: 20 }),
        fc.boolean(),
        async (steps, isSlow) => {
          const written = new Set<string>()
          const { recorder, add } = open(async (batch) => {
            await (isSlow ? turn() : Promise.resolve())
            for (const id of batch) written.add(id)
          })
          const checks: Promise<void>[] = []
          let count = 0
          for (const step of steps) {
            if (step === 'add') add((count += 1))
            else if (step === 'microtask') await Promise.resolve()
            else if (step === 'turn') await turn()
            else {
              const before = ids(1, count).map(String)
              checks.push(recorder.flush().then(() => expect(before.filter((id) => !written.has(id))).toEqual([])))
            }
          }
          await Promise.all(checks)
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('close', () => {
  test('writes what waits and leaves no timer behind', async () => {
    const { clock, recorder, batches, add } = open()
    add(1)
    await recorder.close()
    expect([batches, clock.waiting]).toEqual([[['1']], 0])
  })

  test('does not try for ever where storage is away: the process can end', async () => {
    const { clock, recorder, batches, add } = open(() => Promise.reject(new Error('away')))
    add(1)
    clock.advance(50)
    await turn()
    await recorder.close()
    expect([batches.length, clock.waiting]).toEqual([2, 0])
  })

  test('counts what neither storage nor the journal has taken', async () => {
    const segment: Segment = { path: '', descriptor: 0, bytes: 0, waiting: 0 }
    let room = true
    const recorder = createGenerationRecorder({
      clock: createFakeClock(),
      write: () => Promise.reject(new Error('full')),
      onError: () => undefined,
      journal: {
        append: () => {
          if (!room) throw new Error('full')
          return segment
        },
        written: () => undefined,
      },
    })
    recorder.add('1')
    await turn()
    room = false
    recorder.add('2')
    recorder.add('3')
    expect(await recorder.close()).toBe(2)
  })
})

describe('the journal', () => {
  const openWith = (append: (entries: readonly string[]) => Segment) => {
    const clock = createFakeClock()
    const kept: (readonly string[])[] = []
    const faults: unknown[] = []
    const recorder = createGenerationRecorder({
      clock,
      write: async () => undefined,
      onError: (thrown) => faults.push(thrown),
      journal: {
        append(entries) {
          kept.push(entries)
          return append(entries)
        },
        written(segment) {
          segment.waiting -= 1
        },
      },
    })
    return { clock, recorder, kept, faults }
  }
  const segmentOf = (entries: readonly string[]): Segment => ({ path: '', descriptor: 0, bytes: 0, waiting: entries.length })

  test('holds entries that are settled in one stage by one write, before anything that waited for them goes on', async () => {
    const { recorder, kept } = openWith(segmentOf)
    const seen: number[] = []
    const settle = async (entry: string): Promise<void> => {
      await nextStage
      recorder.add(entry)
    }
    await Promise.all(['1', '2', '3'].map((entry) => settle(entry).then(() => seen.push(kept.flat().length))))
    expect([kept, seen]).toEqual([[['1', '2', '3']], [3, 3, 3]])
  })

  test('holds what is flushed in the same step, and is notified of each entry that storage has', async () => {
    const segments: Segment[] = []
    const { recorder, kept } = openWith((entries) => {
      const segment = segmentOf(entries)
      segments.push(segment)
      return segment
    })
    recorder.add('1')
    recorder.add('2')
    await recorder.flush()
    expect([kept, segments.map(({ waiting }) => waiting)]).toEqual([[['1', '2']], [0]])
  })

  test('that cannot be written is reported once for its entries, which storage still gets', async () => {
    const { recorder, faults } = openWith(() => {
      throw new Error('ENOSPC')
    })
    recorder.add('1')
    recorder.add('2')
    await recorder.flush()
    expect(faults).toHaveLength(1)
  })

  test('that stays full is reported every ten seconds, and at once when it fails again', async () => {
    let isFull = true
    const { clock, recorder, faults } = openWith((entries) => {
      if (isFull) throw new Error('ENOSPC')
      return segmentOf(entries)
    })
    const add = async (): Promise<number> => {
      recorder.add('1')
      await recorder.flush()
      return faults.length
    }
    expect([await add(), await add()]).toEqual([1, 1])
    clock.advance(10_000)
    expect([await add(), await add()]).toEqual([2, 2])
    isFull = false
    await add()
    isFull = true
    expect([await add(), await add()]).toEqual([3, 3])
  })
})
