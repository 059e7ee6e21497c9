import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { dollars, nanosOf, tokenCostNanos } from './money.ts'

/** A price as operators write it: a decimal with few digits, and the exact fraction that it means. */
const price = fc
  .record({ units: fc.integer({ min: 0, max: 9_999_999 }), decimals: fc.integer({ min: 0, max: 9 }) })
  .map(({ units, decimals }) => ({ number: Number(`${units}e-${decimals}`), units: BigInt(units), divisor: 10n ** BigInt(decimals) }))

const ceilDivide = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

describe('nano-dollars', () => {
  test.each<[number, number]>([
    [0, 0],
    [1, 1_000_000_000],
    [0.1, 100_000_000],
    [0.3, 300_000_000],
    [0.000000003, 3],
    [1e-9, 1],
    [8215.28, 8_215_280_000_000],
    [999_999.999999999, 999_999_999_999_999],
    [1_000_000, 1_000_000_000_000_000],
  ])('%d dollars are %d, exactly', (amount, nanos) => {
    expect(nanosOf(amount)).toBe(nanos)
    expect(dollars(nanos)).toBe(amount)
  })

  test.each([1.0000000001, 1e-10, 1e-15, 0.0000000001])('a fraction of one is rounded up: %d dollars', (amount) => {
    expect(nanosOf(amount)).toBe(Math.floor(amount * 1e9) + 1)
  })

  test('every amount up to a million dollars comes back from the wire as it was', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 1e15 }), (nanos) => nanosOf(dollars(nanos)) === nanos))
  })
})

describe('the cost of tokens', () => {
  test('is what exact arithmetic says, rounded up to a nano-dollar, within the 15 digits of a double', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), price, (tokens, { number, units, divisor }) => {
        const exact = ceilDivide(BigInt(tokens) * units * 1000n, divisor)
        fc.pre(BigInt(tokens) * units < 10n ** 15n && exact < 10n ** 15n)
        expect(BigInt(tokenCostNanos(tokens, number))).toBe(exact)
      }),
      { numRuns: 2000 },
    )
  })

  test('sums of parts are exact integers: nothing is lost between the parts of a bill', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 100_000_000 }), price), { maxLength: 12 }), (parts) => {
        const exact = parts.reduce((sum, [tokens, { units, divisor }]) => sum + ceilDivide(BigInt(tokens) * units * 1000n, divisor), 0n)
        fc.pre(exact <= 10n ** 15n)
        expect(BigInt(parts.reduce((sum, [tokens, { number }]) => sum + tokenCostNanos(tokens, number), 0))).toBe(exact)
      }),
    )
  })

  test('is never free above a price of zero, and never costs at it', () => {
    expect(tokenCostNanos(1, 1e-9)).toBe(1)
    expect(tokenCostNanos(1_000_000_000, 0)).toBe(0)
    expect(tokenCostNanos(0, 75)).toBe(0)
  })
})
