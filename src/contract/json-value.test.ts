import { expect, test } from 'bun:test'

import { jsonValue } from './json-value.ts'

test('JSON is taken as it is, and what it holds is not walked through', () => {
  const unread = {
    get member(): never {
      throw new Error('It was looked into.')
    },
  }
  expect(jsonValue.parse(unread) === (unread as unknown)).toBe(true)
  for (const value of [null, false, 0, '', [], {}]) expect(jsonValue.parse(value)).toEqual(value)
})

test('nothing is no JSON', () => {
  expect(jsonValue.safeParse(undefined).success).toBe(false)
})
