import { describe, expect, test } from 'bun:test'

import { jsonListInTurns, jsonInTurns, LongAnswer } from './json-response.ts'

const counting = () => {
  const taken = { turns: 0 }
  return { taken, turn: () => void (taken.turns += 1) }
}

async function* each(items: readonly unknown[]): AsyncIterable<unknown> {
  yield* items
}

const long = (length: number) => ({ config: { stop: ['"x'.repeat(length)] } })

describe('a list that is written as it is read', () => {
  test.each([[[]], [[1]], [[1, null, { a: 'é' }]], [[long(40_000)]], [[long(40_000), 1, long(300_000), {}]]])(
    'is the JSON of the whole, with a yield after each element',
    async (items) => {
      const { taken, turn } = counting()
      const answer = await jsonListInTurns({ items: each(items), totalCount: 70 }, turn)
      expect(await answer.text()).toBe(JSON.stringify({ data: items, total_count: 70 }))
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(taken.turns).toBeGreaterThanOrEqual(items.length)
    },
  )

  test('is never put together: no piece of it is longer than an element', async () => {
    const items = Array.from({ length: 20 }, () => long(40_000))
    const answer = await jsonListInTurns({ items: each(items), totalCount: 20 }, counting().turn)
    if (!(answer instanceof LongAnswer)) throw new Error('The answer is long.')
    expect(Math.max(...answer.pieces.map(({ length }) => length))).toBe(JSON.stringify(items[0]).length)
  })
})

test('a long object is written with turns, a short one without', async () => {
  for (const [length, least, most] of [
    [10, 0, 0],
    [400_000, 6, Infinity],
  ] as const) {
    const { taken, turn } = counting()
    const answer = await jsonInTurns({ data: long(length) }, turn)
    expect(await answer.text()).toBe(JSON.stringify({ data: long(length) }))
    expect(taken.turns).toBeGreaterThanOrEqual(least)
    expect(taken.turns).toBeLessThanOrEqual(most)
  }
})
