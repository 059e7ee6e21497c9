import { describe, expect, test } from 'bun:test'

import { createDurations } from './durations.ts'

describe('how long a request of a model is expected to take', () => {
  test('is the median of what was measured, and ten seconds before anything was', () => {
    const durations = createDurations()
    expect(durations.expectedMs('m/one')).toBe(10_000)
    for (const ms of [300, 100, 9000]) durations.add('m/one', ms)
    expect([durations.expectedMs('m/one'), durations.expectedMs('m/two')]).toEqual([300, 10_000])
    durations.add('m/one', 9000)
    durations.add('m/one', 9000)
    expect(durations.expectedMs('m/one')).toBe(9000)
  })

  test('follows the last 32 requests alone', () => {
    const durations = createDurations()
    for (let slow = 0; slow < 100; slow += 1) durations.add('m/one', 60_000)
    for (let quick = 0; quick < 16; quick += 1) durations.add('m/one', 100)
    expect(durations.expectedMs('m/one')).toBe(60_000)
    durations.add('m/one', 100)
    expect(durations.expectedMs('m/one')).toBe(100)
  })

  test('is remembered for the thousand models that were used last', () => {
    const durations = createDurations()
    durations.add('m/used', 100)
    durations.add('m/first', 100)
    for (let model = 2; model < 1000; model += 1) durations.add(`m/${model}`, 100)
    durations.add('m/used', 100)
    durations.add('m/last', 100)
    expect([durations.expectedMs('m/used'), durations.expectedMs('m/first'), durations.expectedMs('m/2')]).toEqual([100, 10_000, 100])
  })
})
