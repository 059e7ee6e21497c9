/** A tab that was open while another version was installed, and asks for a script that is gone. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { until, useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()
const ASSETS = join(import.meta.dir, '../dist/assets')

/** The one script that draws the audit log. */
const scriptOfAudit = (): string => {
  const found = readdirSync(ASSETS).filter(
    (name) => name.endsWith('.js') && readFileSync(join(ASSETS, name), 'utf8').includes('/audit-log'),
  )
  expect(found.length).toBeGreaterThan(0)
  return found.find((name) => name.startsWith('chunk-')) ?? ''
}

describe.skipIf(BROWSER_PATH === null)('a tab of an earlier version', () => {
  test.each([
    ['reloads itself once, and shows the screen that was asked for', true],
    ['says so where the script is gone for good, and does not reload itself again', false],
  ])('%s', async (_, comesBack) => {
    const service = await services.start()
    await savePreset(service, 'support-bot', 'Answer politely.')
    const script = scriptOfAudit()
    let [isGone, documents] = [true, 0]
    const visitor = await signedIn(browser, service, '/settings', {
      before: async (page) => {
        await page.route(`**/${script}`, (route) => (isGone ? route.fulfill({ status: 404, body: '' }) : route.continue()))
      },
    })
    const { page, expectStatus, expectOutage } = visitor
    expectStatus(404)
    expectOutage()
    page.on('request', (request) => {
      if (!request.isNavigationRequest()) return
      documents += 1
      isGone = !comesBack
    })
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Audit' }).click()
    await until(() => documents === 1, 'the reload')
    if (comesBack) await page.getByRole('link', { name: 'support-bot' }).first().waitFor()
    else await page.getByRole('alert').first().waitFor()
    expect(page.url()).toContain('/audit')
    expect(documents).toBe(1)
  })
})
