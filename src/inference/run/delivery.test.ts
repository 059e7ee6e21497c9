import { expect, test } from 'bun:test'

import type { Frame } from '../../canonical/event.ts'
import { Delivery } from './delivery.ts'

const native = (characters: number): Frame => ({ events: [], native: { dialect: 'responses', json: 'x'.repeat(characters) } })
const CONTENT: Frame = { events: [{ type: 'text', text: 'Hi' }] }

/** Lists what happens when a stream's first content comes after these frames: the number of frames of each delivery, and `turn` for each turn. */
const released = async (before: readonly Frame[]): Promise<(number | 'turn')[]> => {
  const seen: (number | 'turn')[] = []
  const delivery = new Delivery(
    true,
    null,
    (frames) => void seen.push(frames.length),
    async () => void seen.push('turn'),
  )
  expect(delivery.take(before)).toBeUndefined()
  expect(delivery.begun).toBe(false)
  await delivery.take([CONTENT])
  expect(delivery.begun).toBe(true)
  return seen
}

test('a few frames before the first content go out with it at once', async () => {
  expect(await released([native(1000), native(1000)])).toEqual([3])
})

test('megabytes of them go out in steps, between which other requests get their turn', async () => {
  const seen = await released(Array.from({ length: 20 }, () => native(100_000)))
  expect(seen.filter((each) => each === 'turn').length).toBeGreaterThan(5)
  expect(seen.filter((each) => each !== 'turn').reduce((sum, frames) => sum + frames, 0)).toBe(21)
})

test('and so do thousands of small ones', async () => {
  const seen = await released(Array.from({ length: 250 }, () => native(10)))
  expect(seen).toEqual([100, 'turn', 100, 'turn', 51])
})
