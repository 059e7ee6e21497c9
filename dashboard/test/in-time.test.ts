/** Screens that update themselves, timed by the page's own clock, which a test stops and advances, however busy the machine is. */
import { describe, expect, test } from 'bun:test'
import type { Page, Request } from 'playwright-core'

import { say, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage } from './calls.ts'
import { oneProvider } from './one-provider.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const asked = new WeakMap<Page, Set<Request>>()

const before = async (page: Page): Promise<void> => {
  const waiting = new Set<Request>()
  asked.set(page, waiting)
  page.on('request', (request) => waiting.add(request))
  page.on('requestfinished', (request) => waiting.delete(request))
  page.on('requestfailed', (request) => waiting.delete(request))
  await page.clock.install()
}

/** Resolves when all requests of the page are answered. */
const answered = (page: Page): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (asked.get(page)?.size === 0) resolve()
    }
    page.on('requestfinished', look)
    page.on('requestfailed', look)
    look()
  })

/** More than a busy machine takes between reading the clock and stopping it, since a clock cannot be stopped in its past. */
const AHEAD_MS = 60_000

/**
 * When `happens` is done, the page's clock stands still and no request is pending: the page must show by a request within this much of its
 * time that it noticed, not by one that it sent before.
 */
const asksWithin = async (page: Page, ms: number, asks: (request: Request) => boolean, happens: () => Promise<unknown>): Promise<void> => {
  await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + AHEAD_MS)
  await answered(page)
  await happens()
  const seen = page.waitForRequest(asks)
  // Runs timer by timer, since a response may set the timer for the next request.
  await page.clock.runFor(ms)
  await seen
  await page.clock.resume()
}

const isFor =
  (path: string) =>
  (request: Request): boolean =>
    new URL(request.url()).pathname === `/api/v1${path}`

describe.skipIf(BROWSER_PATH === null)('by itself', () => {
  test('the page of a client that is set up sees its first request within two seconds', async () => {
    const service = await services.start()
    const { page, check } = await signedIn(browser, service, '/setup', { before })
    await page.getByText('Waiting for the first request').waitFor()
    await asksWithin(page, 2000, isFor('/generations'), () => chat(service, { model: 'sandbox/echo' }))
    await page.getByText('First request seen').waitFor()
    check()
  })

  test('Keys has a key that somebody else made within ten seconds, and the limit that they gave to the open one', async () => {
    const service = await services.start()
    const { data: open } = await manage<{ data: { hash: string } }>(service, '/keys', { body: { name: 'checkout' } })
    const { page, check } = await signedIn(browser, service, `/keys?key=${open.hash}`, { before })
    const detail = page.getByRole('region', { name: 'checkout' })
    await detail.getByText('What bounds it').waitFor()
    await asksWithin(page, 10_000, isFor('/keys'), async () => {
      await manage(service, '/keys', { body: { name: 'made elsewhere' } })
      await manage(service, `/keys/${open.hash}`, { method: 'PATCH', body: { limit: 7 } })
    })
    await page.getByRole('link', { name: 'made elsewhere' }).waitFor()
    await detail.getByText('of $7.00').first().waitFor()
    check()
  })

  test('an open key is read again within ten seconds after a read of it failed', async () => {
    const service = await services.start()
    const { data: open } = await manage<{ data: { hash: string } }>(service, '/keys', { body: { name: 'checkout' } })
    const { page } = await signedIn(browser, service, `/keys?key=${open.hash}`, { before })
    const detail = page.getByRole('region', { name: 'checkout' })
    await detail.getByText('What bounds it').waitFor()
    const isForIt = isFor(`/keys/${open.hash}`)
    // Until the failure is shown: on a busy machine one read is due where the clock is halted, and the next within the ten seconds.
    await page.route(
      (url) => url.pathname.endsWith(open.hash),
      (route) => route.fulfill({ status: 500, json: {} }),
    )
    await asksWithin(page, 10_000, isForIt, async () => {})
    await detail.getByText('This is what was last known.').waitFor()
    await page.unrouteAll()
    await asksWithin(page, 10_000, isForIt, () => manage(service, `/keys/${open.hash}`, { method: 'PATCH', body: { limit: 7 } }))
    await detail.getByText('of $7.00').first().waitFor()
  })

  test('the overview names a provider that fails, with its last error, within ten seconds, and one that answers again no longer', async () => {
    const upstream = await startFakeUpstream()
    const service = await services.start({ config: oneProvider(upstream) })
    upstream.script(say('well'))
    await chat(service, { model: 'fake/good' })
    const { page, ...visitor } = await signedIn(browser, service, '', { before })
    const providers = page.getByRole('table', { name: 'Providers' })
    await providers.getByRole('link', { name: /^Good\s*, Answers$/ }).waitFor()
    const trouble = page.getByRole('link', { name: /^▲?\s*Good/ }).and(page.locator('.trouble'))
    expect(await trouble.count()).toBe(0)

    upstream.script((exchange) => exchange.answer(500, JSON.stringify({ error: { message: 'The engine burst.' } })))
    await asksWithin(page, 10_000, isFor('/providers/health'), () => chat(service, { model: 'fake/good' }))
    await trouble.waitFor()
    // The line changes with each failure, so screen readers hear the names alone.
    await page.getByRole('status').getByText('Failing: Good.', { exact: true }).waitFor()
    expect(await trouble.textContent()).toMatch(/of attempts failed in this half hour · 500 server at [^:]*[\d:]+: The engine burst\.$/s)
    await visitor.checkAccessible()
    await trouble.click()
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
    await providers.getByText('Fails at times').waitFor()
    await page.goBack()
    await trouble.waitFor()

    upstream.script(say('well'))
    await asksWithin(page, 10_000, isFor('/providers/health'), () => chat(service, { model: 'fake/good' }))
    await trouble.waitFor({ state: 'detached' })
    expect(await page.locator('.trouble').count()).toBe(0)
    visitor.check()
  })
})
