/** The page where a person grants an application a key, in a browser. */
import { createHash } from 'node:crypto'

import { beforeAll, describe, expect, test } from 'bun:test'

import { OIDC_CLIENT, startIdentityProvider } from '../../test/support/identity-provider.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat } from './calls.ts'

const services = useHostedServices()
const browser = useBrowser()
const provider = startIdentityProvider()

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

const asking = (service: RunningService, asked: Readonly<Record<string, string>> = {}): string =>
  `${service.url}/auth?${new URLSearchParams({ code_challenge: CHALLENGE, code_challenge_method: 'S256', ...asked }).toString()}`

const signIn = async (visitor: Awaited<ReturnType<typeof browser.visit>>, key: string): Promise<void> => {
  // Nobody is signed in yet, so the page's first request gets this status.
  visitor.expectStatus(401)
  await visitor.page.getByLabel('Management key').fill(key)
  await visitor.page.getByRole('button', { name: 'Sign in' }).click()
}

/** An application that a person is sent back to. */
const startApplication = (): { origin: string; cameBack: Promise<URL>; stop(): void } => {
  const { promise, resolve } = Promise.withResolvers<URL>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const url = new URL(request.url)
      if (url.pathname === '/done') resolve(url)
      return new Response('<!doctype html><link rel="icon" href="data:,"><h1>Back in the application</h1>', {
        headers: { 'content-type': 'text/html' },
      })
    },
  })
  return { origin: `http://127.0.0.1:${String(server.port)}`, cameBack: promise, stop: () => void server.stop(true) }
}

describe.skipIf(BROWSER_PATH === null)('an application asks for a key', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start({ config: 'oauth: { enabled: true }' })
  })

  test('the person signs in, sees who asks for what, allows it, and the application gets a key that works', async () => {
    using application = disposable(startApplication())
    const visitor = await browser.visit(
      asking(service, { callback_url: `${application.origin}/done?from=here`, state: 'kept', limit: '3', usage_limit_type: 'weekly' }),
    )
    const { page } = visitor
    await page.getByRole('heading', { name: `${new URL(application.origin).host} asks for a key` }).waitFor()
    await page.getByText('$3 weekly').waitFor()
    await signIn(visitor, service.managementKey)
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    await visitor.checkAccessible()
    visitor.expectOrigin(application.origin)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByRole('heading', { name: 'Back in the application' }).waitFor()
    const back = (await application.cameBack).searchParams
    expect([back.get('from'), back.get('state')]).toEqual(['here', 'kept'])
    const exchanged = await fetch(`${service.api}/auth/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: back.get('code'), code_verifier: VERIFIER }),
    })
    const { key } = (await exchanged.json()) as { key: string }
    expect((await chat({ ...service, inferenceKey: key }, { model: 'sandbox/echo' })).text).toContain('parcel')
    visitor.check()
  })

  test('a person who denies it comes back to the application without a code', async () => {
    using application = disposable(startApplication())
    const visitor = await browser.visit(asking(service, { callback_url: `${application.origin}/done` }))
    await signIn(visitor, service.managementKey)
    visitor.expectOrigin(application.origin)
    await visitor.page.getByRole('button', { name: 'Deny' }).click()
    expect((await application.cameBack).search).toBe('?error=access_denied')
    visitor.check()
  })

  test('a program in a terminal has the code shown, and hostile names are text', async () => {
    const visitor = await browser.visit(asking(service, { key_label: '<img src=x onerror="hit=1">' }))
    await signIn(visitor, service.managementKey)
    await visitor.page.getByText('<img src=x onerror="hit=1">').waitFor()
    await visitor.page.getByRole('button', { name: 'Allow' }).click()
    await visitor.page.getByText('Give this code to the application').waitFor()
    expect(await visitor.page.evaluate('typeof hit')).toBe('undefined')
    await visitor.checkAccessible()
  })

  test('a person signs in at the identity provider in another tab, and goes on in this one', async () => {
    const signingIn = await services.start({
      config: `oauth: { enabled: true }\nauth: { oidc: { issuer: "${provider.issuer}", client_id: ${OIDC_CLIENT.id}, client_secret: "${OIDC_CLIENT.secret}", trusted_hosts: ["${provider.host}"] } }`,
    })
    const visitor = await browser.visit(asking(signingIn))
    visitor.expectStatus(401)
    const opened = visitor.page.waitForEvent('popup')
    await visitor.page.getByRole('link', { name: 'Sign in with your identity provider' }).click()
    const other = await opened
    await other.getByRole('heading', { name: 'Overview' }).waitFor()
    await other.close()
    await visitor.page.bringToFront()
    await visitor.page.evaluate(`dispatchEvent(new Event('focus'))`)
    await visitor.page.getByText('Signed in as ada-at-work').waitFor()
    visitor.check()
  })
})

const disposable = <Thing extends { stop(): void }>(thing: Thing): Thing & Disposable =>
  Object.assign(thing, { [Symbol.dispose]: () => thing.stop() })
