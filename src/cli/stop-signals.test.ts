import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createStopSignals } from './stop-signals.ts'

test('the first signal asks to stop, however often it arrives within a second', async () => {
  const clock = createFakeClock()
  const signals = createStopSignals(clock)
  signals.signalled()
  await signals.asked
  for (let repeated = 0; repeated < 9; repeated += 1) {
    clock.advance(111)
    signals.signalled()
  }
  expect(signals.impatient).toBe(false)
})

test('a signal a second after the first, or later, means now', () => {
  for (const laterMs of [1000, 1001, 60_000]) {
    const clock = createFakeClock()
    const signals = createStopSignals(clock)
    signals.signalled()
    clock.advance(laterMs)
    signals.signalled()
    expect(signals.impatient).toBe(true)
  }
})
