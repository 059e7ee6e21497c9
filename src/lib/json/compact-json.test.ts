import { expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { compactJson, compactPieces } from './compact-json.ts'

const spaced = (value: unknown, space: string): string => JSON.stringify(value, null, space)

test('white space between tokens goes, and nothing else', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(' ', '\t', '\n', '\r\n ', '   '), (value, space) => {
      expect(compactJson(`${space}${spaced(value, space)}${space}`)).toBe(JSON.stringify(value))
    }),
  )
})

test.each([' " a \\" b " ', '"\\\\"', '{"a\\\\":" "}', '""'])('a string keeps its spaces and escapes: %s', (json) => {
  expect(JSON.parse(compactJson(json))).toEqual(JSON.parse(json))
  expect(compactJson(json)).toBe(JSON.stringify(JSON.parse(json)))
})

test('numbers keep the form in which they were written', () => {
  expect(compactJson('[ 1.0, 1E2 , 12345678901234567890 ]')).toBe('[1.0,1E2,12345678901234567890]')
})

test('a large text comes in pieces that are together the same, and cut no character', () => {
  const texts = ['x'.repeat(500_000), '\u{1F600}'.repeat(300_000), `a${'\u{1F600}'.repeat(300_000)}`, 'say "yes" \\ '.repeat(50_000)]
  const values = [...texts, texts, { [texts.join('')]: texts }, Array.from({ length: 200_000 }, (_, at) => at)]
  for (const value of values) {
    for (const space of ['', '\n  ']) {
      const pieces = [...compactPieces(spaced(value, space))]
      expect(pieces.length).toBeGreaterThan(3)
      for (const piece of pieces) expect([piece.length < 140_000, piece.isWellFormed()]).toEqual([true, true])
      expect(pieces.join('') === JSON.stringify(value)).toBe(true)
    }
  }
})
