import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { testSeal } from '../../test/support/test-seal.ts'
import { createSealedResults } from './sealed-results.ts'

const HOUR_MS = 3_600_000

const at = (hours: number) => createSealedResults({ now: () => 1_700_000_000_000 + hours * HOUR_MS }, testSeal)

test('property: what was sealed opens for its workspace within a day, whatever it says', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 0, max: 24 }), (text, hours) => {
      expect(at(hours).open('ws-1', at(0).seal('ws-1', text))).toBe(text)
    }),
  )
})

test('it opens for no other workspace, and not after a day', () => {
  const sealed = at(0).seal('ws-1', 'read by the model')
  expect(at(1).open('ws-2', sealed)).toBeNull()
  expect(at(25).open('ws-1', sealed)).toBeNull()
})

test('property: a seal of which any byte was changed does not open', () => {
  const sealed = Buffer.from(at(0).seal('ws-1', 'read by the model'), 'base64')
  fc.assert(
    fc.property(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), (index, change) => {
      const changed = Buffer.from(sealed)
      changed[index] = (changed[index] ?? 0) ^ change
      expect(at(0).open('ws-1', changed.toString('base64'))).toBeNull()
    }),
  )
})

test.each(['', 'not a seal', 'AAAA'])('%p is no seal', (text) => {
  expect(at(0).open('ws-1', text)).toBeNull()
})
