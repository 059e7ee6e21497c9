import { expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createKeepAlive } from './keep-alive.ts'

const watchOne = () => {
  const clock = createFakeClock()
  const pings: number[] = []
  const keepAlive = createKeepAlive(clock, 10_000)
  const watched = keepAlive.watch(() => pings.push(clock.monotonicMs()))
  return { clock, pings, keepAlive, ...watched }
}

test('a silent stream is pinged after each ten seconds', () => {
  const { clock, pings } = watchOne()
  clock.advance(9999)
  expect(pings).toEqual([])
  clock.advance(25_001)
  expect(pings).toEqual([10_000, 20_000, 30_000])
})

test('silence is counted from the last touch', () => {
  const { clock, pings, touch } = watchOne()
  for (let second = 0; second < 60; second += 5) {
    clock.advance(5000)
    touch()
  }
  expect(pings).toEqual([])
  clock.advance(10_000)
  expect(pings).toEqual([70_000])
})

test('a stopped stream is pinged no more, and without streams there is no timer', () => {
  const { clock, pings, stop } = watchOne()
  stop()
  clock.advance(60_000)
  expect([pings, clock.waiting]).toEqual([[], 0])
})

test('a stream that begins after all others have ended is watched again', () => {
  const { clock, pings, stop, keepAlive } = watchOne()
  stop()
  clock.advance(5000)
  keepAlive.watch(() => pings.push(clock.monotonicMs()))
  clock.advance(10_000)
  expect(pings).toEqual([15_000])
})

test('ten thousand streams share one timer', () => {
  const clock = createFakeClock()
  const keepAlive = createKeepAlive(clock, 10_000)
  let pings = 0
  const watched = Array.from({ length: 10_000 }, () => keepAlive.watch(() => (pings += 1)))
  expect(clock.waiting).toBe(1)
  clock.advance(10_000)
  expect(pings).toBe(10_000)
  for (const { stop } of watched) stop()
  clock.advance(1000)
  expect(clock.waiting).toBe(0)
})
