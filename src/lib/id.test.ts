import { expect, test } from 'bun:test'

import { randomBase62, systemIds } from './id.ts'

test('a prefixed id is the prefix, a hyphen and 24 base62 characters', () => {
  expect(systemIds.prefixed('gen')).toMatch(/^gen-[0-9A-Za-z]{24}$/)
})

test('ids do not repeat, also across the blocks in which randomness is drawn', () => {
  const ids = Array.from({ length: 5000 }, () => systemIds.prefixed('gen'))
  expect(new Set(ids).size).toBe(ids.length)
})

test('every base62 digit is as likely as any other', () => {
  const drawn = 62_000
  const counts = new Map<string, number>()
  for (const digit of randomBase62(drawn)) counts.set(digit, (counts.get(digit) ?? 0) + 1)
  expect(counts.size).toBe(62)
  // A modulo without the redraw would make the first eight digits a quarter more frequent: 1250 of 1000.
  for (const count of counts.values()) expect(Math.abs(count - drawn / 62)).toBeLessThan(200)
})

test.each([0, 1, 24, 5000])('a text of %d digits has exactly that many', (length) => {
  expect(randomBase62(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`))
})

test('a UUID is of version 4', () => {
  expect(systemIds.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('bytes are as many as asked for, and not the same twice', () => {
  expect(systemIds.bytes(32)).toHaveLength(32)
  expect(systemIds.bytes(32)).not.toEqual(systemIds.bytes(32))
})
