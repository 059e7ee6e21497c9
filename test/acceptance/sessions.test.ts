/** People sign in, may do what their role allows, and cannot reach what is not theirs (docs/contract/sign-in.md). */
import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, call, createKey } from '../support/calls.ts'
import { patient } from '../support/patience.ts'
import { loginToken, openSession, signedIn, signInAs, signInByKey, type SignedIn } from '../support/signed-in.ts'
import { until, useServices } from '../support/started-service.ts'

const services = useServices()
const service = await services.start()

const statusOf = (headers: Record<string, string>, path = '/sessions/current'): Promise<number> =>
  call(service, 'GET', path, { key: null, headers }).then(({ status }) => status)

const dataOf = ({ json }: Answer): Record<string, unknown> => (json as { data: Record<string, unknown> }).data
const listOf = ({ json }: Answer): readonly Record<string, unknown>[] => (json as { data: Record<string, unknown>[] }).data

describe('a management key opens a session', () => {
  test('which is a strict cookie out of the reach of scripts, and a second half in the answer alone', async () => {
    const answer = await openSession(service, { key: service.managementKey })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('set-cookie')).toMatch(
      /^pb_session_[0-9a-f]{16}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/,
    )
    const { csrf, data } = answer.json as { csrf: string; data: Record<string, unknown> }
    expect(Buffer.from(csrf, 'base64url')).toHaveLength(16)
    expect(data).toMatchObject({ role: 'admin', is_operator: true, is_current: true, workspace: { slug: 'default' } })
    expect(answer.text).not.toContain(service.managementKey)
    const current = await signedIn(service, answer).ask('GET', '/sessions/current')
    expect(current.status).toBe(200)
    expect(dataOf(current)).toEqual(data)
    expect(current.text).not.toContain(csrf)
  })

  test('401: an inference key, a wrong key, no key at all is 400', async () => {
    expect((await openSession(service, { key: service.inferenceKey })).status).toBe(401)
    expect((await openSession(service, { key: `${service.managementKey}x` })).status).toBe(401)
    expect((await openSession(service, {})).status).toBe(400)
    expect((await openSession(service, { key: 'a', token: 'b' })).status).toBe(400)
  })

  test('with which its holder manages what the key manages', async () => {
    const admin = await signInByKey(service)
    const made = await admin.ask('POST', '/keys', { body: { name: 'by an admin' } })
    expect(made.status).toBe(201)
    const [entry] = listOf(await admin.ask('GET', `/audit-log?object_id=${String(dataOf(made)['hash'])}`))
    expect(entry).toMatchObject({ action: 'created', key_hash: null, session_id: admin.sessionId })
    expect(entry?.['user_id']).toBe(dataOf(made)['creator_user_id'] as string)
  })
})

describe('a session counts from the page of the service alone', () => {
  let admin: SignedIn
  beforeAll(async () => {
    admin = await signInByKey(service)
  })

  test('401: the cookie alone, and the second half alone', async () => {
    expect(await statusOf({ cookie: admin.cookie })).toBe(401)
    expect(await statusOf({ cookie: admin.cookie, 'sec-fetch-site': 'same-origin' })).toBe(401)
    expect(await statusOf({ 'x-patchbay-csrf': admin.csrf, 'sec-fetch-site': 'same-origin' })).toBe(401)
  })

  test('401: a half of another session, or one that is made up', async () => {
    const other = await signInByKey(service)
    expect(await statusOf({ ...admin.headers, 'x-patchbay-csrf': other.csrf })).toBe(401)
    expect(await statusOf({ ...admin.headers, 'x-patchbay-csrf': '' })).toBe(401)
    expect(await statusOf({ ...admin.headers, cookie: `${admin.cookie.split('=')[0]}=${'a'.repeat(43)}` })).toBe(401)
  })

  test.each(['same-site', 'cross-site', 'none'])('403: both halves where the browser says %s', async (site) => {
    expect(await statusOf({ ...admin.headers, 'sec-fetch-site': site })).toBe(403)
  })

  test('403: both halves from another port or site, or from nobody knows where', async () => {
    const { 'sec-fetch-site': _, ...halves } = { ...admin.headers }
    for (const origin of ['http://127.0.0.1:1', 'https://evil.example', 'null']) expect(await statusOf({ ...halves, origin })).toBe(403)
    expect(await statusOf(halves)).toBe(403)
    expect(await statusOf({ ...halves, origin: service.url })).toBe(200)
  })

  test('403: both halves under a name that is not the service’s', async () => {
    for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '10.0.0.1']) {
      expect(await statusOf({ ...admin.headers, host })).toBe(403)
    }
    for (const host of ['localhost:1', '127.0.0.1', '[::1]:80']) expect(await statusOf({ ...admin.headers, host })).toBe(200)
  })

  test('403: nobody is signed in by the page of another origin', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { origin: 'https://evil.example' }]) {
      const answer = await openSession(service, { key: service.managementKey }, headers)
      expect([answer.status, answer.headers.has('set-cookie')]).toEqual([403, false])
    }
  })

  test('a key that is sent goes before the cookie', async () => {
    expect(await statusOf({ ...admin.headers, authorization: `Bearer ${service.managementKey}` })).toBe(403)
    expect(await statusOf({ ...admin.headers, authorization: 'Bearer wrong' })).toBe(401)
  })
})

describe('a sign-in link', () => {
  test('opens one session, once, and stands in no log and no entry', async () => {
    const token = await loginToken(service, { user_id: 'ada', role: 'member' })
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    const first = await openSession(service, { token })
    expect(first.status).toBe(201)
    expect(dataOf(first)).toMatchObject({ user_id: 'ada', role: 'member', is_operator: false, key_hash: null })
    expect((await openSession(service, { token })).status).toBe(401)
    const trail = (await call(service, 'GET', '/audit-log?limit=100')).text
    const secrets = [token, signedIn(service, first).csrf, signedIn(service, first).cookie.split('=')[1] ?? '']
    for (const secret of secrets) for (const reported of [trail, service.stderr()]) expect(reported).not.toContain(secret)
  })

  test('of two that use it at once, one is signed in', async () => {
    const token = await loginToken(service, { user_id: 'ada' })
    const answers = await Promise.all(Array.from({ length: 6 }, () => openSession(service, { token })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  })

  test('gives a person who is new the role of a member, and one who is known the role that is asked for', async () => {
    const roleOf = async (wanted: { user_id: string; role?: string }) =>
      dataOf(await call(service, 'POST', '/login-links', { body: wanted }))['role']
    expect(await roleOf({ user_id: 'grace' })).toBe('member')
    expect(await roleOf({ user_id: 'grace', role: 'admin' })).toBe('admin')
    expect(await roleOf({ user_id: 'grace' })).toBe('admin')
  })

  test('401: the role of its person has changed since it was made, even if it changed back', async () => {
    const own = await services.start()
    const linkTo = (role: string) => loginToken(own, { user_id: 'hal', role })
    const change = (role: string) => call(own, 'PATCH', '/workspaces/default/members/hal', { body: { role } })
    const opened = async (token: string) => (await openSession(own, { token })).status
    const [early, late] = [await linkTo('admin'), await linkTo('admin')]
    await change('member')
    expect(await opened(early)).toBe(401)
    await change('admin')
    expect(await opened(late)).toBe(401)
    const lower = await linkTo('member')
    const last = await linkTo('admin')
    expect([await opened(lower), await opened(last)]).toEqual([401, 201])
  })

  test('400: a role, a time or a person that is none; 404: a workspace that is none', async () => {
    for (const body of [{ user_id: '' }, { user_id: 'a', role: 'owner' }, { user_id: 'a', expires_in: 0 }, { role: 'member' }]) {
      expect((await call(service, 'POST', '/login-links', { body })).status).toBe(400)
    }
    expect((await call(service, 'POST', '/login-links', { body: { user_id: 'a', workspace_id: 'none' } })).status).toBe(404)
  })
})

describe('a member', () => {
  let member: SignedIn
  beforeAll(async () => {
    member = await signInAs(service, { user_id: 'mia', role: 'member' })
  })

  test('403: may not manage', async () => {
    for (const [method, path] of [
      ['POST', '/keys'],
      ['GET', '/audit-log'],
      ['POST', '/login-links'],
      ['GET', '/workspaces'],
      ['GET', '/key'],
    ] as const) {
      expect((await member.ask(method, path, method === 'POST' ? { body: {} } : {})).status).toBe(403)
    }
  })

  test('reads what can be called', async () => {
    expect((await member.ask('GET', '/models/count')).status).toBe(200)
  })

  test('sees and ends own sessions, and no others', async () => {
    const other = await signInAs(service, { user_id: 'noa' })
    const own = await signInAs(service, { user_id: 'mia' })
    const seen = listOf(await member.ask('GET', '/sessions'))
    expect(new Set(seen.map(({ user_id }) => user_id))).toEqual(new Set(['mia']))
    expect(seen.map(({ id }) => id)).toContain(own.sessionId)
    expect((await member.ask('DELETE', `/sessions/${other.sessionId}`)).status).toBe(404)
    expect((await member.ask('DELETE', `/sessions/${own.sessionId}`)).status).toBe(200)
    expect((await own.ask('GET', '/sessions/current')).status).toBe(401)
    expect((await other.ask('GET', '/sessions/current')).status).toBe(200)
  })
})

describe('a session ends', () => {
  const lives = async ({ ask }: SignedIn): Promise<boolean> => (await ask('GET', '/sessions/current')).status === 200

  test('when it signs out; the cookie is taken back', async () => {
    const admin = await signInByKey(service)
    const answer = await admin.ask('DELETE', '/sessions/current')
    expect(answer.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(await lives(admin)).toBe(false)
  })

  test.each(['disabled', 'revoked'])('when its key is %s', async (how) => {
    const { key, data } = await createKey(service, { name: 'for a session', kind: 'management' })
    const path = `/keys/${data.hash}`
    const admin = await signInByKey(service, key)
    expect(await lives(admin)).toBe(true)
    await (how === 'revoked' ? call(service, 'DELETE', path) : call(service, 'PATCH', path, { body: { disabled: true } }))
    expect(await lives(admin)).toBe(false)
  })

  test('for good: its key lets nobody in again by being enabled again or prolonged, and another change of the key ends nothing', async () => {
    const { key, data } = await createKey(service, { name: 'comes back', kind: 'management' })
    const change = (body: object) => call(service, 'PATCH', `/keys/${data.hash}`, { body })
    const admin = await signInByKey(service, key)
    await change({ name: 'renamed', expires_at: '2999-01-01T00:00:00Z' })
    expect(await lives(admin)).toBe(true)
    await change({ disabled: true })
    await change({ disabled: false })
    expect(await lives(admin)).toBe(false)
    const later = await signInByKey(service, key)
    await change({ expires_at: new Date(Date.now() + 300).toISOString() })
    await until(async () => !(await lives(later)), 'the end of the key')
    await change({ expires_at: null })
    expect(await lives(later)).toBe(false)
    expect(await lives(await signInByKey(service, key))).toBe(true)
  })

  test('and with it, within a second, the stream that its page follows', async () => {
    const admin = await signInByKey(service)
    const stream = await fetch(`${service.api}/generations/stream`, { headers: admin.headers })
    expect(stream.status).toBe(200)
    // The stream is cut off, since it has no way to report its own end.
    const over = stream.text().catch(() => '')
    const endedMs = performance.now()
    await call(service, 'DELETE', `/sessions/${admin.sessionId}`)
    await over
    expect(performance.now() - endedMs).toBeLessThan(patient(1000))
  })

  test('when the role of its person changes', async () => {
    const person = await signInAs(service, { user_id: 'rae', role: 'member' })
    expect(await lives(person)).toBe(true)
    await loginToken(service, { user_id: 'rae', role: 'admin' })
    expect(await lives(person)).toBe(false)
  })

  test('when its person is a member no more', async () => {
    const person = await signInAs(service, { user_id: 'sam' })
    await call(service, 'POST', '/workspaces/default/members/remove', { body: { user_ids: ['sam'] } })
    expect(await lives(person)).toBe(false)
    await call(service, 'POST', '/workspaces/default/members/add', { body: { user_ids: ['sam'] } })
    expect(await lives(person)).toBe(false)
  })

  test('with its workspace', async () => {
    await call(service, 'POST', '/workspaces', { body: { name: 'x', slug: 'short-lived' } })
    const person = await signInAs(service, { user_id: 'tom', workspace_id: 'short-lived', role: 'admin' })
    expect(await lives(person)).toBe(true)
    expect(dataOf(await person.ask('GET', '/sessions/current'))['is_operator']).toBe(false)
    await call(service, 'DELETE', '/workspaces/short-lived')
    expect(await lives(person)).toBe(false)
  })
})

test('a session shows the name that its person has in its workspace, and none that the person has in another', async () => {
  await call(service, 'POST', '/workspaces', { body: { name: 'x', slug: 'tenant' } })
  const nameIn = async (workspace_id: string, user_id: string) =>
    dataOf(await (await signInAs(service, { user_id, workspace_id })).ask('GET', '/sessions/current'))['user_name']
  await signInAs(service, { user_id: 'wes' })
  await call(service, 'PATCH', '/workspaces/default/members/wes', { body: { name: 'Wes W.' } })
  const [owner] = listOf(await call(service, 'GET', '/workspaces/default/members'))
  expect(await nameIn('default', 'wes')).toBe('Wes W.')
  expect([await nameIn('tenant', 'wes'), await nameIn('tenant', String(owner?.['user_id']))]).toEqual([null, null])
})

test('an admin of another workspace reaches nothing of this one: 404', async () => {
  await call(service, 'POST', '/workspaces', { body: { name: 'x', slug: 'elsewhere' } })
  const admin = await signInAs(service, { user_id: 'uma', workspace_id: 'elsewhere', role: 'admin' })
  const [here] = listOf(await call(service, 'GET', '/keys'))
  expect((await admin.ask('GET', `/keys/${String(here?.['hash'])}`)).status).toBe(404)
  expect((await admin.ask('GET', '/keys?workspace_id=default')).status).toBe(404)
  expect(listOf(await admin.ask('GET', '/sessions')).map(({ user_id }) => user_id)).toEqual(['uma'])
  expect((await admin.ask('POST', '/login-links', { body: { user_id: 'uma', workspace_id: 'default', role: 'admin' } })).status).toBe(404)
})

test('every sign-in and sign-out is in the audit log', async () => {
  const person = await signInAs(service, { user_id: 'vic' })
  await person.ask('DELETE', '/sessions/current')
  const entries = listOf(await call(service, 'GET', `/audit-log?object_id=${person.sessionId}`))
  expect(entries.map(({ action, user_id, object_type }) => [action, user_id, object_type])).toEqual([
    ['signed_out', 'vic', 'session'],
    ['signed_in', 'vic', 'session'],
  ])
})

test('a secret that is rotated ends no session', async () => {
  const admin = await signInByKey(service)
  const rotated = await services.run(['secret', 'rotate', '--data-dir', service.dataDir])
  expect(rotated.code).toBe(0)
  await until(async () => (await admin.ask('GET', '/sessions/current')).status === 200, 'the session under the new secret')
})

test('429: the eleventh wrong sign-in within a minute, and then a right one too', async () => {
  const own = await services.start()
  for (let wrong = 0; wrong < 10; wrong += 1) expect((await openSession(own, { key: 'wrong' })).status).toBe(401)
  const refused = await openSession(own, { key: own.managementKey })
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await call(own, 'GET', '/keys')).status).toBe(200)
})

test('behind a proxy that is trusted, failures count for the address that it names; nobody else names one', async () => {
  const [sender, other] = [{ 'x-forwarded-for': '198.51.100.7' }, { 'x-forwarded-for': '198.51.100.7, 203.0.113.9' }]
  const behind = await services.start({ config: 'server: { trusted_proxies: ["127.0.0.0/8", "::1"] }' })
  for (let wrong = 0; wrong < 10; wrong += 1) expect((await openSession(behind, { key: 'wrong' }, sender)).status).toBe(401)
  expect((await openSession(behind, { key: behind.managementKey }, sender)).status).toBe(429)
  // Text that the client adds before the proxy's address is not taken as an address.
  expect((await openSession(behind, { key: behind.managementKey }, other)).status).toBe(201)

  const open = await services.start()
  for (let wrong = 0; wrong < 10; wrong += 1)
    expect((await openSession(open, { key: 'wrong' }, { 'x-forwarded-for': `198.51.100.${wrong}` })).status).toBe(401)
  expect((await openSession(open, { key: open.managementKey }, other)).status).toBe(429)
})

test('behind TLS the cookie is kept for https and this very host', async () => {
  const own = await services.start({ config: 'server: { public_url: "https://models.example.com/ai/" }' })
  const page = { host: 'models.example.com', origin: 'https://models.example.com' }
  const opened = await openSession(own, { key: own.managementKey }, page)
  expect(opened.headers.get('set-cookie')).toMatch(/^__Host-pb_session_[0-9a-f]{16}=.*; Secure$/)
  const admin = signedIn(own, opened)
  expect((await admin.ask('GET', '/sessions/current', { headers: page })).status).toBe(200)
  expect((await admin.ask('GET', '/sessions/current', { headers: { ...page, origin: 'http://models.example.com' } })).status).toBe(403)
  const { json } = await call(own, 'POST', '/login-links', { body: { user_id: 'a' } })
  expect((json as { data: { url: string } }).data.url).toStartWith('https://models.example.com/ai/dashboard/#login=')
})

test('dashboard: false takes sessions and links away', async () => {
  const own = await services.start({ config: 'dashboard: false' })
  expect((await openSession(own, { key: own.managementKey })).status).toBe(404)
  expect((await call(own, 'POST', '/login-links', { body: { user_id: 'a' } })).status).toBe(404)
  const admin = await signInByKey(service)
  expect((await call(own, 'GET', '/models/count', { key: null, headers: admin.headers })).status).toBe(401)
})
