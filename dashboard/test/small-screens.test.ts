import { describe, expect, test } from 'bun:test'

import { useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

const SCREENS = [
  '',
  '/requests',
  '/presets',
  '/presets/support-bot',
  '/playground',
  '/keys',
  '/spend',
  '/guardrails',
  '/models',
  '/setup',
  '/workspaces',
  '/audit',
  '/settings',
]

describe.skipIf(BROWSER_PATH === null)('on a phone', () => {
  test('no screen is wider than 390 pixels, and each can be used by everybody', async () => {
    const service = await services.start()
    await savePreset(service, 'support-bot', 'Answer briefly.')
    await chat(service, { model: '@preset/support-bot' })
    const { page, checkAccessible, expectStatus } = await signedIn(browser, service, '', { viewport: { width: 390, height: 780 } })
    expectStatus(404)
    for (const path of SCREENS) {
      await page.goto(`${service.url}/dashboard${path}`)
      await page.locator('#content h1').waitFor()
      await page.waitForLoadState('networkidle')
      const width = await page.evaluate('document.documentElement.scrollWidth')
      expect({ path, width }).toEqual({ path, width: 390 })
      await checkAccessible()
    }
  })
})
