/** People sign in at an identity provider (docs/contract/sign-in.md#openid-connect). */
import { beforeEach, describe, expect, test } from 'bun:test'

import { call } from '../support/calls.ts'
import { OIDC_CLIENT, startIdentityProvider } from '../support/identity-provider.ts'
import { openSession, signedIn } from '../support/signed-in.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()
const provider = startIdentityProvider()
const configOf = (more = '', trusted = `trusted_hosts: ["${provider.host}"]`): string =>
  `auth: { oidc: { issuer: "${provider.issuer}", client_id: ${OIDC_CLIENT.id}, client_secret: "${OIDC_CLIENT.secret}", ${trusted} ${more} } }`
// Each way back comes from an address of its own, so that the failures of one test do not count in the next.
const service = await services.start({
  config: `server: { trusted_proxies: [127.0.0.1] }\n${configOf(', allowed_domains: [other.example, corp.example], role_claim: groups')}`,
})
let addresses = 0
const fromElsewhere = () => ({ 'x-forwarded-for': `198.51.100.${(addresses += 1)}` })
beforeEach(() => provider.reset())

interface Begun {
  readonly cookie: string
  readonly url: string
}

const begin = async (where = service): Promise<Begun> => {
  const response = await fetch(`${where.url}/auth/oidc/start`, { redirect: 'manual' })
  return { cookie: (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '', url: response.headers.get('location') ?? '' }
}

const finish = async ({ cookie }: Begun, callback: URLSearchParams, where = service) => {
  const response = await fetch(`${where.url}/auth/oidc/callback?${callback.toString()}`, {
    redirect: 'manual',
    headers: { cookie, ...fromElsewhere() },
  })
  return { status: response.status, location: response.headers.get('location') ?? '' }
}

const tokenIn = (location: string): string => new URL(location).hash.replace('#login=', '')

const signIn = async (where = service) => {
  const begun = await begin(where)
  const { status, location } = await finish(begun, provider.authorize(begun.url), where)
  expect(status).toBe(302)
  expect(location).toStartWith(`${where.url}/dashboard/#login=`)
  return signedIn(where, await openSession(where, { token: tokenIn(location) }))
}

const refused = async (): Promise<number> => {
  const begun = await begin()
  return (await finish(begun, provider.authorize(begun.url))).status
}

test('the browser is redirected with a challenge, a state and a nonce, and stores them out of reach of scripts', async () => {
  const response = await fetch(`${service.url}/auth/oidc/start`, { redirect: 'manual' })
  expect(response.headers.get('set-cookie')).toMatch(/^pb_oidc_[0-9a-f]{16}=.+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
  const asked = new URL(response.headers.get('location') ?? '').searchParams
  expect(Object.fromEntries(asked)).toMatchObject({
    client_id: OIDC_CLIENT.id,
    response_type: 'code',
    code_challenge_method: 'S256',
    redirect_uri: `${service.url}/auth/oidc/callback`,
  })
  for (const name of ['state', 'nonce', 'code_challenge']) expect((asked.get(name) ?? '').length).toBeGreaterThan(30)
})

test('anybody can read that people sign in this way and where it begins, or that the service names no provider', async () => {
  const methods = async (where: StartedService): Promise<unknown> => (await call(where, 'GET', '/sessions/methods', { key: null })).json
  expect(await methods(service)).toEqual({
    data: { link: true, key: true, oidc: { issuer: provider.issuer, url: `${service.url}/auth/oidc/start` } },
  })
  expect(await methods(await services.start())).toEqual({ data: { link: true, key: true, oidc: null } })
})

test('a person who comes back is signed in under the provider’s name, with the role of the claim', async () => {
  const person = async () => (await (await signIn()).ask('GET', '/sessions/current')).json as { data: object }
  expect((await person()).data).toMatchObject({ user_id: 'ada-at-work', role: 'member' })
  provider.claims = { groups: ['staff', 'admin'] }
  expect((await person()).data).toMatchObject({ user_id: 'ada-at-work', role: 'admin', is_operator: true })
  provider.claims = { groups: 'admin', sub: 'bo' }
  expect((await person()).data).toMatchObject({ user_id: 'bo', role: 'admin' })
})

test('nobody is an admin by a group that only resembles it, or by a claim of another form', async () => {
  for (const [at, groups] of [
    'administrators',
    ['non-admin', 'db-admin'],
    'staff,admin',
    ['ADMIN'],
    [['admin ']],
    { admin: true },
  ].entries()) {
    provider.claims = { sub: `near-${at}`, groups }
    const { json } = await (await signIn()).ask('GET', '/sessions/current')
    expect([groups, json]).toMatchObject([groups, { data: { role: 'member' } }])
  }
})

test('another role at the provider ends the earlier sessions', async () => {
  provider.claims = { sub: 'cy', groups: ['admin'] }
  const admin = await signIn()
  provider.claims = { sub: 'cy', groups: [] }
  await signIn()
  expect((await admin.ask('GET', '/sessions/current')).status).toBe(401)
})

test('after a provider changed its signing key, the new one is accepted', async () => {
  await signIn()
  provider.rotateKey()
  await signIn()
})

describe('401:', () => {
  const past = Math.floor(Date.now() / 1000) - 3600
  test.each<[string, Record<string, unknown>]>([
    ['another nonce', { nonce: 'another' }],
    ['another audience', { aud: 'somebody-else' }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['a token that has expired', { exp: past }],
    ['no subject', { sub: '' }],
    ['a subject that no engine stores', { sub: 'a\u0000b' }],
    ['a subject that is half a character', { sub: 'a\ud800' }],
  ])('%s', async (_, claims) => {
    provider.claims = claims
    expect(await refused()).toBe(401)
  })

  test('a signature of another key', async () => {
    provider.forged = true
    expect(await refused()).toBe(401)
  })

  test('another state, no cookie, a changed cookie, or that of another sign-in', async () => {
    const begun = await begin()
    const callback = provider.authorize(begun.url)
    const otherState = new URLSearchParams({ code: callback.get('code') ?? '', state: 'x'.repeat(43) })
    expect((await finish(begun, otherState)).status).toBe(401)
    expect((await finish({ ...begun, cookie: '' }, callback)).status).toBe(401)
    expect((await finish({ ...begun, cookie: begun.cookie.replace('=', '=a') }, callback)).status).toBe(401)
    expect((await finish(await begin(), callback)).status).toBe(401)
    expect((await finish(begun, callback)).status).toBe(302)
    expect((await finish(begun, callback)).status).toBe(401)
  })

  test('a denial at the provider', async () => {
    const begun = await begin()
    const state = provider.authorize(begun.url).get('state') ?? ''
    expect((await finish(begun, new URLSearchParams({ error: 'access_denied', state }))).status).toBe(401)
  })
})

test('403: another domain, or an address that the provider has not confirmed', async () => {
  for (const claims of [
    { email: 'eve@evil.example' },
    { email: 'eve@notcorp.example' },
    { email: 'corp.example' },
    { email: '@corp.example' },
    { email: 'eve@evil.example@corp.example' },
    { email: 'eve@evil.example\n@corp.example' },
    { email_verified: false },
    { email: undefined },
    { email_verified: undefined },
  ]) {
    provider.claims = claims
    expect(await refused()).toBe(403)
  }
})

describe('a failure', () => {
  /** The request of a browser in which a person returns from the provider. */
  const shown = async (callback: (url: string) => URLSearchParams) => {
    const { cookie, url } = await begin()
    const headers = { cookie, ...fromElsewhere(), accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    const response = await fetch(`${service.url}/auth/oidc/callback?${callback(url).toString()}`, { redirect: 'manual', headers })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  test('is shown on a page for people, which says why and leads back to the sign-in page', async () => {
    provider.claims = { email: 'eve@evil.example' }
    const { status, headers, text } = await shown(provider.authorize)
    expect([status, headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
    expect(headers.get('content-security-policy')).toStartWith("default-src 'none'; style-src 'nonce-")
    expect(text).toContain('Only people with a verified email address in an allowed domain can sign in here.')
    expect(text).toContain('<a href="/dashboard">')
    expect(text).toContain(headers.get('x-request-id') ?? 'no id')
  })

  test('for which the provider gives a reason shows that reason as text', async () => {
    const { text } = await shown((url) => {
      const state = new URL(url).searchParams.get('state') ?? ''
      return new URLSearchParams({ error: 'access_denied', error_description: 'Ask <b>IT</b> for access.', state })
    })
    expect(text).toContain('The identity provider refused: Ask &lt;b&gt;IT&lt;/b&gt; for access. (access_denied)')
    const strange = await shown(() => new URLSearchParams({ error: 'access_denied', error_description: 'Call 555', state: 'another' }))
    expect(strange.text).not.toContain('555')
  })

  test('is logged with its cause and the id of the request', async () => {
    provider.claims = { aud: 'somebody-else' }
    const { headers } = await shown(provider.authorize)
    const id = headers.get('x-request-id') ?? 'no id'
    await until(() => service.stderr().includes(id), 'the line of the log')
    expect(
      service
        .stderr()
        .split('\n')
        .find((line) => line.includes(id) && line.includes('"warn"')),
    ).toContain('\\"aud\\"')
  })
})

test('an address confirmed by a text counts as confirmed, and a null address as absent', async () => {
  provider.claims = { email_verified: 'true' }
  await signIn()
  for (const claims of [{ email_verified: 'false' }, { email: null }]) {
    provider.claims = claims
    expect(await refused()).toBe(403)
  }
})

describe('claims that the token lacks', () => {
  const atUserinfo = { userinfo_endpoint: `${provider.issuer}/person` }
  const unconfirmed = { email: undefined, email_verified: undefined }

  test('are read where the provider shows them for the access token', async () => {
    provider.metadata = atUserinfo
    provider.claims = unconfirmed
    provider.person = { email: 'ada@corp.example', email_verified: true, groups: ['admin'] }
    const { json } = await (await signIn()).ask('GET', '/sessions/current')
    expect(json).toMatchObject({ data: { user_id: 'ada-at-work', role: 'admin' } })
  })

  test('are not taken from another person, and do not replace those of the token', async () => {
    provider.metadata = atUserinfo
    provider.claims = { ...unconfirmed, groups: [] }
    provider.person = { sub: 'somebody-else', email: 'ada@corp.example', email_verified: true }
    expect(await refused()).toBe(401)
    provider.person = { email: 'ada@corp.example', email_verified: true, groups: ['admin'] }
    expect((await (await signIn()).ask('GET', '/sessions/current')).json).toMatchObject({ data: { role: 'member' } })
    provider.claims = { email: 'eve@evil.example' }
    expect(await refused()).toBe(403)
  })

  test('do not confirm an address that is not theirs', async () => {
    provider.metadata = atUserinfo
    provider.claims = { email: 'eve@corp.example', email_verified: undefined }
    provider.person = { email: 'eve@evil.example', email_verified: true }
    expect(await refused()).toBe(403)
  })
})

test('the secret is sent in the body to a provider that takes it only there', async () => {
  provider.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] }
  provider.wantsSecretInBody = true
  await signIn()
})

test.each([['client_secret_basic'], ['client_secret_post']])(
  'a provider that repeats what it was sent brings the secret neither before the person nor into the log: %s',
  async (method) => {
    provider.metadata = { token_endpoint_auth_methods_supported: [method] }
    provider.repeats = true
    const begun = await begin()
    const response = await fetch(`${service.url}/auth/oidc/callback?${provider.authorize(begun.url).toString()}`, {
      headers: { cookie: begun.cookie, ...fromElsewhere() },
    })
    expect(response.status).toBe(401)
    const id = response.headers.get('x-request-id') ?? 'no id'
    await until(() => service.stderr().includes(id), 'the line of the log')
    const shown = (await response.text()) + service.stderr()
    expect(shown).toContain('did not confirm this sign-in')
    expect(shown).not.toContain('unknown: ')
  },
)

test.each([[undefined], [5], ['javascript:alert(1)'], ['/authorize']])(
  '401: a provider whose page for signing in is %p',
  async (authorization_endpoint) => {
    provider.metadata = { authorization_endpoint }
    expect((await fetch(`${service.url}/auth/oidc/start`, { redirect: 'manual' })).status).toBe(401)
  },
)

test('people who begin while the provider is asked for its page wait for the same answer', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  provider.wait = promise
  const first = begin()
  await until(() => provider.discoveries === 1, 'the first question')
  const others = Array.from({ length: 20 }, () => begin())
  // A request that is answered after them shows that the service has read them.
  await call(service, 'GET', '/sessions/methods', { key: null })
  resolve()
  const begun = await Promise.all([first, ...others])
  expect(new Set(begun.map(({ url }) => new URL(url).searchParams.get('state'))).size).toBe(21)
  expect(provider.discoveries).toBeLessThan(21)
})

test('429: after ten ways back from one address that failed, the provider is not asked again', async () => {
  const own = await services.start({ config: configOf() })
  provider.claims = { nonce: 'another' }
  const back = async () => {
    const begun = await begin(own)
    return finish(begun, provider.authorize(begun.url), own)
  }
  for (let wrong = 0; wrong < 10; wrong += 1) expect((await back()).status).toBe(401)
  provider.claims = {}
  expect((await back()).status).toBe(429)
})

test('an outage of the provider and people who go back there do not lock out others behind their address', async () => {
  const own = await services.start({ config: configOf() })
  const begun = await begin(own)
  const state = provider.authorize(begun.url).get('state') ?? ''
  const statuses = new Set<number>()
  const fail = async (callback: URLSearchParams): Promise<void> => {
    for (let time = 0; time < 11; time += 1) statuses.add((await finish(begun, callback, own)).status)
  }
  await fail(new URLSearchParams({ error: 'access_denied', state }))
  provider.down = true
  await fail(provider.authorize(begun.url))
  provider.down = false
  // The document is there, and the address for codes is not.
  provider.metadata = { token_endpoint: 'http://127.0.0.1:1/token' }
  await fail(provider.authorize(begun.url))
  expect([...statuses]).toEqual([401])
  provider.metadata = {}
  await signIn(own)
})

test('429: of many ways back at once from one address, ten reach the provider', async () => {
  const own = await services.start({ config: configOf() })
  const begun = await begin(own)
  const state = provider.authorize(begun.url).get('state') ?? ''
  const callback = new URLSearchParams({ code: 'bogus', state })
  const { exchanges } = provider
  const answers = await Promise.all(Array.from({ length: 40 }, () => finish(begun, callback, own)))
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(10)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(30)
  expect(provider.exchanges - exchanges).toBe(10)
})

test('behind TLS the cookie is kept for https and this very host, and one of another name is not read', async () => {
  const own = await services.start({ config: `server: { public_url: "https://models.example.com" }\n${configOf()}` })
  const headers = { host: 'models.example.com' }
  const begun = await fetch(`${own.url}/auth/oidc/start`, { redirect: 'manual', headers })
  const cookie = begun.headers.get('set-cookie') ?? ''
  expect(cookie).toMatch(/^__Host-pb_oidc_[0-9a-f]{16}=.+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/)
  const callback = provider.authorize(begun.headers.get('location') ?? '').toString()
  const back = async (kept: string) =>
    (await fetch(`${own.url}/auth/oidc/callback?${callback}`, { redirect: 'manual', headers: { ...headers, cookie: kept } })).status
  const kept = cookie.split(';')[0] ?? ''
  expect(await back(kept.replace('__Host-', ''))).toBe(401)
  expect(await back(kept)).toBe(302)
})

test('403: under a host name that is not the service’s', async () => {
  const response = await fetch(`${service.url}/auth/oidc/start`, { redirect: 'manual', headers: { host: 'evil.example' } })
  expect(response.status).toBe(403)
})

test('a private address is contacted only if the file trusts it', async () => {
  const own = await services.start({ config: configOf('', '') })
  expect((await fetch(`${own.url}/auth/oidc/start`, { redirect: 'manual' })).status).toBe(401)
})

test('without a role claim, roles are assigned in the service, and no domain is excluded', async () => {
  const own = await services.start({ config: configOf() })
  provider.claims = { email: 'eve@evil.example', groups: ['admin'] }
  expect(((await (await signIn(own)).ask('GET', '/sessions/current')).json as { data: object }).data).toMatchObject({ role: 'member' })
  await call(own, 'PATCH', '/workspaces/default/members/ada-at-work', { body: { role: 'admin' } })
  expect(((await (await signIn(own)).ask('GET', '/sessions/current')).json as { data: object }).data).toMatchObject({ role: 'admin' })
})

test('404 if the file names no provider', async () => {
  const own = await services.start()
  expect((await fetch(`${own.url}/auth/oidc/start`)).status).toBe(404)
})
