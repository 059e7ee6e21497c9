import { expect, test } from 'bun:test'

import { createTurns } from './turns.ts'

test('one at a time, in the order of asking, also after a failure', async () => {
  const turns = createTurns()
  const log: string[] = []
  const work = (name: string, fails = false) =>
    turns.run(async () => {
      log.push(`${name} begins`)
      await Promise.resolve()
      log.push(`${name} ends`)
      if (fails) throw new Error(name)
    })
  await Promise.allSettled([work('a'), work('b', true), work('c')])
  await work('d')
  expect(log).toEqual(['a', 'b', 'c', 'd'].flatMap((name) => [`${name} begins`, `${name} ends`]))
})
