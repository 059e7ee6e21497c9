import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { startCacheWatch } from './cache-watch.ts'

/** Two caches over a counter, each of which can be made to fail. */
const start = async () => {
  const clock = createFakeClock()
  const happened: string[] = []
  const counter: { value: number | null } = { value: 1 }
  const failing = new Set<string>()
  /** Called once, while the first cache is refreshed. */
  const meanwhile: { happens: (() => void) | null } = { happens: null }
  let notify = (): void => undefined
  let reconnect = (): void => undefined
  const cache = (name: string) => ({
    name,
    refresh: () => {
      happened.push(name)
      const { happens } = meanwhile
      meanwhile.happens = null
      happens?.()
      if (failing.has(name)) throw new Error('unreadable')
    },
  })
  const stop = await startCacheWatch({
    clock,
    counter: {
      read: async () => {
        if (counter.value === null) throw new Error('away')
        return counter.value
      },
    },
    listen: ({ heard, missed }) => {
      notify = heard
      reconnect = missed
      return () => (notify = () => undefined)
    },
    caches: [cache('keys'), cache('guardrails')],
    onChange: async () => void happened.push('changed'),
    onError: (thrown, doing) => happened.push(`${doing}: ${(thrown as Error).message}`),
  })
  return {
    clock,
    counter,
    failing,
    stop,
    /** Another process makes a change while this one still refreshes. */
    changesMeanwhile(): void {
      meanwhile.happens = () => {
        counter.value = (counter.value ?? 0) + 1
        notify()
      }
    },
    /** Returns what happens when the database announces a change, without any time passing. */
    async hear(times = 1): Promise<readonly string[]> {
      happened.length = 0
      for (let time = 0; time < times; time += 1) notify()
      await turn()
      return [...happened]
    },
    /** Returns what happens when the connection for announcements is made anew. */
    async reconnect(): Promise<readonly string[]> {
      happened.length = 0
      reconnect()
      await turn()
      return [...happened]
    },
    /** Returns what happens until the next poll has ended. */
    async poll(): Promise<readonly string[]> {
      happened.length = 0
      clock.advance(500)
      await turn()
      return [...happened]
    },
  }
}

test('nothing is refreshed while the counter stands still', async () => {
  const { poll } = await start()
  expect([await poll(), await poll()]).toEqual([[], []])
})

test('every cache is refreshed, in its order, once for each time that the counter has moved', async () => {
  const { counter, poll } = await start()
  counter.value = 2
  expect([await poll(), await poll()]).toEqual([['keys', 'guardrails', 'changed'], []])
  // A restored database may count from an earlier number.
  counter.value = 1
  expect([await poll(), await poll()]).toEqual([['keys', 'guardrails', 'changed'], []])
})

test('every cache is refreshed after a reconnection, though the counter stands still, as that of a standby that lacks one change and has another', async () => {
  const { failing, poll, reconnect } = await start()
  expect([await reconnect(), await poll()]).toEqual([['keys', 'guardrails', 'changed'], []])
  failing.add('guardrails')
  expect(await reconnect()).toEqual(['keys', 'guardrails', 'guardrails not refreshed: unreadable'])
  failing.delete('guardrails')
  expect([await poll(), await poll()]).toEqual([['keys', 'guardrails', 'changed'], []])
})

test('a cache counts as seen only after it was refreshed: until then all are tried again, and none keeps the others back', async () => {
  const { counter, failing, poll } = await start()
  counter.value = 2
  failing.add('keys')
  expect(await poll()).toEqual(['keys', 'keys not refreshed: unreadable', 'guardrails'])
  expect(await poll()).toEqual(['keys', 'keys not refreshed: unreadable', 'guardrails'])
  failing.delete('keys')
  expect([await poll(), await poll()]).toEqual([['keys', 'guardrails', 'changed'], []])
})

test('while storage is away nothing is refreshed; when it is back everything is, though the counter has not moved', async () => {
  const { counter, poll } = await start()
  counter.value = null
  expect([await poll(), await poll()]).toEqual([['storage does not answer: away'], ['storage does not answer: away']])
  counter.value = 1
  expect([await poll(), await poll()]).toEqual([['keys', 'guardrails', 'changed'], []])
})

test('once stopped, nothing is read any more', async () => {
  const { counter, clock, stop, poll } = await start()
  stop()
  counter.value = 2
  expect([await poll(), clock.waiting]).toEqual([[], 0])
})

test('a change that is heard of is seen at once, and only once; after the end nothing is heard', async () => {
  const { counter, hear, poll, stop } = await start()
  counter.value = 2
  expect([await hear(), await hear(3), await poll()]).toEqual([['keys', 'guardrails', 'changed'], [], []])
  stop()
  counter.value = 3
  expect(await hear()).toEqual([])
})

test('a change that is heard of while caches are refreshed is seen at once, too', async () => {
  const { counter, changesMeanwhile, hear } = await start()
  counter.value = 2
  changesMeanwhile()
  expect(await hear()).toEqual(['keys', 'guardrails', 'changed', 'keys', 'guardrails', 'changed'])
})
