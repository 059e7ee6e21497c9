import { expect, test } from 'bun:test'
import fc from 'fast-check'

import type { Split } from '../contract/split.ts'
import { layOut, type Segment, slotOf, versionAt } from './split.ts'

const SLOTS = 1_000_000

const splits = fc
  .uniqueArray(fc.record({ version: fc.integer({ min: 1, max: 12 }), weight: fc.double({ min: 0, max: 1000, noNaN: true }) }), {
    selector: ({ version }) => version,
    minLength: 1,
    maxLength: 8,
  })
  .filter((all) => all.some(({ weight }) => weight > 1e-6))

const shareOf = (segments: readonly Segment[]): Map<number, number> => {
  const shares = new Map<number, number>()
  let from = 0
  for (const { end, version } of segments) {
    expect(end).toBeGreaterThan(from)
    shares.set(version, (shares.get(version) ?? 0) + end - from)
    from = end
  }
  expect(from).toBe(SLOTS)
  return shares
}

const assertShares = (segments: readonly Segment[], wanted: readonly Split[]): void => {
  const total = wanted.reduce((sum, { weight }) => sum + weight, 0)
  const shares = shareOf(segments)
  for (const { version, weight } of wanted) {
    expect(Math.abs((shares.get(version) ?? 0) - (weight / total) * SLOTS)).toBeLessThanOrEqual(1)
  }
}

/** The number of slots whose version has changed. */
const moved = (before: readonly Segment[], after: readonly Segment[]): number => {
  const ends = [...new Set([...before, ...after].map(({ end }) => end))].toSorted((one, other) => one - other)
  return ends.reduce((count, end, at) => {
    const from = at === 0 ? 0 : (ends[at - 1] ?? 0)
    return versionAt(before, from) === versionAt(after, from) ? count : count + end - from
  }, 0)
}

test('every version has the share of its weight, whatever came before', () => {
  fc.assert(
    fc.property(fc.array(splits, { minLength: 1, maxLength: 6 }), (changes) => {
      let segments: readonly Segment[] = []
      for (const change of changes) {
        segments = layOut(change, segments)
        assertShares(segments, change)
      }
    }),
    { numRuns: 300 },
  )
})

test('a change of weights moves exactly the share that changes hands', () => {
  fc.assert(
    fc.property(splits, splits, (one, other) => {
      const before = layOut(one)
      const after = layOut(other, before)
      const [had, has] = [shareOf(before), shareOf(after)]
      const gained = [...has].reduce((sum, [version, share]) => sum + Math.max(0, share - (had.get(version) ?? 0)), 0)
      expect(moved(before, after)).toBe(gained)
    }),
    { numRuns: 300 },
  )
})

test('of 10,000 sessions each version gets its weight as near as chance allows, at nine to one within 1 %, and nobody leaves a version that keeps or gains weight', () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `session session-${at}`)
  const versionsOf = (segments: readonly Segment[]) => names.map((name) => versionAt(segments, slotOf('preset-1', name)))
  const shareIn = (versions: readonly number[], version: number) => versions.filter((one) => one === version).length / names.length
  const steps = [5, 10, 25, 50].map((weight) => [
    { version: 1, weight: 100 - weight },
    { version: 2, weight },
  ])
  let segments: readonly Segment[] = []
  let before: readonly number[] = []
  for (const step of steps) {
    segments = layOut(step, segments)
    const versions = versionsOf(segments)
    // Names fall on slots at random, so four standard deviations are tolerated; for 10,000 names one is 0.3 % at nine to one and 0.5 % at
    // halves.
    for (const { version, weight } of step) {
      const part = weight / 100
      expect(Math.abs(shareIn(versions, version) - part)).toBeLessThan(
        Math.min(4 * Math.sqrt((part * (1 - part)) / names.length), part <= 0.1 ? 0.01 : 1),
      )
    }
    expect(before.filter((version, at) => version === 2 && versions[at] !== 2)).toEqual([])
    expect(versionsOf(segments)).toEqual(versions)
    before = versions
  }
})

test('a name falls on the same slot in every release, so that no session changes its version when nodes are replaced', () => {
  expect(slotOf('preset-1', 'session session-1')).toBe(192_362)
})

test('a layout does not grow with the number of changes: two versions that take turns come back to two segments', () => {
  let segments: readonly Segment[] = []
  for (let step = 1; step < 100; step += 1) {
    segments = layOut(
      [
        { version: 1, weight: 100 - step },
        { version: 2, weight: step },
      ],
      segments,
    )
  }
  expect(segments).toEqual([
    { end: 10_000, version: 1 },
    { end: 1_000_000, version: 2 },
  ])
})

test('two presets draw apart from each other', () => {
  const names = Array.from({ length: 2000 }, (_, at) => `session ${at}`)
  const half = SLOTS / 2
  const both = names.filter((name) => slotOf('one', name) < half && slotOf('two', name) < half).length
  expect(Math.abs(both / names.length - 0.25)).toBeLessThan(0.05)
})

test('a layout that has fallen into a thousand pieces is made anew', () => {
  const pieces = (count: number): readonly Segment[] =>
    Array.from({ length: count }, (_, at) => ({ end: at + 1 === count ? SLOTS : (at + 1) * 900, version: 1 + (at % 2) }))
  const halves = [
    { version: 1, weight: 1 },
    { version: 2, weight: 1 },
  ]
  expect(layOut(halves, pieces(1000)).length).toBeGreaterThan(900)
  expect(layOut(halves, pieces(1001))).toEqual([
    { end: SLOTS / 2, version: 1 },
    { end: SLOTS, version: 2 },
  ])
})
