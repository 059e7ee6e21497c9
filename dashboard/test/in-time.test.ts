/** Screens that turn by themselves: so soon by the page's own clock, which stands still in between, however busy the machine is. */
import { describe, expect, test } from 'bun:test'
import type { Page, Request } from 'playwright-core'

import { say, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

const before = (page: Page): Promise<void> => page.clock.install()

/** Lets so much time pass on the page, and no more, and resolves when it has asked. */
const asksWithin = async (page: Page, ms: number, asks: (request: Request) => boolean): Promise<void> => {
  await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 1000)
  await page.waitForLoadState('networkidle')
  const asked = page.waitForRequest(asks)
  await page.clock.fastForward(ms)
  await asked
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
    await chat(service, { model: 'sandbox/echo' })
    await asksWithin(page, 2000, isFor('/generations'))
    await page.getByText('First request seen').waitFor()
    check()
  })

  test('the overview names a provider that fails within ten seconds, and one that answers again no longer', async () => {
    const upstream = await startFakeUpstream()
    const service = await services.start({
      config: `
sandbox: false
providers:
  good: { name: Good, dialects: [openai-chat], base_url: "${upstream.url}", api_key: sk-upstream-secret-0123456789 }
models:
  fake/good: { endpoints: [{ provider: good, model: up }] }`,
    })
    upstream.script((exchange) => exchange.answer(500, JSON.stringify({ error: { message: 'The engine burst.' } })))
    const { page, check } = await signedIn(browser, service, '', { before })
    await page.getByRole('table', { name: 'Providers' }).getByRole('link', { name: /^Good/ }).waitFor()
    await chat(service, { model: 'fake/good' })
    await asksWithin(page, 10_000, isFor('/providers/health'))
    const trouble = page.locator('.trouble').filter({ hasText: 'The engine burst.' })
    await trouble.waitFor()
    upstream.script(say('well'))
    await chat(service, { model: 'fake/good' })
    await asksWithin(page, 10_000, isFor('/providers/health'))
    await trouble.waitFor({ state: 'detached' })
    expect(await page.locator('.trouble').count()).toBe(0)
    check()
  })
})
