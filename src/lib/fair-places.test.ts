import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { createFairPlaces } from './fair-places.ts'

const places = (most: number, share: number, always = 1) => createFairPlaces(() => ({ most, share, always }))

const fill = (room: ReturnType<typeof places>, holder: string): number => {
  let taken = 0
  for (; room.obstacle(holder, 1) === null; taken += 1) room.take(holder, 1)
  return taken
}

test('one holder alone gets its share, and no more', () => {
  expect(fill(places(40, 0.8), 'a')).toBe(32)
  expect(fill(places(4096, 0.8), 'a')).toBe(3277)
  expect(fill(places(40, 1), 'a')).toBe(40)
})

test('where there are few places, one holder may have them all', () => {
  for (const most of [1, 2, 3, 4]) expect(fill(places(most, 0.8), 'a')).toBe(most)
})

test('however many holders press, a newcomer finds a place while there are more places than holders', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 200 }),
      fc.integer({ min: 1, max: 199 }),
      fc.constantFrom(0.5, 0.8, 0.9),
      (most, holders, share) => {
        fc.pre(holders * (1 + share / (1 - share)) < most)
        const room = places(most, share)
        // In turns, each holder takes as often as it may.
        for (let moved = true; moved;) {
          moved = false
          for (let holder = 0; holder < holders; holder += 1) {
            if (room.obstacle(`h${holder}`, 1) !== null) continue
            room.take(`h${holder}`, 1)
            moved = true
          }
        }
        expect(room.obstacle('newcomer', 1)).toBeNull()
      },
    ),
  )
})

test('never more are taken than there are, whoever takes and gives back; and an empty room is empty', () => {
  const step = fc.record({ holder: fc.nat(4), amount: fc.integer({ min: 1, max: 30 }), gives: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), fc.constantFrom(0.5, 0.8, 1), (steps, share) => {
      const room = places(100, share, 20)
      const held = [0, 0, 0, 0, 0]
      for (const { holder, amount, gives } of steps) {
        const has = held[holder] ?? 0
        if (gives) {
          room.take(`${holder}`, -has)
          held[holder] = 0
          continue
        }
        const obstacle = room.obstacle(`${holder}`, amount)
        if (has + amount <= 20 && room.taken + amount <= 100) expect(obstacle).toBeNull()
        if (obstacle !== null) continue
        room.take(`${holder}`, amount)
        held[holder] = has + amount
        expect(room.taken).toBeLessThanOrEqual(100)
      }
      held.forEach((has, holder) => room.take(`${holder}`, -has))
      expect(room.taken).toBe(0)
    }),
  )
})
