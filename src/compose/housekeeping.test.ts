import { describe, expect, test } from 'bun:test'

import { createFakeClock, T0, turn } from '../../test/support/fake-clock.ts'
import { isoTimestamp } from '../lib/clock.ts'
import { startHousekeeping, type Job } from './housekeeping.ts'

const MINUTE_MS = 60_000

const start = (jobs: readonly Partial<Job>[], aheadMs = 0) => {
  const clock = createFakeClock()
  const faults: string[] = []
  const stop = startHousekeeping({
    clock,
    sharedNow: () => clock.now() - aheadMs,
    jobs: jobs.map((job) => ({ deletes: 'rows', everyMs: MINUTE_MS, keptMs: () => 0, deleteSome: async () => 0, ...job })),
    onError: (thrown, doing) => faults.push(`${doing}: ${String(thrown)}`),
  })
  return { clock, faults, stop }
}

/** Lets time pass, and lets what becomes due finish. */
const pass = async (clock: ReturnType<typeof createFakeClock>, ms: number): Promise<void> => {
  clock.advance(ms)
  await turn()
}

describe('a job', () => {
  test('deletes what is older than it is kept, at each of its times, until housekeeping stops', async () => {
    const asked: string[] = []
    const { clock, stop } = start([{ keptMs: () => 10 * MINUTE_MS, deleteSome: async (before) => (asked.push(before), 0) }])
    await pass(clock, MINUTE_MS - 1)
    expect(asked).toEqual([])
    await pass(clock, 1)
    await pass(clock, MINUTE_MS)
    expect(asked).toEqual([isoTimestamp(T0 - 9 * MINUTE_MS), isoTimestamp(T0 - 8 * MINUTE_MS)])
    stop()
    await pass(clock, MINUTE_MS)
    expect([asked.length, clock.waiting]).toEqual([2, 0])
  })

  test('runs for the first time within a minute of the start, however long its interval is', async () => {
    let runs = 0
    const { clock } = start([{ everyMs: 60 * MINUTE_MS, deleteSome: async () => ((runs += 1), 0) }])
    await pass(clock, MINUTE_MS)
    expect(runs).toBe(1)
    await pass(clock, 60 * MINUTE_MS - 1)
    expect(runs).toBe(1)
    await pass(clock, 1)
    expect(runs).toBe(2)
  })

  test('deletes by the clock that all nodes share: one whose own clock is a year ahead deletes nothing that the others keep', async () => {
    const asked: string[] = []
    const aheadMs = 365 * 24 * 60 * MINUTE_MS
    const { clock } = start([{ keptMs: () => 10 * MINUTE_MS, deleteSome: async (before) => (asked.push(before), 0) }], aheadMs)
    await pass(clock, MINUTE_MS)
    expect(asked).toEqual([isoTimestamp(T0 - 9 * MINUTE_MS - aheadMs)])
  })

  test('follows an age that changes', async () => {
    const asked: string[] = []
    let keptMs = 0
    const { clock } = start([{ keptMs: () => keptMs, deleteSome: async (before) => (asked.push(before), 0) }])
    await pass(clock, MINUTE_MS)
    keptMs = 5 * MINUTE_MS
    await pass(clock, MINUTE_MS)
    expect(asked).toEqual([isoTimestamp(T0 + MINUTE_MS), isoTimestamp(T0 - 3 * MINUTE_MS)])
  })

  test('deletes in portions until one is not full, and others have their turn between them', async () => {
    let left = 1250
    const limits: number[] = []
    const { clock } = start([
      {
        deleteSome: async (_, limit) => {
          limits.push(limit)
          const deleted = Math.min(left, limit)
          left -= deleted
          return deleted
        },
      },
    ])
    await pass(clock, MINUTE_MS)
    expect([left, limits]).toEqual([750, [500]])
    for (const _ of [1, 2, 3]) await pass(clock, 0)
    expect([left, limits]).toEqual([0, [500, 500, 500]])
  })

  test('that fails is logged, is tried again at its next time, and keeps no other from its work', async () => {
    let done = 0
    const { clock, faults } = start([
      { deletes: 'records', deleteSome: () => Promise.reject(new Error('away')) },
      { deleteSome: async () => ((done += 1), 0) },
    ])
    await pass(clock, MINUTE_MS)
    await pass(clock, MINUTE_MS)
    expect([done, faults]).toEqual([2, ['old records not deleted: Error: away', 'old records not deleted: Error: away']])
  })
})
