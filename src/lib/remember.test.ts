import { expect, test } from 'bun:test'

import { createMemory } from './remember.ts'

test('what is asked for again is made once; beyond the most, what was asked for longest ago goes', () => {
  const made: string[] = []
  const memory = createMemory<string>(2)
  const ask = (key: string): string =>
    memory(key, () => {
      made.push(key)
      return key.toUpperCase()
    })
  expect([ask('a'), ask('b'), ask('a'), ask('c'), ask('a'), ask('b')]).toEqual(['A', 'B', 'A', 'C', 'A', 'B'])
  expect(made).toEqual(['a', 'b', 'c', 'b'])
})
