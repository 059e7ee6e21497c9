import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { excerpt } from './excerpt.ts'

test('a text of at most the length is kept as it is', () => {
  expect(excerpt('', 100)).toBe('')
  expect(excerpt('x'.repeat(100), 100)).toBe('x'.repeat(100))
})

test('a longer one loses its middle', () => {
  expect(excerpt('0123456789ABCDEF', 11)).toBe('0123...CDEF')
  expect(excerpt('0123456789ABCDEF', 10)).toBe('0123...DEF')
})

test('whatever the text, it is never longer, keeps its ends and splits no character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
      const short = excerpt(text, 100)
      expect(short.length).toBeLessThanOrEqual(100)
      expect(short.isWellFormed()).toBe(true)
      expect(text.length <= 100 ? short === text : short.includes('...')).toBe(true)
    }),
  )
})
