import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { createWork, TooMuchWork } from '../work.ts'
import { createRegex } from './finder.ts'
import { matches } from './matches.ts'
import { RegexRefused } from './parse.ts'

const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '^', '$', '\\b', '\\B')
const pattern = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    atom,
    fc.tuple(tie('node'), tie('node')).map(([left, right]) => left + right),
    fc.tuple(tie('node'), tie('node')).map(([left, right]) => `(?:${left}|${right})`),
    fc.tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}')).map(([inner, times]) => `(?:${inner})${times}`),
  ),
})).node
const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', ' ', '\n'), maxLength: 12 })

test("property: it matches where JavaScript's own engine does, with or without a length", () => {
  fc.assert(
    fc.property(pattern, text, (source, given) => {
      try {
        expect(matches(createRegex(source), given)).toBe(new RegExp(source).test(given))
      } catch (thrown) {
        // A pattern that matches no characters, only places.
        if (!(thrown instanceof RegexRefused)) throw thrown
      }
    }),
    { numRuns: 3000 },
  )
})

test.each([
  ['^[a-z]*$', '', true],
  ['^[a-z]*$', 'B', false],
  ['^(?:yes)?$', '', true],
  ['x|$', 'q', true],
  ['.*', '', true],
])('%s in %j: %p', (source, given, expected) => {
  expect(matches(createRegex(source), given)).toBe(expected)
})

describe('its work is bounded', () => {
  const mixed = Array.from({ length: 20_000 }, (_, at) => (((at * 2654435761) >>> 13) % 2 === 0 ? 'a' : 'b')).join('')

  test('a pattern that leads every unit to a new state is given up', () => {
    expect(() => matches(createRegex('a[ab]{900}c'), mixed, createWork(10_000_000))).toThrow(TooMuchWork)
  })

  test('an ordinary one costs little more than its text is long', () => {
    const work = createWork(10_000_000)
    expect(matches(createRegex('a[ab]{3}c'), mixed, work)).toBe(false)
    expect(work.left).toBeGreaterThan(9_900_000)
  })
})
