import { describe, expect, test } from 'bun:test'

import { useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('the service stopped and back', () => {
  test('the page says so, keeps what it shows, and goes on by itself', async () => {
    const service = await services.start()
    await chat(service, { model: 'sandbox/echo' })
    const { page, expectOutage, expectStatus, checkAccessible } = await signedIn(browser, service, '/requests')
    // A service that stops answers so for a moment.
    expectStatus(503)
    const row = page.getByRole('row').filter({ hasText: 'sandbox/echo' })
    await row.first().waitFor()
    expectOutage()
    // The other screens are loaded once the page is idle.
    await page.waitForResponse(/presets-screen|chunk-/).catch(() => undefined)
    await page.waitForLoadState('networkidle')
    await service.stop()
    await page.getByLabel('Filter').fill('status:ok')
    await page.keyboard.press('Enter')
    const bar = page.getByText('The service cannot be reached.')
    await bar.first().waitFor()
    await page.getByRole('link', { name: 'Presets' }).click()
    await page.getByRole('heading', { name: 'Presets', level: 1 }).waitFor()
    await page.goBack()

    const again = await services.start({ dataDir: service.dataDir, flags: ['--port', new URL(service.url).port] })
    expect(again.url).toBe(service.url)
    await bar.first().waitFor({ state: 'detached' })
    await row.first().waitFor()
    await checkAccessible()
  })
})
