import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { rangeOf } from '../../lib/network/address-ranges.ts'
import { clientAddress } from './client-address.ts'

const trusted = ['10.0.0.0/8', '::1', 'fd00::/8'].flatMap((text) => rangeOf(text) ?? [])

describe('the address of a client', () => {
  test.each([
    ['no header', '10.0.0.1', null, '10.0.0.1'],
    ['the one that the proxy names', '10.0.0.1', '192.0.2.7', '192.0.2.7'],
    ['of several the last that is no proxy', '10.0.0.1', '203.0.113.1, 192.0.2.7, 10.0.0.2', '192.0.2.7'],
    ['where all are proxies the first of them', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['with a port', '10.0.0.1', '192.0.2.7:4711', '192.0.2.7'],
    ['of the new kind, with a port', '::1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['of the new kind', 'fd00::5', '2001:db8::7', '2001:db8::7'],
    ['a proxy in the form of IPv6', '::ffff:10.0.0.1', '192.0.2.7', '192.0.2.7'],
    ['nothing after what is no address', '10.0.0.1', '192.0.2.7, unknown', '10.0.0.1'],
    ['nothing in an empty header', '10.0.0.1', '', '10.0.0.1'],
    ['a peer that is no proxy', '192.0.2.1', '192.0.2.7', '192.0.2.1'],
    ['a connection that is gone', '', '192.0.2.7', ''],
  ])('%s', (_name, peer, forwarded, expected) => {
    expect(clientAddress(peer, forwarded, trusted)).toBe(expected)
  })

  test('without trusted proxies no header counts', () => {
    fc.assert(fc.property(fc.string(), (header) => clientAddress('10.0.0.1', header, []) === '10.0.0.1'))
  })

  test('whatever a client writes in front, the address that the proxy added counts', () => {
    fc.assert(fc.property(fc.string(), (own) => clientAddress('10.0.0.1', `${own}, 192.0.2.7`, trusted) === '192.0.2.7'))
  })

  test('a header of any length is read for no longer than twenty addresses', () => {
    expect(clientAddress('10.0.0.1', `192.0.2.7, ${Array(20).fill('10.0.0.2').join(', ')}`, trusted)).toBe('10.0.0.2')
  })
})
