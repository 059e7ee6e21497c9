/** An application gets a key of a person who approves it, by OAuth with PKCE (docs/contract/sign-in.md#applications). */
import { beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'

import { type Answer, call, createKey, infer } from '../support/calls.ts'
import { loginToken, openSession, type SignedIn, signInAs, signInByKey } from '../support/signed-in.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()
const service = await services.start({ config: 'oauth: { enabled: true }' })

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')
const CALLBACK = 'https://app.example.com/done?from=patchbay'
const S256 = { callback_url: CALLBACK, code_challenge: CHALLENGE, code_challenge_method: 'S256' }

const allow = (body: object, key = service.managementKey): Promise<Answer> => call(service, 'POST', '/auth/keys/code', { key, body })
const codeOf = ({ json }: Answer): string => (json as { data: { id: string } }).data.id
const exchange = (body: object): Promise<Answer> => call(service, 'POST', '/auth/keys', { key: null, body })
const chat = (key: string) => infer(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }, { key })
const keyOf = ({ json }: Answer): string => (json as { key: string }).key

describe('a code', () => {
  test('is exchanged for an inference key of the person, once; a second exchange revokes the key', async () => {
    const made = await allow({ ...S256, key_label: 'my app', limit: 3, usage_limit_type: 'weekly' })
    expect(made.status).toBe(200)
    expect((made.json as { data: object }).data).toMatchObject({ app_id: expect.any(Number), created_at: expect.any(String) })
    const got = await exchange({ code: codeOf(made), code_verifier: VERIFIER, code_challenge_method: 'S256' })
    expect(got.status).toBe(200)
    expect(keyOf(got)).toStartWith('pb_inf_')
    expect((await chat(keyOf(got))).status).toBe(200)
    const { data } = (await call(service, 'GET', '/keys?q=my%20app')).json as { data: readonly Record<string, unknown>[] }
    expect(data[0]).toMatchObject({
      purpose: 'application',
      limit: 3,
      limit_reset: 'weekly',
      creator_user_id: (got.json as { user_id: string }).user_id,
    })
    const again = await exchange({ code: codeOf(made), code_verifier: VERIFIER })
    expect([again.status, again.error.message]).toEqual([403, 'Invalid code or code_verifier'])
    expect((await chat(keyOf(got))).status).toBe(401)
  })

  test('leaves no working key if it is exchanged many times at once', async () => {
    const own = await services.start({ config: 'oauth: { enabled: true }' })
    const code = codeOf(await call(own, 'POST', '/auth/keys/code', { body: { ...S256, key_label: 'raced' } }))
    const body = { code, code_verifier: VERIFIER }
    await Promise.all(Array.from({ length: 5 }, () => call(own, 'POST', '/auth/keys', { key: null, body })))
    expect(((await call(own, 'GET', '/keys?q=raced&status=all')).json as { data: unknown[] }).data).toEqual([])
  })

  test('creates no key once its person is no longer a member or its workspace is deleted, and neither does a sign-in link', async () => {
    const own = await services.start({ config: 'oauth: { enabled: true }' })
    const workspace = (await call(own, 'POST', '/workspaces', { body: { name: 'Left', slug: 'left' } })).json as { data: { id: string } }
    const { id } = workspace.data
    const exchanged = async (code: string) =>
      (await call(own, 'POST', '/auth/keys', { key: null, body: { code, code_verifier: VERIFIER } })).status

    const ada = await signInAs(own, { user_id: 'ada', workspace_id: id })
    const token = await loginToken(own, { user_id: 'ada', workspace_id: id })
    const left = codeOf(await ada.ask('POST', '/auth/keys/code', { body: S256 }))
    expect((await call(own, 'POST', `/workspaces/${id}/members/remove`, { body: { user_ids: ['ada'] } })).status).toBe(200)
    expect([await exchanged(left), (await openSession(own, { token })).status]).toEqual([403, 401])

    const made = (await call(own, 'POST', '/keys', { body: { name: 'app', workspace_id: id } })).json as {
      key: string
      data: { hash: string }
    }
    const pending = codeOf(await call(own, 'POST', '/auth/keys/code', { key: made.key, body: S256 }))
    const other = await loginToken(own, { user_id: 'grace', workspace_id: id })
    await call(own, 'DELETE', `/keys/${made.data.hash}`)
    expect((await call(own, 'DELETE', `/workspaces/${id}`)).status).toBe(200)
    expect([await exchanged(pending), (await openSession(own, { token: other })).status]).toEqual([403, 401])
  })

  test.each([
    ['is revoked', (hash: string) => call(service, 'DELETE', `/keys/${hash}`)],
    ['is disabled', (hash: string) => call(service, 'PATCH', `/keys/${hash}`, { body: { disabled: true } })],
  ])('creates no key once the key that allowed it %s', async (_, end) => {
    const made = await createKey(service, { name: 'allows' })
    const code = codeOf(await allow(S256, made.key))
    expect((await end(made.data.hash)).status).toBe(200)
    const answer = await exchange({ code, code_verifier: VERIFIER })
    expect([answer.status, answer.error.message]).toEqual([403, 'Invalid code or code_verifier'])
  })

  test('makes no key once the key that allowed it was disabled and enabled again, or got a bound that the new key would not have', async () => {
    const own = await services.start({ config: 'oauth: { enabled: true }' })
    const later = (await call(own, 'POST', '/guardrails', { body: { name: 'later' } })).json as { data: { id: string } }
    const guard = `/guardrails/${later.data.id}/assignments/keys`
    for (const change of [[{ disabled: true }, { disabled: false }], [{ limit: 1 }], []]) {
      const made = await createKey(own, { name: 'changes' })
      const code = codeOf(await call(own, 'POST', '/auth/keys/code', { key: made.key, body: S256 }))
      const { hash } = made.data
      for (const body of change) expect((await call(own, 'PATCH', `/keys/${hash}`, { body })).status).toBe(200)
      if (change.length === 0) expect((await call(own, 'POST', guard, { body: { key_hashes: [hash] } })).status).toBe(200)
      const answer = await call(own, 'POST', '/auth/keys', { key: null, body: { code, code_verifier: VERIFIER } })
      expect([change, answer.status]).toEqual([change, 403])
    }
  })

  test('creates no key once the secret that allowed it was replaced; the previous secret creates no code, and keys already exchanged stay', async () => {
    const made = await createKey(service, { name: 'rotates' })
    const before = keyOf(await exchange({ code: codeOf(await allow(S256, made.key)), code_verifier: VERIFIER }))
    const code = codeOf(await allow(S256, made.key))
    await call(service, 'POST', `/keys/${made.data.hash}/rotate`, { body: { grace_seconds: 3600 } })
    expect((await exchange({ code, code_verifier: VERIFIER })).status).toBe(403)
    const refused = await allow(S256, made.key)
    expect([refused.status, refused.error.message]).toEqual([
      403,
      'This key was replaced by a rotation, so it cannot create other keys. Use the new one.',
    ])
    expect((await chat(before)).status).toBe(200)
  })

  test('creates no key once its session was signed out or ended; a key already exchanged stays', async () => {
    const own = await services.start({ config: 'oauth: { enabled: true }' })
    const exchanged = (code: string) => call(own, 'POST', '/auth/keys', { key: null, body: { code, code_verifier: VERIFIER } })
    const allowed = async (by: SignedIn) => codeOf(await by.ask('POST', '/auth/keys/code', { body: S256 }))
    const [ada, eve] = [await signInAs(own, { user_id: 'ada' }), await signInAs(own, { user_id: 'eve' })]
    const made = await exchanged(await allowed(ada))
    const [left, stolen] = [await allowed(ada), await allowed(eve)]
    const { data } = (await eve.ask('GET', '/sessions/current')).json as { data: { id: string } }
    expect((await ada.ask('DELETE', '/sessions/current')).status).toBe(200)
    expect((await call(own, 'DELETE', `/sessions/${data.id}`)).status).toBe(200)
    for (const code of [left, stolen]) {
      const answer = await exchanged(code)
      expect([answer.status, answer.error.message]).toEqual([403, 'Invalid code or code_verifier'])
    }
    const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }
    expect((await infer(own, body, { key: keyOf(made) })).status).toBe(200)
  })

  test('requires its verifier and its method', async () => {
    const code = codeOf(await allow(S256))
    for (const wrong of [{}, { code_verifier: 'x'.repeat(43) }, { code_verifier: CHALLENGE }]) {
      expect((await exchange({ code, ...wrong })).status).toBe(403)
    }
    for (const method of ['plain', 'S512']) {
      const answer = await exchange({ code, code_verifier: VERIFIER, code_challenge_method: method })
      expect([answer.status, answer.error.metadata['reason']]).toEqual([400, 'Invalid code_challenge_method'])
    }
    expect((await exchange({ code: 'a'.repeat(43), code_verifier: VERIFIER })).status).toBe(403)
    expect((await exchange({ code, code_verifier: VERIFIER })).status).toBe(200)
  })

  test('with a plain challenge accepts the verifier itself, and not its hash', async () => {
    const plain = { callback_url: CALLBACK, code_challenge: VERIFIER, code_challenge_method: 'plain' }
    const code = codeOf(await allow(plain))
    expect((await exchange({ code, code_verifier: CHALLENGE })).status).toBe(403)
    expect((await exchange({ code, code_verifier: VERIFIER, code_challenge_method: 'plain' })).status).toBe(200)
  })

  test('may have a challenge with padding, as some libraries send it', async () => {
    const code = codeOf(await allow({ ...S256, code_challenge: `${CHALLENGE}=` }))
    expect((await exchange({ code, code_verifier: VERIFIER })).status).toBe(200)
  })
})

describe('what is allowed', () => {
  test.each([
    'javascript:alert(1)',
    'http://example.com/x',
    'https://user@app.example.com/',
    'https://user:word@app.example.com/',
    'https://app.example.com/#part',
    'data:text/html,x',
    '//app.example.com',
    'app.example.com',
    `https://app.example.com/${'x'.repeat(2048)}`,
  ])('400: %s as the callback, on the page and in the call', async (callback) => {
    expect((await allow({ ...S256, callback_url: callback })).status).toBe(400)
    const query = new URLSearchParams({ ...S256, callback_url: callback })
    expect((await fetch(`${service.url}/auth?${query.toString()}`)).status).toBe(400)
  })

  test.each(['http://localhost:3000/x', 'http://127.0.0.1:1/', 'http://[::1]:65000/', 'https://a.example'])(
    '%s is allowed as a callback',
    async (callback) => {
      expect((await allow({ ...S256, callback_url: callback })).status).toBe(200)
    },
  )

  test('400: no challenge, with a callback and without; a code without a callback needs one', async () => {
    expect((await allow({ callback_url: CALLBACK })).status).toBe(400)
    expect((await allow({})).status).toBe(400)
    expect((await fetch(`${service.url}/auth`)).status).toBe(400)
    expect((await fetch(`${service.url}/auth?callback_url=${encodeURIComponent(CALLBACK)}`)).status).toBe(400)
    expect((await allow({ code_challenge: CHALLENGE })).status).toBe(200)
  })

  test('401 without a key; 403 for a key with limits of its own, which the new one would not have', async () => {
    expect((await call(service, 'POST', '/auth/keys/code', { key: null, body: S256 })).status).toBe(401)
    expect((await allow(S256, service.inferenceKey)).status).toBe(200)
    for (const bound of [{ limit: 1 }, { rpm_limit: 5 }, { allowed_models: ['sandbox/echo'] }, { expires_at: '2099-01-01T00:00:00Z' }]) {
      const { key } = await createKey(service, { name: 'bound', ...bound })
      expect((await allow(S256, key)).status).toBe(403)
    }
  })

  test('403 for the key of an application: only its person allows another one', async () => {
    const key = keyOf(await exchange({ code: codeOf(await allow(S256)), code_verifier: VERIFIER }))
    expect((await chat(key)).status).toBe(200)
    const refused = await allow({ ...S256, key_label: 'kept in reserve' }, key)
    expect([refused.status, refused.error.message]).toEqual([
      403,
      'This is the key of an application, so it cannot create other keys. Its person can.',
    ])
  })

  test("403: a session's cookie without its second half, or with another session's; 401 if the session is over", async () => {
    const [ann, other] = [await signInAs(service, { user_id: 'ann' }), await signInByKey(service)]
    const status = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await call(service, 'POST', '/auth/keys/code', { key: null, body: S256, headers })).status
    const { cookie } = ann
    const here = { cookie, 'sec-fetch-site': 'same-origin' }
    expect(await status({ cookie })).toBe(403)
    expect(await status(here)).toBe(403)
    expect(await status({ ...here, 'x-patchbay-csrf': '' })).toBe(403)
    expect(await status({ ...here, 'x-patchbay-csrf': other.csrf })).toBe(403)
    expect(await status({ 'x-patchbay-csrf': ann.csrf, 'sec-fetch-site': 'same-origin' })).toBe(401)
    expect(await status({ ...here, cookie: `${cookie.split('=')[0]}=${'a'.repeat(43)}` })).toBe(401)
    expect(await status(ann.headers)).toBe(200)
    await ann.ask('DELETE', '/sessions/current')
    expect(await status(here)).toBe(401)
    expect(await status(ann.headers)).toBe(401)
  })

  test('a member’s application can spend at most what the playground may', async () => {
    const member = await signInAs(service, { user_id: 'mia' })
    const made = await member.ask('POST', '/auth/keys/code', {
      body: { ...S256, key_label: 'of mia', limit: 500, usage_limit_type: 'daily' },
    })
    await exchange({ code: codeOf(made), code_verifier: VERIFIER })
    const { data } = (await member.ask('GET', '/keys?q=of%20mia')).json as { data: readonly object[] }
    expect(data[0]).toMatchObject({ limit: 5, limit_reset: 'monthly', creator_user_id: 'mia' })
  })

  describe('of a member', () => {
    let own: StartedService
    beforeEach(async () => {
      own = await services.start({ config: 'oauth: { enabled: true }' })
    })
    const exchanged = async (code: string): Promise<number> =>
      (await call(own, 'POST', '/auth/keys', { key: null, body: { code, code_verifier: VERIFIER } })).status

    test('403: a member whose key for the playground is disabled, even with an earlier code', async () => {
      const member = await signInAs(own, { user_id: 'otto' })
      const code = codeOf(await member.ask('POST', '/auth/keys/code', { body: S256 }))
      const said = { body: { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] } }
      expect((await member.ask('POST', '/chat/completions', said)).status).toBe(200)
      const { data } = (await member.ask('GET', '/keys')).json as { data: readonly { hash: string }[] }
      await call(own, 'PATCH', `/keys/${data[0]?.hash ?? ''}`, { body: { disabled: true } })
      expect((await member.ask('POST', '/auth/keys/code', { body: S256 })).status).toBe(403)
      expect(await exchanged(code)).toBe(403)
    })

    test('403: a member has at most 20 applications, even by codes that were made together', async () => {
      const member = await signInAs(own, { user_id: 'max' })
      const codes: string[] = []
      for (let made = 0; made < 21; made += 1) codes.push(codeOf(await member.ask('POST', '/auth/keys/code', { body: S256 })))
      const statuses: number[] = []
      for (const code of codes) statuses.push(await exchanged(code))
      expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 403])
      const refused = await member.ask('POST', '/auth/keys/code', { body: S256 })
      expect([refused.status, refused.error.message]).toEqual([403, expect.stringContaining('You have 20 applications already')])
      const { data } = (await member.ask('GET', '/keys')).json as { data: readonly { hash: string }[] }
      await call(own, 'DELETE', `/keys/${data[0]?.hash ?? ''}`)
      expect((await member.ask('POST', '/auth/keys/code', { body: S256 })).status).toBe(200)
    })

    test('a code that an admin made is invalid once the admin is a member', async () => {
      const admin = await signInAs(own, { user_id: 'pia', role: 'admin' })
      const code = codeOf(await admin.ask('POST', '/auth/keys/code', { body: S256 }))
      await call(own, 'PATCH', '/workspaces/default/members/pia', { body: { role: 'member' } })
      expect(await exchanged(code)).toBe(403)
    })
  })

  test('404: another workspace', async () => {
    await call(service, 'POST', '/workspaces', { body: { name: 'x', slug: 'apart' } })
    const admin = await signInAs(service, { user_id: 'ann', workspace_id: 'apart', role: 'admin' })
    expect((await admin.ask('POST', '/auth/keys/code', { body: { ...S256, workspace_id: 'default' } })).status).toBe(404)
  })
})

test('401: a key of an application that has expired', async () => {
  const expires = new Date(Date.now() + 3000).toISOString()
  const got = await exchange({ code: codeOf(await allow({ ...S256, expires_at: expires })), code_verifier: VERIFIER })
  expect((await chat(keyOf(got))).status).toBe(200)
  await until(async () => (await chat(keyOf(got))).status === 401, 'the key to expire', 30_000)
  expect((await chat(keyOf(got))).error.metadata).toMatchObject({ error_type: 'authentication' })
})

test('an application in a browser may exchange a code from any origin; GET is 405', async () => {
  const headers = { origin: 'https://app.example.com' }
  const preflight = await fetch(`${service.api}/auth/keys`, { method: 'OPTIONS', headers })
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
  const answer = await call(service, 'POST', '/auth/keys', { key: null, body: { code: 'x' }, headers })
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, '*'])
  expect((await call(service, 'GET', '/auth/keys', { key: null })).status).toBe(405)
  expect((await fetch(`${service.api}/keys`, { method: 'OPTIONS', headers })).status).toBe(400)
})

test('429: the eleventh wrong exchange of an address within a minute', async () => {
  const own = await services.start({ config: 'oauth: { enabled: true }' })
  for (let wrong = 0; wrong < 10; wrong += 1) {
    expect((await call(own, 'POST', '/auth/keys', { key: null, body: { code: 'x' } })).status).toBe(403)
  }
  expect((await call(own, 'POST', '/auth/keys', { key: null, body: { code: 'x' } })).status).toBe(429)
})

test('the page has strict headers, cannot be framed, and shows what the application says as text', async () => {
  const query = new URLSearchParams({ ...S256, key_label: '<img src=x onerror=alert(1)>', state: '"><script>' })
  const response = await fetch(`${service.url}/auth?${query.toString()}`)
  expect(response.status).toBe(200)
  const policy = response.headers.get('content-security-policy') ?? ''
  for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "script-src 'self'"])
    expect(policy).toContain(rule)
  expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  expect(response.headers.get('cache-control')).toBe('no-store')
  const page = await response.text()
  expect(page).not.toContain('<img')
  expect(page).toContain('&lt;img')
  expect(page).toContain('app.example.com')
  expect((await fetch(`${service.url}/auth/consent.js`)).headers.get('content-type')).toStartWith('text/javascript')
})

test('400: the page is requested with two values of one parameter, of which it could show one and act on the other', async () => {
  const ask = async (query: string): Promise<number> => (await fetch(`${service.url}/auth?code_challenge=${CHALLENGE}&${query}`)).status
  expect(await ask('callback_url=https://app.example.com/&limit=1')).toBe(200)
  for (const query of [
    'callback_url=https://evil.example/&callback_url=https://app.example.com/',
    'callback_url=&callback_url=https://app.example.com/',
    'limit=1000&limit=1',
    'workspace_id=other&workspace_id=default',
    'state=a&%73tate=b',
  ])
    expect([query, await ask(query)]).toEqual([query, 400])
})

test('the operator lists the hosts that may be called back, and can allow requests without a challenge', async () => {
  const own = await services.start({
    config: 'oauth: { enabled: true, allowed_callback_hosts: [app.example.com], allow_without_pkce: true }',
  })
  const ask = (body: object) => call(own, 'POST', '/auth/keys/code', { body })
  expect((await ask({ ...S256, callback_url: 'https://evil.example/' })).status).toBe(400)
  const made = await ask({ callback_url: CALLBACK })
  expect(made.status).toBe(200)
  expect((await call(own, 'POST', '/auth/keys', { key: null, body: { code: codeOf(made) } })).status).toBe(200)
})

test('all of it is 404 until the operator enables it', async () => {
  const own = await services.start()
  expect((await fetch(`${own.url}/auth?code_challenge=${CHALLENGE}`)).status).toBe(404)
  for (const path of ['/auth/keys', '/auth/keys/code']) expect((await call(own, 'POST', path, { body: S256 })).status).toBe(404)
  const admin = await signInByKey(own)
  expect((await admin.ask('GET', '/sessions/current')).status).toBe(200)
})
