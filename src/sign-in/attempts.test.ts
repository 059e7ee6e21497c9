import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { GatewayError } from '../errors.ts'
import { createAttempts } from './attempts.ts'

const open = () => {
  const clock = createFakeClock()
  const attempts = createAttempts(clock)
  const fail = (address: string, times: number): void => {
    for (let time = 0; time < times; time += 1) attempts.failed(address)
  }
  /** The seconds after which the address may try again; 0 if it may now. */
  const waitOf = (address: string): number => {
    try {
      attempts.require(address)
      return 0
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || thrown.type !== 'rate_limit_exceeded') throw thrown
      return thrown.retryAfterSeconds ?? Number.NaN
    }
  }
  return { clock, fail, waitOf }
}

test('an address may fail ten times within a minute, and again a minute after the first of them', () => {
  const { clock, fail, waitOf } = open()
  fail('a', 1)
  clock.advance(20_000)
  fail('a', 8)
  expect(waitOf('a')).toBe(0)
  fail('a', 1)
  expect([waitOf('a'), waitOf('b')]).toEqual([40, 0])
  clock.advance(39_999)
  expect(waitOf('a')).toBe(1)
  clock.advance(1)
  expect(waitOf('a')).toBe(0)
})

test('ten thousand addresses are remembered, and those that failed last among them', () => {
  const { fail, waitOf } = open()
  fail('old', 10)
  fail('busy', 9)
  for (let number = 0; number < 9998; number += 1) fail(`other-${number}`, 1)
  fail('busy', 1)
  expect([waitOf('old'), waitOf('busy')]).toEqual([60, 60])
  fail('one more', 1)
  fail('another', 1)
  expect([waitOf('old'), waitOf('busy')]).toEqual([0, 60])
})
