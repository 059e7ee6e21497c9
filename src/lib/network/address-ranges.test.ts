import { describe, expect, test } from 'bun:test'

import { addressValue, isWithin, rangeOf } from './address-ranges.ts'

const holds = (range: string, address: string): boolean | null => {
  const [one, value] = [rangeOf(range), addressValue(address)]
  return one === null || value === null ? null : isWithin(value, one)
}

describe('ranges of addresses', () => {
  test.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3', '10.1.2.4', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['fd00::/8', 'fd12:3456::1', true],
    ['fd00::/8', 'fe80::1', false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', true],
    ['::ffff:10.0.0.0/104', '10.9.9.9', true],
    ['::ffff:10.0.0.0/104', '11.9.9.9', false],
  ])('%s and %s: %p', (range, address, expected) => {
    expect(holds(range, address)).toBe(expected)
  })

  test.each([
    '',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    '10.0.0',
    'localhost',
    '::/129',
    '::ffff:10.0.0.0/95',
    '10.0.0.0/8 ',
    '1:2:3:4:5::6:7:8:9',
    '1:2:3:4::5:6:7:8',
    'g::1',
    '1::2::3',
  ])('%p is no range', (text) => {
    expect(rangeOf(text)).toBeNull()
  })
})
