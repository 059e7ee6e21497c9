import { expect, test } from 'bun:test'

import { isEscapedSpace, startsString } from './string-start.ts'

test.each([
  [String.raw`{"a":"x`, true],
  [String.raw`{"a":" ` + '\u00a0x', true],
  [String.raw`{"a":"\n\r \tx`, true],
  [String.raw`{"a":"b x`, false],
  [String.raw`{"a":"\\nx`, false],
  [String.raw`{"a":"\bx`, false],
  ['x', false],
  ['  x', false],
])('%s begins a string with its last character: %p', (json, begins) => {
  expect(startsString(json, json.length - 1)).toBe(begins)
})

test('white space beyond 64 Ki characters counts as the beginning of a string', () => {
  expect(startsString(`["a${' '.repeat(70_000)}x`, 70_003)).toBe(true)
  expect(startsString(`["a${' '.repeat(60_000)}x`, 60_003)).toBe(false)
})

test('a letter belongs to an escape where a backslash stands before it', () => {
  expect([isEscapedSpace(String.raw`\n`, 1), isEscapedSpace(String.raw`\b`, 1), isEscapedSpace('n', 0)]).toEqual([true, false, false])
})
