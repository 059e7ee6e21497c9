import { expect, test } from 'bun:test'

import { liveBefore } from '../src/screens/presets/live-before.ts'

type Move = readonly [from: number | null, to: number]

/** `moves`: oldest first. */
const before = (...moves: readonly Move[]): number | null => {
  const last = moves.at(-1)
  return liveBefore(moves.map(([from, to]) => ({ label: null, from, to })).toReversed(), last?.[1] ?? 1)
}

test.each<[Move[], number | null]>([
  [[[null, 1]], null],
  [
    [
      [null, 1],
      [1, 2],
      [2, 3],
    ],
    2,
  ],
  [
    [
      [null, 1],
      [1, 2],
      [2, 3],
      [3, 2],
    ],
    1,
  ],
  [
    [
      [null, 1],
      [1, 2],
      [2, 3],
      [3, 2],
      [2, 1],
    ],
    null,
  ],
  [
    [
      [null, 1],
      [1, 2],
      [2, 3],
      [3, 2],
      [2, 4],
    ],
    2,
  ],
  [
    [
      [null, 1],
      [1, 2],
      [2, 3],
      [3, 2],
      [2, 3],
    ],
    2,
  ],
  [
    [
      [2, 3],
      [3, 4],
      [4, 3],
    ],
    2,
  ],
])('a preset goes back to what was live before, and never to what was rolled back from: %j', (moves, expected) => {
  expect(before(...moves)).toBe(expected)
})

test('moves of labels are none of the live version', () => {
  const moves = [
    { label: 'canary', from: 1, to: 3 },
    { label: null, from: 1, to: 2 },
    { label: null, from: null, to: 1 },
  ]
  expect(liveBefore(moves, 2)).toBe(1)
})
