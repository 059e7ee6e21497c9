import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createFakeIds } from '../../test/support/fake-ids.ts'
import { isoTimestamp } from '../lib/clock.ts'
import type { HoldStore } from '../storage/ledger/hold-store.ts'
import { expectRoom } from './expect-room.ts'

const WINDOW = { subject: 'key k', span: 'lifetime', start: '', end: null } as const

/** Holds of ten nano-dollars that are expected to end after these seconds; `random` is the byte that spreads clients. */
const open = (seconds: readonly number[] | null, random = 0) => {
  const clock = createFakeClock()
  let reads = 0
  const holds: Pick<HoldStore, 'expected'> = {
    async expected() {
      reads += 1
      if (seconds === null) throw new Error('away')
      return seconds.map((after) => ({ amount_n: 10, ends_at: isoTimestamp(clock.now() + after * 1000) }))
    },
  }
  const ids = { ...createFakeIds(), bytes: () => new Uint8Array([random]) }
  const room = expectRoom({ holds, clock, ids })
  return {
    until: (shortNanos: number, window: Parameters<typeof room.secondsUntil>[0] = WINDOW) => room.secondsUntil(window, shortNanos),
    reads: () => reads,
  }
}

test('a refusal waits for as many of the running requests as free what is short', async () => {
  const { until } = open([3, 5, 8])
  expect([await until(1), await until(10), await until(11), await until(30), await until(99)]).toEqual([3, 3, 5, 8, 8])
})

test('at least a second and at most a minute, and up to a fifth longer so that not all come back at once', async () => {
  expect(await open([0]).until(1)).toBe(1)
  expect(await open([-5]).until(1)).toBe(1)
  expect(await open([300]).until(1)).toBe(60)
  expect(await open([]).until(1)).toBe(1)
  expect([await open([10]).until(1), await open([10], 255).until(1)]).toEqual([10, 12])
})

test('each window is read once for the refusals of a moment', async () => {
  const { until, reads } = open([3])
  await Promise.all([until(1), until(2), until(1, { ...WINDOW, subject: 'key other' })])
  expect(reads()).toBe(2)
})

test('where storage has become unavailable, the client may come back soon', async () => {
  expect(await open(null).until(1)).toBe(1)
})
