import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { ArgumentsScan } from './arguments-scan.ts'

test('property: an object is complete with its last character and not before, however it is cut', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), (value, cut) => {
      const json = JSON.stringify({ value })
      const at = cut % json.length
      const scan = new ArgumentsScan()
      scan.push(json.slice(0, at))
      expect(scan.complete).toBe(false)
      scan.push(json.slice(at))
      expect(scan.complete).toBe(true)
    }),
  )
})

test('brackets and escaped quotes inside strings do not count', () => {
  const scan = new ArgumentsScan()
  for (const piece of ['{"a', '}\\', '"]":"\\\\', '"']) {
    scan.push(piece)
    expect(scan.complete).toBe(false)
  }
  scan.push('}')
  expect(scan.complete).toBe(true)
})
