import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createReadiness } from './readiness.ts'

test.each([null, 'storage takes no writes'])('is what storage says: %p', async (state) => {
  const clock = createFakeClock()
  expect(await createReadiness(clock, async () => state).ready()).toBe(state)
  expect(clock.waiting).toBe(0)
})

test('storage that does not answer within a second is away', async () => {
  const clock = createFakeClock()
  const asked = createReadiness(clock, () => new Promise(() => undefined)).ready()
  clock.advance(1000)
  expect(await asked).toBe('storage')
})

test('a process that stops is not ready, however well its storage is', async () => {
  const readiness = createReadiness(createFakeClock(), async () => null)
  expect([readiness.draining, await readiness.ready()]).toEqual([false, null])
  readiness.drain(1000)
  expect([readiness.draining, await readiness.ready()]).toEqual([true, 'draining'])
})

test('a process that balancers are to leave is not ready, and drains only later', async () => {
  const readiness = createReadiness(createFakeClock(), async () => null)
  expect(readiness.leaving).toBe(false)
  readiness.leave()
  expect([readiness.leaving, readiness.draining, await readiness.ready()]).toEqual([true, false, 'draining'])
})

test('tools are ended when half of the time is over in which a process stops', () => {
  const clock = createFakeClock()
  const readiness = createReadiness(clock, async () => null)
  clock.advance(5000)
  expect(readiness.toolsEnd.aborted).toBe(false)
  readiness.drain(1000)
  clock.advance(499)
  expect(readiness.toolsEnd.aborted).toBe(false)
  clock.advance(1)
  expect(readiness.toolsEnd.aborted).toBe(true)
})
