/** A link to an object prefetches it when the pointer is on it. */
import { describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('a link to an object', () => {
  test('of the lists of presets, keys and guardrails asks for it when the pointer comes to it, and a click asks no more for it', async () => {
    const service = await services.start()
    await savePreset(service, 'support-bot', 'Answer politely.')
    const { data: key } = await manage<{ data: { hash: string } }>(service, '/keys', { body: { name: 'checkout' } })
    const { data: guardrail } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'cards' } })
    for (const [path, name, asks] of [
      ['/presets', 'support-bot', '/presets/support-bot'],
      ['/keys', 'checkout', `/keys/${key.hash}`],
      ['/guardrails', 'cards', `/guardrails/${guardrail.id}/assignments/keys`],
    ] as const) {
      const { page, check, settled } = await signedIn(browser, service, path)
      const asked: string[] = []
      page.on('request', (request) => {
        const { pathname } = new URL(request.url())
        if (pathname === `/api/v1${asks}`) asked.push(pathname)
      })
      const link = page.locator('#content').getByRole('link', { name, exact: true }).first()
      await link.waitFor()
      await settled()
      expect({ path, asked }).toEqual({ path, asked: [] })
      const answered = page.waitForResponse((response) => new URL(response.url()).pathname === `/api/v1${asks}`)
      await link.hover()
      await answered
      await link.click()
      await settled()
      expect({ path, asked: asked.length }).toEqual({ path, asked: 1 })
      check()
    }
  })
})

describe.skipIf(BROWSER_PATH === null)('a page that is left alone', () => {
  test.each([
    ['loads the other screens', false, true],
    ['loads none in a browser that is set to save data', true, false],
  ])('%s', async (_, savesData, loads) => {
    const service = await services.start()
    const { page, settled } = await signedIn(browser, service, '/settings', { savesData, before: (opening) => opening.clock.install() })
    await settled()
    const scripts: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('.js')) scripts.push(request.url())
    })
    const asked = loads ? page.waitForRequest((request) => request.url().endsWith('.js')) : null
    await page.clock.fastForward(60_000)
    await asked
    await settled()
    expect(scripts.length > 0).toBe(loads)
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
  })
})
