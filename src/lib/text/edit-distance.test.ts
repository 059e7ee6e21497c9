import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { threadCpu } from '../../../test/support/thread-cpu.ts'
import { nearDistance } from './edit-distance.ts'

/** Levenshtein as its definition says it, without a limit. */
const distanceOf = (from: string, to: string): number => {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const substituted = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(substituted, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}

test('it is the edit distance, or Infinity from a third of the shorter text on', () => {
  const near = fc.string({ unit: fc.constantFrom('a', 'b', '-'), maxLength: 24 })
  fc.assert(
    fc.property(near, near, (wanted, known) => {
      const distance = distanceOf(wanted, known)
      const shorter = Math.min(wanted.length, known.length)
      const isNear = distance < shorter && distance <= Math.max(2, shorter / 3)
      expect(nearDistance(wanted, known)).toBe(isNear ? distance : Number.POSITIVE_INFINITY)
    }),
    { numRuns: 5000 },
  )
})

/** The cost is counted in processor time of this thread, beside that of a comparison of every character with every other. */
test.each([
  ['have nothing in common', (index: number) => `${index}`.repeat(50)],
  ['differ in a few characters', (index: number) => `us.anthropic.claude-3-5-sonnet-${index}-with-a-long-name-20250101-v1:0`],
  ['differ in length', (index: number) => `${index}`],
])('a name is compared with 500 others at a fifth of the whole cost if they %s', (_, known) => {
  const others = Array.from({ length: 500 }, (_each, index) => known(1000 + index).slice(0, 100))
  const wanted = `us.anthropic.claude-3-5-sonnet-zzzz-with-a-long-name-20250101-v1:0`
  const costOf = (distance: (a: string, b: string) => number): number => {
    const before = threadCpu()
    for (let round = 0; round < 2; round += 1) for (const other of others) distance(wanted, other)
    return threadCpu() - before
  }
  costOf(nearDistance)
  expect(costOf(nearDistance) * 5).toBeLessThan(costOf(distanceOf))
})
