import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

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
    const cache = createLoadCache<string, number>(10)
    const { asked, load } = answering(7)
    expect(await cache.get('a', load)).toBe(7)
    expect(cache.get('a', load)).toBe(7)
    expect(asked).toEqual(['a'])
  })

  test('that does not exist is remembered too: a flood of one unknown key is one query', async () => {
    const cache = createLoadCache<string, number>(10)
    const { asked, load } = answering(null)
    expect(await cache.get('a', load)).toBeNull()
    expect(cache.get('a', load)).toBeNull()
    expect(asked).toEqual(['a'])
  })

  test.each([0, '', false])('that is falsy is a value: %j', async (value) => {
    const cache = createLoadCache<string, unknown>(10)
    const { asked, load } = answering(value)
    await cache.get('a', load)
    expect(cache.get('a', load)).toBe(value)
    expect(asked).toHaveLength(1)
  })

  test('is loaded once by callers that come together, and each key by itself', async () => {
    const cache = createLoadCache<string, number>(10)
    const { asked, load } = answering(7)
    expect(await Promise.all([cache.get('a', load), cache.get('a', load), cache.get('b', load)])).toEqual([7, 7, 7])
    expect(asked).toEqual(['a', 'b'])
  })

  test('whose load failed is loaded again; every waiting caller hears of the fault', async () => {
    const cache = createLoadCache<string, number>(10)
    const failing = async (): Promise<number> => {
      throw new Error('away')
    }
    const outcomes = await Promise.allSettled([cache.get('a', failing), cache.get('a', failing)])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await cache.get('a', answering(7).load)).toBe(7)
  })
})

test('beyond the bound the oldest go', async () => {
  const cache = createLoadCache<string, string>(3)
  for (const key of ['a', 'b', 'c', 'd']) await cache.get(key, async () => key)
  const { asked, load } = answering('again')
  for (const key of ['d', 'c', 'b']) expect(cache.get(key, load)).toBe(key)
  expect(asked).toEqual([])
  expect(await cache.get('a', load)).toBe('again')
  expect(cache.get('b', load)).toBeInstanceOf(Promise)
})

test('a load that began before a clear never stores what it read, in whatever order things end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.constantFrom('read', 'change', 'read-other'), { minLength: 1, maxLength: 12 }),
      async (scheduler, steps) => {
        const cache = createLoadCache<string, number>(2)
        let stored = 0
        // A query sees the value of the moment at which it runs, and answers at another.
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
                cache.clear()
              } else void cache.get(step === 'read' ? 'a' : 'b', load)
            },
          })),
        )
        await scheduler.waitAll()
        await task
        // Whatever is remembered when all has come to rest is the newest.
        for (const key of ['a', 'b']) expect(await cache.get(key, async () => stored)).toBe(stored)
      },
    ),
    { numRuns: 500 },
  )
})

test('callers of a load that a clear overtook get its answer, and the next caller a new one', async () => {
  const cache = createLoadCache<string, string>(10)
  let answer: (value: string) => void = () => undefined
  const early = cache.get('a', () => new Promise<string>((resolve) => (answer = resolve)))
  cache.clear()
  const late = cache.get('a', async () => 'new')
  answer('old')
  expect(await early).toBe('old')
  expect(await late).toBe('new')
  expect(cache.get('a', async () => 'third')).toBe('new')
})
