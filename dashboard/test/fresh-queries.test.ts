import { expect, test } from 'bun:test'

import { QueryObserver } from '@tanstack/react-query'

import { FreshQueries } from '../src/api/fresh-queries.ts'

test('a list that is read for the first time while a change is made is read again behind it', async () => {
  const queries = new FreshQueries()
  const first = Promise.withResolvers<readonly string[]>()
  let reads = 0
  const list = new QueryObserver(queries, {
    queryKey: ['workspaces', 'figures'],
    queryFn: () => {
      reads += 1
      return reads === 1 ? first.promise : Promise.resolve(['after the change'])
    },
  })
  const leave = list.subscribe(() => undefined)
  const fresh = queries.invalidateQueries({ queryKey: ['workspaces'] })
  first.resolve(['before it'])
  await fresh
  expect(reads).toBe(2)
  expect(list.getCurrentResult().data).toEqual(['after the change'])
  leave()
  queries.clear()
})
