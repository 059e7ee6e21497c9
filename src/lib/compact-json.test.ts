import { expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { compactJson } from './compact-json.ts'

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
