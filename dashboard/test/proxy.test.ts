/** The dashboard below a path, behind a proxy that terminates TLS; and the dashboard disabled. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat } from './calls.ts'
import { signInByPage } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const PEM = readFileSync(join(import.meta.dirname, '../../test/fixtures/tls/untrusted.pem'), 'utf8')
const PREFIX = '/patchbay'

/** Removes the prefix and forwards everything else, as the page on deployment describes. */
const startProxy = (): { url: string; to: { url: string } } => {
  const to = { url: '' }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key: PEM, cert: PEM },
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith(PREFIX)) return new Response(null, { status: 404 })
      return fetch(`${to.url}${pathname.slice(PREFIX.length)}${search}`, {
        method: request.method,
        headers: request.headers,
        body: request.body,
        redirect: 'manual',
        decompress: false,
      })
    },
  })
  afterAll(() => server.stop(true))
  return { url: `https://127.0.0.1:${String(server.port)}${PREFIX}`, to }
}

describe.skipIf(BROWSER_PATH === null)('below a path, behind a proxy that ends TLS', () => {
  test('people sign in, go from screen to screen, come back to an address, and call a model', async () => {
    const proxy = startProxy()
    const service = await services.start({ config: `server: { public_url: "${proxy.url}" }` })
    proxy.to.url = service.url
    await chat(service, { model: 'sandbox/echo' })
    const { page, ...visitor } = await browser.visit(`${proxy.url}/dashboard`, { ignoreHTTPSErrors: true })
    await signInByPage({ page, ...visitor }, service.managementKey)
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Requests' }).click()
    await page.locator('[data-row]').first().waitFor()
    expect(page.url()).toStartWith(`${proxy.url}/dashboard/requests`)
    await page.reload()
    await page.locator('[data-row] a').first().click()
    await page.getByRole('region', { name: 'Timeline' }).waitFor()
    await page.goto(`${proxy.url}/dashboard/playground?model=sandbox/echo`)
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('region', { name: 'sandbox/echo' }).getByRole('link', { name: 'Request' }).waitFor()
    await visitor.checkAccessible()
    const [cookie] = await page.context().cookies(proxy.url)
    expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Strict' })
    expect(cookie?.name).toStartWith('__Host-')
  })
})

test('dashboard: false removes the page, its files, sessions and sign-in links', async () => {
  const service = await services.start({ config: 'dashboard: false' })
  for (const [method, path] of [
    ['GET', '/dashboard'],
    ['GET', '/dashboard/requests'],
    ['GET', '/dashboard/assets/main.js'],
    ['POST', '/api/v1/sessions'],
    ['GET', '/api/v1/sessions/methods'],
    ['POST', '/api/v1/login-links'],
  ] as const) {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${service.managementKey}`, 'content-type': 'application/json' },
      ...(method === 'POST' ? { body: '{}' } : {}),
    })
    expect([path, response.status]).toEqual([path, 404])
  }
  expect((await fetch(`${service.url}/docs`)).status).toBe(200)
})
