import { expect, test } from 'bun:test'

import type { Clock } from '../lib/clock.ts'
import { systemIds } from '../lib/id.ts'
import { retryConflicts, type RetryableFailure } from './database.ts'
import { StorageConflict } from './storage-errors.ts'

/** Time advances only by what was waited for. */
const createFakeClock = (): Clock & { readonly waits: number[] } => {
  let time = 0
  const waits: number[] = []
  return {
    waits,
    now: () => time,
    monotonicMs: () => time,
    after(delayMs, task) {
      waits.push(delayMs)
      time += delayMs
      queueMicrotask(task)
      return () => {}
    },
  }
}

const run = async (failure: RetryableFailure | null, failures: number) => {
  const clock = createFakeClock()
  let tries = 0
  const attempt = async (): Promise<string> => {
    tries += 1
    if (tries <= failures) throw new Error(`failure ${tries}`)
    return 'done'
  }
  const outcome = await retryConflicts(attempt, { clock, ids: systemIds, retryableFailure: () => failure, startMs: 0 }).catch(
    (error: unknown) => error,
  )
  return { outcome, tries, clock }
}

test('a conflict that ends is not seen', async () => {
  const { outcome, tries, clock } = await run('conflict', 4)
  expect(outcome).toBe('done')
  expect(tries).toBe(5)
  for (const wait of clock.waits) {
    expect(wait).toBeGreaterThanOrEqual(5)
    expect(wait).toBeLessThanOrEqual(50)
  }
})

test('StorageConflict after five tries that ran and lost', async () => {
  const { outcome, tries } = await run('conflict', Infinity)
  expect(outcome).toBeInstanceOf(StorageConflict)
  expect(tries).toBe(5)
})

test('StorageConflict after two seconds of a lock that others hold', async () => {
  const { outcome, tries, clock } = await run('locked', Infinity)
  expect(outcome).toBeInstanceOf(StorageConflict)
  expect(tries).toBeGreaterThan(40)
  expect(clock.monotonicMs()).toBeGreaterThanOrEqual(2000)
  expect(clock.monotonicMs()).toBeLessThanOrEqual(2050)
})

test('any other failure is thrown at once, as it is', async () => {
  const { outcome, tries } = await run(null, 1)
  expect(outcome).toEqual(new Error('failure 1'))
  expect(tries).toBe(1)
})
