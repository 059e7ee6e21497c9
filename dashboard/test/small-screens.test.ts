import { beforeAll, describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const SCREENS = [
  '',
  '/requests',
  '/requests?failures=shown',
  '/presets',
  '/presets/support-bot',
  '/presets/support-bot?tab=evaluations',
  '/presets/support-bot?tab=settings',
  '/presets/support-bot?tab=history',
  '/presets/support-bot?tab=labels',
  '/playground',
  '/keys',
  '/spend',
  '/spend?and=model',
  '/guardrails',
  '/models',
  '/models?tab=models',
  '/setup',
  '/workspaces',
  '/audit',
  '/settings',
]

const SIDEWAYS = `[...document.querySelectorAll('.table-frame')].filter((frame) => frame.scrollWidth > frame.clientWidth).map((frame) => frame.textContent)`

/** The size in page pixels, and the device pixels for each. A screen of 1280 by 800 pixels at 400 % zoom has no more (WCAG 2.2, 1.4.10). */
const SIZES = [
  [390, 780, 1],
  [320, 200, 4],
] as const

/** Finds each control outside the page's borders that cannot be scrolled into view. */
const CUT = `[...document.querySelectorAll('button, a, input, select, textarea')].flatMap((element) => {
  const { left, right, width } = element.getBoundingClientRect()
  if (width === 0 || element.closest('.hidden-text, .skip') !== null || (left >= -1 && right <= innerWidth + 1)) return []
  for (let box = element.parentElement; box !== null; box = box.parentElement)
    if (/auto|scroll/.test(getComputedStyle(box).overflowX) && box !== document.documentElement && box !== document.body) return []
  return [element.outerHTML.slice(0, 200)]
})`

describe.skipIf(BROWSER_PATH === null)('on a phone', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
    await savePreset(service, 'support-bot', 'Answer briefly.')
    await savePreset(service, 'support-bot', 'Answer politely.', {
      'x-preset-note': 'politely, and in the words of the reader, whatever they are',
    })
    await manage(service, '/presets/support-bot', { method: 'PATCH', body: { labels: { 'production-of-the-shop-in-europe': 2 } } })
    await chat(service, { model: '@preset/support-bot' })
    await chat(service, { model: 'sandbox/error/provider_overloaded' })
  })

  test('Models shows the last failure of a provider', async () => {
    const { page, checkAccessible } = await signedIn(browser, service, '/models', { viewport: { width: 390, height: 780 } })
    await page
      .getByRole('table', { name: 'Providers' })
      .getByText(/provider_overloaded/)
      .filter({ visible: true })
      .waitFor()
    await checkAccessible()
  })

  test.each(SCREENS)(
    'the screen "%s" is no wider than a phone, nothing of it is cut, no table scrolls sideways, and everybody can use it, at four times the size or with text of one and a half too',
    async (path) => {
      const { page, checkAccessible, expectStatus, settled } = await signedIn(browser, service, path, {
        viewport: { width: 390, height: 780 },
      })
      expectStatus(404)
      const session = await page.context().newCDPSession(page)
      await page.locator('#content h1').waitFor()
      await settled()
      for (const [width, height, deviceScaleFactor] of SIZES) {
        await session.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor, mobile: false })
        expect({ wide: await page.evaluate('document.documentElement.scrollWidth') }).toEqual({ wide: width })
        expect({ width, sideways: await page.evaluate(SIDEWAYS) }).toEqual({ width, sideways: [] })
        expect({ width, cut: await page.evaluate(CUT) }).toEqual({ width, cut: [] })
        await checkAccessible()
      }
      // Text may grow by the browser's own font size, too (WCAG 2.2, 1.4.4).
      await session.send('Page.setFontSizes', { fontSizes: { standard: 24, fixed: 20 } })
      // With this text, 1100 pixels are a window between a phone and a desk, whose tables leave out columns.
      for (const width of [480, 1100]) {
        await session.send('Emulation.setDeviceMetricsOverride', { width, height: 780, deviceScaleFactor: 1, mobile: false })
        await page.evaluate('new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))')
        expect({ wide: await page.evaluate('document.documentElement.scrollWidth') }).toEqual({ wide: width })
        const [cut, sideways] = [await page.evaluate(CUT), await page.evaluate(SIDEWAYS)]
        expect({ width, cut, sideways }).toEqual({ width, cut: [], sideways: [] })
      }
      expect(await page.evaluate('getComputedStyle(document.body).fontSize')).toBe('19.5px')
      await session.send('Page.setFontSizes', { fontSizes: { standard: 16, fixed: 13 } })
      await session.send('Emulation.clearDeviceMetricsOverride')
      await session.detach()
    },
  )

  test('the heads of the list of requests are whole if the reader spaces the text out (WCAG 2.2, 1.4.12)', async () => {
    const { page } = await signedIn(browser, service, '/requests')
    await page.locator('[data-row]').first().waitFor()
    const [height, needed] = await page.evaluate<[number, number]>(SPACED_HEAD)
    expect(height).toBeGreaterThanOrEqual(needed)
  })
})

/** The height of the row of heads, and what its texts need. */
const SPACED_HEAD = `(() => {
  const head = document.querySelector('.rows-head')
  for (const element of [head, ...head.querySelectorAll('*')]) {
    element.style.letterSpacing = '0.12em'
    element.style.wordSpacing = '0.16em'
    element.style.lineHeight = '1.5'
  }
  return [head.clientHeight, head.scrollHeight]
})()`
