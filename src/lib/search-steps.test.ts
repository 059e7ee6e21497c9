import { expect, test } from 'bun:test'

import { testInSteps } from './search-steps.ts'
import { atOnce } from './steps.ts'

const PIECE = 256 * 1024
const ID = /"id"\s*:\s*"web"/

test('a match is found wherever the pieces are cut, with megabytes of white space within it too', () => {
  for (const match of ['"id":"web"', `"id"${' '.repeat(1_000_000)}:${'\n'.repeat(900_000)}"web"`]) {
    for (let before = PIECE - 12; before <= PIECE + 2; before += 1)
      expect(atOnce(testInSteps(ID, `${'x'.repeat(before)}${match}${'y'.repeat(PIECE)}`))).toBe(true)
  }
  expect(atOnce(testInSteps(ID, `${'x'.repeat(3 * PIECE)}"id":"wel"`))).toBe(false)
})

test('text that is four times as long is searched in more steps, and short text at once', () => {
  const steps = (text: string): number => [...testInSteps(ID, text)].length
  expect(steps('x'.repeat(PIECE))).toBe(0)
  for (const text of ['x', ' ', ': ']) expect(steps(text.repeat(8_000_000))).toBeGreaterThan(steps(text.repeat(2_000_000)))
})
