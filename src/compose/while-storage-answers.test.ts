import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { whileStorageAnswers } from './while-storage-answers.ts'

const failed = (thrown: unknown): never => {
  throw thrown
}

test('storage that answers is written to for as long as that takes', async () => {
  const clock = createFakeClock()
  const work = Promise.withResolvers<void>()
  const written = whileStorageAnswers(work.promise, async () => null, clock, failed)
  for (let second = 0; second < 600; second += 1) {
    clock.advance(1000)
    await turn()
  }
  work.resolve()
  expect([await written, clock.waiting]).toEqual([true, 0])
})

test('storage that gives no sign for four seconds is written to no more', async () => {
  const clock = createFakeClock()
  let state: string | null = null
  const written = whileStorageAnswers(new Promise(() => undefined), async () => state, clock, failed)
  let isOver = false
  void written.then(() => (isOver = true))
  const over: boolean[] = []
  for (let second = 0; second < 7; second += 1) {
    if (second === 2) state = 'storage'
    clock.advance(1000)
    await turn()
    over.push(isOver)
  }
  expect(over).toEqual([false, false, false, false, false, true, true])
  expect([await written, clock.waiting]).toEqual([false, 0])
})

test('a write that fails is a failure, with no timer left', async () => {
  const clock = createFakeClock()
  expect(whileStorageAnswers(Promise.reject(new Error('full')), async () => null, clock, failed)).rejects.toThrow('full')
  await turn()
  expect(clock.waiting).toBe(0)
})
