import { afterAll, describe, expect, test } from 'bun:test'

import type { Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { startTcpRelay, type TcpRelay } from '../../test/support/tcp-relay.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, savePreset } from './calls.ts'
import { lateScriptWith } from './late-script.ts'
import { signedIn } from './signed-in.ts'

/** Counted in the page: a question whose time is over before it has left the browser is never seen on the network. */
const COUNT_QUESTIONS = `{
  const send = globalThis.fetch
  globalThis.questions = 0
  globalThis.fetch = (...given) => {
    if (String(given[0]).endsWith('/health/live')) globalThis.questions += 1
    return send(...given)
  }
}`

const services = useHostedServices()
const browser = useBrowser()
const relays: TcpRelay[] = []
afterAll(() => relays.forEach((relay) => relay.close()))

/** A service that can go away and come back at the same address, which no other process can take meanwhile. */
const startBehindRelay = async (): Promise<{ service: RunningService; relay: TcpRelay }> => {
  const started = await services.start()
  const relay = await startTcpRelay(started.url)
  relays.push(relay)
  // Programs call the API directly.
  return { service: { ...started, url: relay.url.replace(/\/$/, '') }, relay }
}

/** Resolves when the page has loaded every screen that it loads when idle. */
const screensAreThere = (page: Page): Promise<void> =>
  until(async () => (await page.evaluate(`performance.getEntriesByName('patchbay screens loaded').length`)) === 1, 'the other screens')

describe.skipIf(BROWSER_PATH === null)('the service away and back', () => {
  test('the page says so, keeps what it shows, opens the screens that it has, and goes on by itself', async () => {
    const { service, relay } = await startBehindRelay()
    await chat(service, { model: 'sandbox/echo' })
    const { page, expectOutage, checkAccessible } = await signedIn(browser, service, '/requests', { savesData: false })
    const row = page.getByRole('row').filter({ hasText: 'sandbox/echo' }).first()
    await row.waitFor()
    await screensAreThere(page)
    expectOutage()
    relay.cut()
    await page.getByLabel('Filter').fill('status:ok')
    await page.keyboard.press('Enter')
    const bar = page.getByText('The service cannot be reached.').first()
    await bar.waitFor()
    await page.getByRole('link', { name: 'Presets' }).click()
    await page.getByRole('heading', { name: 'Presets', level: 1 }).waitFor()
    await page.goBack()

    relay.restore()
    await bar.waitFor({ state: 'detached' })
    await row.waitFor()
    await checkAccessible()
  })

  test('if the response to a new object is lost, the page does not claim that there is none', async () => {
    const service = await services.start()
    const { page, expectOutage } = await signedIn(browser, service, '/guardrails')
    await page.getByRole('button', { name: 'New guardrail' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New guardrail' })
    await dialog.getByLabel('Name').fill('numbers')
    expectOutage()
    await page.route('**/api/v1/guardrails', async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      await route.fetch()
      return route.abort()
    })
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('This may have been done all the same: if you repeat it unchanged, it is done only once.').waitFor()
    expect(await dialog.getByLabel('Name').inputValue()).toBe('numbers')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'numbers' }).waitFor()
  })

  test('a screen whose script was not fetched yet opens when the service is back', async () => {
    const { service, relay } = await startBehindRelay()
    const away = Promise.withResolvers<void>()
    let isAway = true
    const before = async (page: Page): Promise<void> => {
      await page.route(`**/assets/${lateScriptWith('No presets yet')}`, async (route) => {
        await away.promise
        await (isAway ? route.abort('connectionrefused') : route.continue())
      })
    }
    const { page, expectOutage, check } = await signedIn(browser, service, '/keys', { before })
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    expectOutage()
    relay.cut()
    away.resolve()
    await page.getByRole('link', { name: 'Presets' }).click()
    const bar = page.getByText('The service cannot be reached.').first()
    await bar.waitFor()
    isAway = false
    relay.restore()
    await page.getByRole('heading', { name: 'Presets', level: 1 }).waitFor()
    await bar.waitFor({ state: 'detached' })
    check()
  })

  test('a list that follows live goes on by itself after an outage, with what ended meanwhile', async () => {
    const { service, relay } = await startBehindRelay()
    const { page, expectOutage, check } = await signedIn(browser, service, '/requests?live=on')
    const note = page.locator('.rows-note')
    const rows = page.locator('[data-row]')
    await note.getByText('Following').waitFor()
    expectOutage()
    relay.cut()
    await note.getByText('The connection to the service was lost before the end.').waitFor()
    await chat(service, { model: 'sandbox/echo' })
    relay.restore()
    await note.getByText('Following').waitFor()
    await until(async () => (await rows.count()) === 1, 'the request of the outage')
    await chat(service, { model: 'sandbox/lorem' })
    await until(async () => (await rows.count()) === 2, 'the request after it')
    check()
  })

  test('a network that swallows everything for minutes is an outage, in which the service is asked ever less often', async () => {
    const { service } = await startBehindRelay()
    await savePreset(service, 'support-bot', 'Answer politely.')
    const { page, check } = await signedIn(browser, service, '/presets', {
      alone: true,
      before: async (page) => {
        await page.clock.install()
        await page.addInitScript(COUNT_QUESTIONS)
      },
    })
    await page.getByRole('link', { name: 'support-bot' }).waitFor()
    const asked = async () => Number(await page.evaluate('globalThis.questions'))
    let isSilent = true
    const swallowed: Promise<void>[] = []
    await page.route(/\/api\/|\/health\//, (route) => {
      if (!isSilent) swallowed.push(route.continue())
    })
    await page.getByLabel('Filter presets').fill('support')
    const bar = page.getByRole('status').getByText('The service cannot be reached.')
    while (!(await bar.isVisible())) await page.clock.fastForward(5000)
    const before = await asked()
    for (let seconds = 0; seconds < 180; seconds += 5) await page.clock.fastForward(5000)
    expect((await asked()) - before).toBeWithin(5, 20)
    isSilent = false
    while (await bar.isVisible()) await page.clock.fastForward(5000)
    await page.getByRole('status').getByText('The service answers again.').waitFor()
    await page.getByRole('link', { name: 'support-bot' }).waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('support')
    await Promise.all(swallowed)
    check()
  })

  test('a proxy that answers for a service that is away is an outage, too', async () => {
    const { service } = await startBehindRelay()
    await savePreset(service, 'support-bot', 'Answer politely.')
    const { page, expectOutage, expectStatus, check } = await signedIn(browser, service, '/presets')
    await page.getByRole('link', { name: 'support-bot' }).waitFor()
    expectOutage()
    expectStatus(502)
    await page.route(/\/api\/|\/health\//, (route) => route.fulfill({ status: 502, contentType: 'text/html', body: 'Bad Gateway' }))
    await page.getByRole('link', { name: 'Keys' }).click()
    const bar = page.getByText('The service cannot be reached.')
    await bar.waitFor()
    await page.unrouteAll()
    await bar.waitFor({ state: 'detached' })
    await page.getByRole('table', { name: 'Keys' }).waitFor()
    check()
  })
})
