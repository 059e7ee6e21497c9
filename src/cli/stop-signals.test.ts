import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { createStopSignals, isRunByNpx, stopWithShell } from './stop-signals.ts'

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

test.each([
  ["'patchbay'", true],
  ['patchbay', true],
  ['"patchbay" serve --port 0', true],
  ["'claude'", false],
  ["'pm2'", false],
  ['nohup patchbay serve &', false],
  [undefined, false],
])('run by npx as %s: its end ends a service (%s), but that of another program does not', (script, expected) => {
  expect(isRunByNpx({ npm_command: 'exec', npm_lifecycle_script: script })).toBe(expected)
  expect(isRunByNpx({ npm_command: 'run-script', npm_lifecycle_script: script })).toBe(false)
})

/** A program below npx: a shell as its parent, and nothing that has arrived yet. */
const startBelowShell = () => {
  const clock = createFakeClock()
  const signals = createStopSignals(clock)
  let isAsked = false
  void signals.asked.then(() => (isAsked = true))
  const system = { parent: 100, hangUps: 0 }
  stopWithShell(signals, { clock, parent: () => system.parent, hangUps: () => system.hangUps })
  return { clock, signals, system, isAsked: () => isAsked }
}

test('the end of the shell that npx started asks to stop', async () => {
  const { clock, system, isAsked } = startBelowShell()
  clock.advance(60_000)
  await turn()
  expect(isAsked()).toBe(false)
  system.parent = 1
  clock.advance(500)
  await turn()
  expect(isAsked()).toBe(true)
})

test('the end of that shell never counts as a second signal, which would cut the streams', async () => {
  const { clock, signals, system } = startBelowShell()
  signals.signalled()
  await turn()
  clock.advance(5000)
  system.parent = 1
  clock.advance(60_000)
  expect(signals.impatient).toBe(false)
  expect(clock.waiting).toBe(0)
})

test.each(['before the shell is gone', 'after it'])(
  'a hang-up that ends npx stops nothing, if the process hears of it %s',
  async (when) => {
    const { clock, system, isAsked } = startBelowShell()
    if (when === 'after it') system.parent = 1
    else system.hangUps += 1
    clock.advance(250)
    if (when === 'after it') system.hangUps += 1
    else system.parent = 1
    clock.advance(60_000)
    await turn()
    expect(isAsked()).toBe(false)
  },
)

test('a hang-up that only reloads the file does not keep the end of the shell from stopping the service later', async () => {
  const { clock, system, isAsked } = startBelowShell()
  system.hangUps += 1
  clock.advance(1000)
  system.parent = 1
  clock.advance(500)
  await turn()
  expect(isAsked()).toBe(true)
})
