import { expect, test } from 'bun:test'

import { createLines } from './lines.ts'
import { StorageConflict, StorageUnavailable } from '../storage-errors.ts'

/** Work that ends when the test ends it. */
const work = () => {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let begun = false
  return {
    end: resolve,
    fail: reject,
    hasBegun: () => begun,
    run: () => {
      begun = true
      return promise
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('one at a time in the order of coming, names apart, and on after a refusal', async () => {
  const lines = createLines()
  const [first, second, third, elsewhere] = [work(), work(), work(), work()]
  const ended = [lines.run('a', first.run), lines.run('a', second.run), lines.run('a', third.run), lines.run('b', elsewhere.run)].map(
    (running) => running.catch((error: unknown) => (error instanceof Error ? error.message : error)),
  )
  const begun = (): readonly boolean[] => [first, second, third, elsewhere].map(({ hasBegun }) => hasBegun())
  expect(begun()).toEqual([true, false, false, true])
  first.fail(new Error('refused'))
  await turn()
  expect(begun()).toEqual([true, true, false, true])
  for (const one of [second, third, elsewhere]) one.end('done')
  expect(await Promise.all(ended)).toEqual(['refused', 'done', 'done', 'done'])
})

test.each([
  ['a lock that is not given up', new StorageConflict(null)],
  ['a database that is away', new StorageUnavailable('gone')],
])('%s fails all who wait, and who comes later goes', async (_, failure) => {
  const lines = createLines()
  const first = work()
  const behind = [work(), work()]
  const failed = [first, ...behind].map((one) => lines.run('a', one.run).catch((error: unknown) => error))
  first.fail(failure)
  expect(await Promise.all(failed)).toEqual([failure, failure, failure])
  expect(behind.some(({ hasBegun }) => hasBegun())).toBe(false)

  const next = work()
  const answered = lines.run('a', next.run)
  next.end('done')
  expect(await answered).toBe('done')
})
