import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { cutText } from './cut-text.ts'

test('a text of at most the length is kept as it is, and a longer one loses its end', () => {
  expect(cutText('', 3)).toBe('')
  expect(cutText('abc', 3)).toBe('abc')
  expect(cutText('abcd', 3)).toBe('abc')
  expect(cutText('ab😀d', 3)).toBe('ab')
})

test('whatever the text, it is never longer than asked, shorter by one at most, and splits no character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.nat(60), (text, most) => {
      const cut = cutText(text, most)
      expect(text.startsWith(cut)).toBe(true)
      expect(cut.length).toBeLessThanOrEqual(most)
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, most) - 1)
      expect(cut.isWellFormed()).toBe(true)
    }),
  )
})
