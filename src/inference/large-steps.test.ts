import { expect, test } from 'bun:test'

import { createLargeSteps } from './large-steps.ts'

test('of many that wait, one runs in each round of the event loop, in their order', async () => {
  const rounds: (() => void)[] = []
  const clock = { now: () => 0, monotonicMs: () => 0, after: (_ms: number, run: () => void) => (rounds.push(run), () => undefined) }
  const step = createLargeSteps(clock)
  const ran: number[] = []
  const all = Array.from({ length: 12 }, async (_, index) => {
    for (let turn = 0; turn < 3; turn += 1) {
      await step()
      ran.push(index)
    }
  })
  for (let count = 1; count <= 36; count += 1) {
    // Runs everything that can run without another round.
    for (let settle = 0; settle < 20; settle += 1) await Promise.resolve()
    expect(rounds.length).toBe(1)
    rounds.pop()?.()
    for (let settle = 0; settle < 20; settle += 1) await Promise.resolve()
    expect(ran.length).toBe(count)
  }
  await Promise.all(all)
  expect(ran).toEqual([0, 1, 2].flatMap(() => Array.from({ length: 12 }, (_, index) => index)))
})
