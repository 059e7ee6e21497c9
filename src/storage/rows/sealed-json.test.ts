import { expect, test } from 'bun:test'

import { testSeal } from '../../../test/support/test-seal.ts'
import { atOnce, type Steps } from '../../lib/steps.ts'
import { openJson, sealJson } from './sealed-json.ts'

const stepsOf = (steps: Steps<unknown>): number => {
  let count = 0
  while (steps.next().done !== true) count += 1
  return count
}

const value = (length: number) => ({ request: { messages: ['Say "yes".\n'.repeat(length)] }, answer: 'Say yes.\n'.repeat(length) })

test('JSON comes back as it was, and opens under its own name alone', () => {
  for (const length of [1, 200_000]) {
    const sealed = atOnce(sealJson(value(length), 'one', testSeal))
    expect(sealed.includes('Say yes')).toBe(false)
    expect(atOnce(openJson(sealed, 'one', testSeal))).toEqual(value(length))
    expect(() => atOnce(openJson(sealed, 'another', testSeal))).toThrow()
  }
})

test('JSON that is four times as long is sealed and opened in more steps, and a small one at once', () => {
  const steps = (length: number) => ({
    sealing: stepsOf(sealJson(value(length), 'one', testSeal)),
    opening: stepsOf(openJson(atOnce(sealJson(value(length), 'one', testSeal)), 'one', testSeal)),
  })
  expect(steps(10)).toEqual({ sealing: 0, opening: 0 })
  const [few, many] = [steps(50_000), steps(200_000)]
  expect(many.sealing).toBeGreaterThan(few.sealing + 20)
  expect(many.opening).toBeGreaterThan(few.opening + 20)
})
