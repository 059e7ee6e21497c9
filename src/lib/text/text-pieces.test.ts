import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { textPieces } from './text-pieces.ts'

const unit = fc.constantFrom('a', '\u20ac', '\ud83d', '\ude00', '\ud83d\ude00')

test('property: pieces make up the text, are as long as asked or one more, and cut no character in two', () => {
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (text, length) => {
      const pieces = [...textPieces(text, length)]
      expect(pieces.join('')).toBe(text)
      expect(pieces.slice(0, -1).every((piece) => piece.length === length || piece.length === length + 1)).toBe(true)
      expect(Buffer.concat(pieces.map((piece) => Buffer.from(piece))).equals(Buffer.from(text))).toBe(true)
    }),
  )
})

test('an empty text has no pieces', () => {
  expect([...textPieces('', 4)]).toEqual([])
})
