import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { isPublicAddress } from './safe-address.ts'

/**
 * For each range: the address before it, its first, its last, and the address after it; null if
 * that is no address or belongs to another range.
 */
const EDGES: Readonly<Record<string, readonly [before: string | null, first: string, last: string, behind: string | null]>> = {
  '0.0.0.0/8': [null, '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  '10.0.0.0/8': ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  '100.64.0.0/10': ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  '127.0.0.0/8': ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  '168.63.129.16, for machines of Azure': ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  '169.254.0.0/16': ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  '172.16.0.0/12': ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  '192.0.0.0/24': ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  '192.0.2.0/24': ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  '192.88.99.0/24': ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  '192.168.0.0/16': ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  '198.18.0.0/15': ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  '198.51.100.0/24': ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  '203.0.113.0/24': ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  '224.0.0.0/4': ['223.255.255.255', '224.0.0.0', '239.255.255.255', null],
  '240.0.0.0/4': [null, '240.0.0.0', '255.255.255.255', null],
  '::/3, which nobody has but this machine and translators': [null, '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2000::'],
  '4000:: and all behind it': ['3fff:1000::', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
  '2001::/23': ['2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  '2001:db8::/32': ['2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  '2002::/16': ['2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  '3fff::/20': ['3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
}

for (const [range, [before, first, last, behind]] of Object.entries(EDGES)) {
  describe(range, () => {
    test('its first and its last address are refused', () => {
      expect(isPublicAddress(first)).toBe(false)
      expect(isPublicAddress(last)).toBe(false)
    })
    if (before !== null) test('the address before it is not', () => expect(isPublicAddress(before)).toBe(true))
    if (behind !== null) test('the address behind it is not', () => expect(isPublicAddress(behind)).toBe(true))
  })
}

test('an IPv4 address inside an IPv6 one counts as itself, in every spelling', () => {
  for (const inside of ['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:7f00:0001', '::FFFF:10.0.0.1', '::ffff:169.254.169.254']) {
    expect(isPublicAddress(inside)).toBe(false)
  }
  expect(isPublicAddress('::ffff:8.8.8.8')).toBe(true)
})

test.each([
  '::1',
  '::127.0.0.1',
  '::ffff:0:127.0.0.1',
  '::ffff:0:a00:1',
  '64:ff9b::a00:1',
  '64:ff9b:1::a00:1',
  '100::1',
  '5f00::1',
  'fd00::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
])('%s, by which a machine reaches what only it can see, is refused', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test('known public addresses pass', () => {
  for (const address of ['1.1.1.1', '8.8.8.8', '104.18.6.192', '2606:4700:4700::1111', '2a00:1450:4001:82a::200e'])
    expect(isPublicAddress(address)).toBe(true)
})

test('what is no plain address is refused: other notations of one, zones, brackets, names', () => {
  for (const text of [
    '',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '1.1.1',
    '1.1.1.1.1',
    '256.1.1.1',
    ' 1.1.1.1',
    'fe80::1%eth0',
    '[::1]',
    ':::',
    '1::2::3',
    '::ffff:1.2.3',
    'localhost',
  ]) {
    expect(isPublicAddress(text)).toBe(false)
  }
})

test('no address of a private range passes', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [a = 0, b = 0] = address.split('.').map(Number)
      if (a === 10 || a === 127 || a === 0 || (a === 192 && b === 168) || (a === 172 && b >= 16 && b <= 31) || a >= 224) {
        expect(isPublicAddress(address)).toBe(false)
      }
    }),
    { numRuns: 1000 },
  )
})
