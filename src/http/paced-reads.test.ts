import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { createPacedReads } from './paced-reads.ts'
import type { RouteRequest } from './route.ts'

const asking = (hash: string): RouteRequest =>
  ({ caller: { kind: 'management', hash }, signal: new AbortController().signal }) as unknown as RouteRequest

const open = () => {
  const clock = createFakeClock()
  const reads = createPacedReads(clock)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const run = (caller: string, operation: string, name: string) =>
    reads
      .run(asking(caller), operation, () => {
        begun.push(name)
        return new Promise<string>((resolve) => ends.push(() => resolve(name)))
      })
      .catch((thrown: { metadata: { reason: string } }) => thrown.metadata.reason)
  return { clock, begun, ends, run }
}

test('a caller has one read of a route at a time; others, and other routes, do not wait for it', async () => {
  const { begun, ends, run } = open()
  const first = run('a', 'list', 'first')
  void run('a', 'list', 'second')
  void run('a', 'usage', 'usage')
  void run('b', 'list', 'other')
  await turn()
  expect(begun).toEqual(['first', 'usage', 'other'])
  ends[0]?.()
  expect(await first).toBe('first')
  await turn()
  expect(begun).toEqual(['first', 'usage', 'other', 'second'])
})

test('busy after two seconds; what has begun keeps its turn, and what waited too long never begins', async () => {
  const { clock, begun, ends, run } = open()
  const first = run('a', 'list', 'first')
  const second = run('a', 'list', 'second')
  await turn()
  clock.advance(1999)
  const third = run('a', 'list', 'third')
  clock.advance(1)
  expect([await first, await second]).toEqual(['busy', 'busy'])
  expect(begun).toEqual(['first'])
  ends[0]?.()
  await turn()
  expect(begun).toEqual(['first', 'third'])
  ends[1]?.()
  expect(await third).toBe('third')
  expect(clock.waiting).toBe(0)
})

test('reads that wait for their turn are not refused while each before them takes less than two seconds', async () => {
  const { clock, ends, run } = open()
  const all = ['first', 'second', 'third'].map((name) => run('a', 'list', name))
  for (const [at, answer] of all.entries()) {
    await turn()
    clock.advance(1999)
    ends[at]?.()
    expect(await answer).toBe(['first', 'second', 'third'][at]!)
  }
  expect(clock.waiting).toBe(0)
})

test('busy at once where too many wait already', async () => {
  const { run } = open()
  const all = Array.from({ length: 9 }, (_, index) => run('a', 'list', String(index)))
  expect(await all[8]).toBe('busy')
})

test('what a caller waits for who leaves is never read, and is no fault of storage', async () => {
  const reads = createPacedReads(createFakeClock())
  const first = Promise.withResolvers<void>()
  const leaving = new AbortController()
  const begun = reads.run(asking('a'), 'list', () => first.promise)
  const waiting = reads.run({ ...asking('a'), signal: leaving.signal }, 'list', () => Promise.reject(new Error('read')))
  leaving.abort()
  first.resolve()
  await begun
  expect(await waiting.catch((thrown: { type: string }) => thrown.type)).toBe('invalid_request')
})
