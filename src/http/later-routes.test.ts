import { expect, test } from 'bun:test'

import { later, mountsOf } from './later-routes.ts'
import type { Route } from './route.ts'
import { emptyRoute } from './route.test-kit.ts'

const route = (path: string): Route => emptyRoute('GET', path)

test('all routes come in the order of the table, and others have a turn after each file', async () => {
  const said: string[] = []
  const file = (path: string) =>
    later(
      [path],
      async () => said.push(path),
      () => route(path),
    )
  const tables = [
    { base: '/api', rows: [route('/chat'), file('/keys'), file('/usage')] },
    { base: '', rows: [route('/health')] },
  ]
  const mounts = await mountsOf(tables, () => void said.push('turn'))
  expect(mounts.map(({ base, routes }) => [base, routes.map(({ path }) => path)])).toEqual([
    ['/api', ['/chat', '/keys', '/usage']],
    ['', ['/health']],
  ])
  expect(said).toEqual(['turn', '/keys', 'turn', '/usage', 'turn', 'turn'])
})
