import { expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createFakeIds } from '../../../test/support/fake-ids.ts'
import type { Pepper } from '../../keys/keys.ts'
import { createAttempts } from '../../sign-in/attempts.ts'
import type { BegunSignIn } from '../../sign-in/identity-provider.ts'
import { logTo } from '../../telemetry/log.ts'
import { createOwnOrigin } from '../access/own-origin.ts'
import type { RouteRequest } from '../route.ts'
import { oidcRoutes, type OidcRouteParts } from './oidc.ts'

const TEN_MINUTES_MS = 600_000
const pepper = (id: string): Pepper => ({ id, bytes: new Uint8Array(32).fill(id.charCodeAt(0)) })

const open = () => {
  const clock = createFakeClock()
  let peppers: readonly [Pepper, ...Pepper[]] = [pepper('first')]
  const begun = { state: 'state', nonce: 'nonce', verifier: 'verifier' }
  const finished: unknown[] = []
  const routes = oidcRoutes({
    provider: {
      begin: async () => ({ url: 'https://login.example/authorize', begun }),
      async finish(_callback: URLSearchParams, given: BegunSignIn) {
        finished.push(given)
        return { userId: 'ada', role: null }
      },
    },
    links: { make: async () => ({ token: 'token' }) },
    attempts: createAttempts(clock),
    ownOrigin: createOwnOrigin({ host: '127.0.0.1', publicUrl: undefined }),
    publicUrl: () => 'http://localhost',
    peppers: () => peppers,
    instanceId: 'i',
    workspaceId: 'w',
    prefix: '',
    clock,
    ids: createFakeIds(),
    log: logTo(() => undefined, 'info', clock),
  } as unknown as OidcRouteParts)
  const ask = async (path: string, cookie = ''): Promise<Response> =>
    routes
      .find((route) => route.path === path)!
      .handle({
        headers: new Headers({ host: 'localhost', cookie }),
        query: new URLSearchParams(),
        requestId: 'r',
        address: () => '192.0.2.1',
      } as unknown as RouteRequest)
  return {
    clock,
    begun,
    finished,
    rotate: (...next: [Pepper, ...Pepper[]]) => void (peppers = next),
    /** The cookie with which a browser comes back. */
    async begin() {
      const answer = await ask('/auth/oidc/start')
      return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
    },
    finish: (cookie: string) => ask('/auth/oidc/callback', cookie),
  }
}

test.each([
  [TEN_MINUTES_MS - 1, true],
  [TEN_MINUTES_MS, false],
])('%i ms after a sign-in was begun, its cookie counts: %p', async (afterMs, counts) => {
  const { clock, begun, begin, finish, finished } = open()
  const cookie = await begin()
  clock.advance(afterMs)
  const outcome = finish(`other=1; ${cookie}`)
  // It is of no use once it was used.
  if (counts) expect((await outcome).headers.get('set-cookie')).toBe('pb_oidc_i=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0')
  else expect(outcome).rejects.toMatchObject({ type: 'authentication', status: 401 })
  await outcome.catch(() => undefined)
  expect(finished).toMatchObject(counts ? [begun] : [])
})

test('a sign-in that was begun before a rotation of the root secret can be finished while the old one counts, and not after', async () => {
  const { begin, finish, rotate } = open()
  const cookie = await begin()
  rotate(pepper('second'), pepper('first'))
  expect((await finish(cookie)).status).toBe(302)
  rotate(pepper('second'))
  expect(finish(cookie)).rejects.toMatchObject({ status: 401 })
})

test('401: a cookie whose signature has as many letters as a real one, and more bytes', async () => {
  const { begin, finish, finished } = open()
  const cookie = await begin()
  expect(finish(`${cookie.slice(0, -1)}é`)).rejects.toMatchObject({ type: 'authentication', status: 401 })
  expect(finished).toEqual([])
})
