import { expect, test } from 'bun:test'
import { crc32 as crcOfZlib } from 'node:zlib'
import fc from 'fast-check'

import { crc32 } from './crc32.ts'

test('the checksum of any text is that of zlib', () => {
  expect(crc32('123456789')).toBe(0xcbf4_3926)
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => crc32(text) === crcOfZlib(text)))
})
