import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { isExactInteger, parseExact } from './exact-json.ts'

test.each(['12345678901234567890', '-9007199254740993', '-9223372036854775807', '100000000000000000000000'])(
  '%s is written as it was read',
  (number) => {
    const text = `{"a":[${number}]}`
    const parsed = parseExact(text)
    expect(JSON.stringify(parsed)).toBe(text)
    expect(isExactInteger((parsed as { a: unknown[] }).a[0])).toBe(true)
  },
)

test('numbers within a double stay numbers', () => {
  expect(parseExact('[9007199254740991,-9007199254740992,0.1234567890123456789,1e30,"12345678901234567890"]')).toEqual([
    9007199254740991,
    -9007199254740992,
    0.12345678901234568,
    1e30,
    '12345678901234567890',
  ])
})

test('property: whatever JSON.stringify writes is read as JSON.parse reads it', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => expect(JSON.stringify(parseExact(JSON.stringify(value)))).toBe(JSON.stringify(value))))
})
