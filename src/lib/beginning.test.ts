import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { beginning } from './beginning.ts'

test('a text of at most the length is kept as it is, and a longer one loses its end', () => {
  expect(beginning('', 3)).toBe('')
  expect(beginning('abc', 3)).toBe('abc')
  expect(beginning('abcd', 3)).toBe('abc')
  expect(beginning('ab😀d', 3)).toBe('ab')
})

test('whatever the text, it is never longer than asked, shorter by one at most, and splits no character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.nat(60), (text, most) => {
      const cut = beginning(text, most)
      expect(text.startsWith(cut)).toBe(true)
      expect(cut.length).toBeLessThanOrEqual(most)
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, most) - 1)
      expect(cut.isWellFormed()).toBe(true)
    }),
  )
})
