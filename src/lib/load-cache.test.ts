import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createLoadCache } from './load-cache.ts'

const answering = <Value>(value: Value) => {
  const asked: string[] = []
  const load = async (key: string): Promise<Value> => {
    asked.push(key)
    return value
  }
  return { asked, load }
}

describe('a value', () => {
  test('is loaded once, and is there at once afterwards', async () => {
    const cache = createLoadCache<string, number>(10, createFakeClock())
    const { asked, load } = answering(7)
    expect(await cache.get('a', load)).toBe(7)
    expect(cache.get('a', load)).toBe(7)
    expect(asked).toEqual(['a'])
  })

  test('that does not exist is remembered too: a flood of one unknown key is one query', async () => {
    const cache = createLoadCache<string, number>(10, createFakeClock())
    const { asked, load } = answering(null)
    expect(await cache.get('a', load)).toBeNull()
    expect(cache.get('a', load)).toBeNull()
    expect(asked).toEqual(['a'])
  })

  test.each([0, '', false])('that is falsy is a value: %j', async (value) => {
    const cache = createLoadCache<string, unknown>(10, createFakeClock())
    const { asked, load } = answering(value)
    await cache.get('a', load)
    expect(cache.get('a', load)).toBe(value)
    expect(asked).toHaveLength(1)
  })

  test('is loaded once by callers that come together, and each key by itself', async () => {
    const cache = createLoadCache<string, number>(10, createFakeClock())
    const { asked, load } = answering(7)
    expect(await Promise.all([cache.get('a', load), cache.get('a', load), cache.get('b', load)])).toEqual([7, 7, 7])
    expect(asked).toEqual(['a', 'b'])
  })

  test('whose load failed is loaded again; every waiting caller gets the error', async () => {
    const cache = createLoadCache<string, number>(10, createFakeClock())
    const failing = async (): Promise<number> => {
      throw new Error('away')
    }
    const outcomes = await Promise.allSettled([cache.get('a', failing), cache.get('a', failing)])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await cache.get('a', answering(7).load)).toBe(7)
  })
})

test('beyond the bound the oldest go', async () => {
  const cache = createLoadCache<string, string>(3, createFakeClock())
  for (const key of ['a', 'b', 'c', 'd']) await cache.get(key, async () => key)
  const { asked, load } = answering('again')
  for (const key of ['d', 'c', 'b']) expect(cache.get(key, load)).toBe(key)
  expect(asked).toEqual([])
  expect(await cache.get('a', load)).toBe('again')
  expect(cache.get('b', load)).toBeInstanceOf(Promise)
})

test('a load that began before a refresh never stores what it read, in whatever order things end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.constantFrom('read', 'change', 'read-other'), { minLength: 1, maxLength: 12 }),
      async (scheduler, steps) => {
        const cache = createLoadCache<string, number>(2, createFakeClock())
        let stored = 0
        // A query sees the value at the moment when it runs, and answers at a later moment.
        const load = async (key: string): Promise<number | null> => {
          await scheduler.schedule(Promise.resolve(), `query ${key}`)
          const seen = stored
          await scheduler.schedule(Promise.resolve(), `answer ${key}`)
          return seen
        }
        const { task } = scheduler.scheduleSequence(
          steps.map((step, index) => ({
            label: step,
            builder: async () => {
              if (step === 'change') {
                stored = index + 1
                cache.refresh()
              } else void cache.get(step === 'read' ? 'a' : 'b', load)
            },
          })),
        )
        await scheduler.waitAll()
        await task
        // When everything has settled, the cached value is the newest.
        for (const key of ['a', 'b']) expect(await cache.get(key, async () => stored)).toBe(stored)
      },
    ),
    { numRuns: 500 },
  )
})

test('callers of a load that a refresh overtook get its answer, and the next caller a new one', async () => {
  const cache = createLoadCache<string, string>(10, createFakeClock())
  let answer: (value: string) => void = () => undefined
  const early = cache.get('a', () => new Promise<string>((resolve) => (answer = resolve)))
  cache.refresh()
  const late = cache.get('a', async () => 'new')
  answer('old')
  expect(await early).toBe('old')
  expect(await late).toBe('new')
  expect(cache.get('a', async () => 'third')).toBe('new')
})

describe('while what values are loaded from is away', () => {
  const away = async (): Promise<never> => {
    throw new Error('away')
  }
  const known = async (...keys: readonly string[]) => {
    const cache = createLoadCache<string, string>(10, createFakeClock())
    for (const key of keys) await cache.get(key, async () => `old ${key}`)
    return cache
  }

  test('the last known value is served, and after the first failure nobody waits for the next', async () => {
    const cache = await known('a', 'b')
    cache.refresh()
    expect(await cache.get('a', away)).toBe('old a')
    expect([cache.get('a', away), cache.get('b', away)]).toEqual(['old a', 'old b'])
  })

  test('it is tried again each time, so that the first success is seen', async () => {
    const cache = await known('a')
    cache.refresh()
    await cache.get('a', away)
    expect(cache.get('a', async () => 'new')).toBe('old a')
    await Promise.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    expect(cache.get('a', away)).toBe('new')
  })

  test('a refresh ends it: what may have changed is waited for again', async () => {
    const cache = await known('a')
    cache.refresh()
    await cache.get('a', away)
    cache.refresh()
    expect(await cache.get('a', async () => null)).toBeNull()
    expect(cache.get('a', away)).toBeNull()
  })

  test('what is new, what was not there and what was forgotten is the failure', async () => {
    const cache = await known('a', 'b')
    await cache.get('none', async () => null)
    cache.forget((value) => value === 'old a')
    for (const key of ['new', 'none', 'a']) expect(await Promise.resolve(cache.get(key, away)).catch(String)).toBe('Error: away')
    expect(await cache.get('b', away)).toBe('old b')
    cache.forget()
    expect(await Promise.resolve(cache.get('b', away)).catch(String)).toBe('Error: away')
  })

  test('what a load read that a refresh overtook is the last known value; where something was forgotten meanwhile, it is nothing', async () => {
    for (const [overtake, expected] of [
      ['refresh', 'old a'],
      ['forget', 'Error: away'],
    ] as const) {
      const cache = createLoadCache<string, string>(10, createFakeClock())
      const loading = cache.get('a', async () => 'old a')
      if (overtake === 'forget') cache.forget((value) => value === 'none')
      else cache.refresh()
      expect(await loading).toBe('old a')
      expect(await Promise.resolve(cache.get('a', away)).catch(String)).toBe(expected)
    }
  })

  test('a load that hangs is waited for a quarter of a second, once; what it answers in the end is taken', async () => {
    const clock = createFakeClock()
    const cache = createLoadCache<string, string>(10, clock)
    for (const key of ['a', 'b']) await cache.get(key, async () => `old ${key}`)
    cache.refresh()
    const hanging = Promise.withResolvers<string>()
    const waiting = cache.get('a', () => hanging.promise)
    clock.advance(249)
    expect(waiting).toBeInstanceOf(Promise)
    expect(await Promise.race([waiting, Promise.resolve('waits')])).toBe('waits')
    clock.advance(1)
    expect(await waiting).toBe('old a')
    expect([cache.get('a', away), cache.get('b', () => new Promise(() => undefined))]).toEqual(['old a', 'old b'])
    hanging.resolve('new a')
    await new Promise((resolve) => setImmediate(resolve))
    expect(cache.get('a', away)).toBe('new a')
  })

  test('what was forgotten is waited for, however long it takes', async () => {
    const clock = createFakeClock()
    const cache = createLoadCache<string, string>(10, clock)
    await cache.get('a', async () => 'old a')
    cache.forget()
    const hanging = Promise.withResolvers<string | null>()
    const waiting = cache.get('a', () => hanging.promise)
    clock.advance(10_000)
    hanging.resolve(null)
    expect(await waiting).toBeNull()
  })

  test('what is forgotten while a load runs is not served when that fails', async () => {
    const cache = await known('a')
    cache.refresh()
    let fail: (thrown: Error) => void = () => undefined
    const waiting = Promise.resolve(cache.get('a', () => new Promise<never>((_, reject) => (fail = reject)))).catch(String)
    cache.forget((value) => value === 'old a')
    fail(new Error('away'))
    expect(await waiting).toBe('Error: away')
  })

  test('a value is never older than the last change that the process made itself, in whatever order things end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.constantFrom('read', 'change', 'foreign-change', 'refresh', 'cut', 'restore'), { minLength: 1, maxLength: 20 }),
        async (scheduler, steps) => {
          const cache = createLoadCache<string, number>(2, createFakeClock())
          let stored = 0
          let own = 0
          let cut = false
          const reads: Promise<void>[] = []
          const load = async (): Promise<number> => {
            await scheduler.schedule(Promise.resolve(), 'query')
            const seen = stored
            if (cut) throw new Error('away')
            await scheduler.schedule(Promise.resolve(), 'answer')
            return seen
          }
          const { task } = scheduler.scheduleSequence(
            steps.map((step, index) => ({
              label: step,
              builder: async () => {
                if (step === 'cut') cut = true
                else if (step === 'restore') cut = false
                else if (step === 'refresh') cache.refresh()
                else if (step === 'foreign-change') stored = index + 1
                else if (step === 'change') {
                  stored = own = index + 1
                  cache.forget()
                } else {
                  const least = own
                  const read = Promise.resolve(cache.get('a', load)).then(
                    (value) => expect(value).toBeGreaterThanOrEqual(least),
                    (thrown: unknown) => expect(String(thrown)).toBe('Error: away'),
                  )
                  reads.push(read)
                }
              },
            })),
          )
          await scheduler.waitAll()
          await task
          await Promise.all(reads)
        },
      ),
      { numRuns: 500 },
    )
  })
})
