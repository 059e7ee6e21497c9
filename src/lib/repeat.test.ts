import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { repeat } from './repeat.ts'

const start = (task: () => Promise<void>) => {
  const clock = createFakeClock()
  const faults: unknown[] = []
  return { clock, faults, stop: repeat(clock, 100, task, (thrown) => faults.push(thrown)) }
}

test('the first run comes after one interval, the next one an interval after the end of the last', async () => {
  const runs: (() => void)[] = []
  const { clock } = start(() => new Promise((resolve) => runs.push(resolve)))
  clock.advance(99)
  expect(runs).toHaveLength(0)
  clock.advance(1)
  expect(runs).toHaveLength(1)
  clock.advance(10_000) // a slow run never overlaps with the next one
  expect(runs).toHaveLength(1)
  runs[0]?.()
  await turn()
  clock.advance(99)
  expect(runs).toHaveLength(1)
  clock.advance(1)
  expect(runs).toHaveLength(2)
})

test('a failed run is reported and is not the last', async () => {
  let runs = 0
  const { clock, faults } = start(async () => {
    runs += 1
    throw new Error(`run ${runs}`)
  })
  for (let round = 0; round < 3; round += 1) {
    clock.advance(100)
    await turn()
  }
  expect(faults.map(String)).toEqual(['Error: run 1', 'Error: run 2', 'Error: run 3'])
})

test('stopped while it waits, nothing runs and nothing is left behind', () => {
  let runs = 0
  const { clock, stop } = start(async () => void (runs += 1))
  stop()
  clock.advance(1000)
  expect([runs, clock.waiting]).toEqual([0, 0])
})

test('stopped while it runs, that run is the last', async () => {
  const runs: (() => void)[] = []
  const { clock, stop } = start(() => new Promise((resolve) => runs.push(resolve)))
  clock.advance(100)
  stop()
  runs[0]?.()
  await turn()
  expect([runs.length, clock.waiting]).toEqual([1, 0])
})
