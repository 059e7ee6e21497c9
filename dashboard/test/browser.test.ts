/** The ground of the tests in a browser: none sees what another one left, and the checks of accessibility find what they look for. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage, savePreset } from './calls.ts'
import { open } from './going-on.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

/** Tells one document from another. */
const documentOf = (page: Page): Promise<number> => page.evaluate('performance.timeOrigin')

describe.skipIf(BROWSER_PATH === null)('a visit', () => {
  let service: RunningService
  let before = 0
  beforeAll(async () => {
    service = await services.start()
    await savePreset(service, 'support-bot', 'Answer politely.')
    await manage(service, '/keys', { body: { name: 'old' } })
  })

  test('leaves drafts, notes, open dialogs, filters, and what was read', async () => {
    const { page } = await signedIn(browser, service, '/playground?model=sandbox/echo')
    before = await documentOf(page)
    await page.getByLabel('System prompt').fill('Left here.')
    await open(page, '/presets/support-bot')
    await page.getByLabel('System prompt').fill('Left here, too.')
    await open(page, '/keys?q=old')
    await page.getByRole('link', { name: 'old', exact: true }).waitFor()
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('new')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByLabel('The key, shown this once').waitFor()
    await page.evaluate(`scrollTo(0, 100), sessionStorage.setItem('left', 'here')`)
  })

  test('is followed by one in the same document that sees nothing of it', async () => {
    await manage(service, '/presets/support-bot', { method: 'PATCH', body: { description: 'Changed since.' } })
    const { page, check } = await signedIn(browser, service, '/playground?model=sandbox/echo')
    expect(await documentOf(page)).toBe(before)
    expect(await page.getByLabel('System prompt').inputValue()).toBe('')
    expect(await page.locator('dialog, [role=dialog], .toast').count()).toBe(0)
    expect(await page.evaluate('[scrollX, scrollY, sessionStorage.length, localStorage.length]')).toEqual([0, 0, 0, 2])
    // It reads anew what the one before it has read.
    const read = page.waitForResponse((response) => new URL(response.url()).pathname === '/api/v1/presets/support-bot')
    await open(page, '/presets/support-bot')
    expect(await (await read).json()).toMatchObject({ data: { description: 'Changed since.' } })
    expect(await page.getByLabel('System prompt').inputValue()).toBe('Answer politely.')
    check()
  })

  for (const [what, change] of [
    ['replaced a function of the browser', 'Date.now = () => 0'],
    ['defined a name', 'globalThis.left = true'],
    ['chose something that the browser keeps', `localStorage.setItem('patchbay.theme', 'dark')`],
    ['marked the document', `document.documentElement.dataset.theme = 'dark'`],
    ['opened the palette', `document.querySelector('.palette-button').click()`],
  ] as const) {
    test(`that ${what}`, async () => {
      const { page } = await signedIn(browser, service, '/settings')
      before = await documentOf(page)
      await page.evaluate(change)
    })

    test(`that ${what} is followed by one in a new document`, async () => {
      const { page } = await signedIn(browser, service, '/settings')
      expect(await documentOf(page)).not.toBe(before)
    })
  }

  test.each([
    ['a text that is hard to read', `content.append(made('p', 'color: #999; background: #fff', 'pale'))`, /color-contrast/],
    [
      'a link that only its colour tells from its text',
      `const link = Object.assign(made('a', 'color: #222; text-decoration: none', 'this'), { href: '/' })
       content.append(made('p', 'color: #000; background: #fff', 'Read ', link, ', please.'))`,
      /link-in-text-block/,
    ],
    ['a control without a name', `content.append(made('input', ''))`, /label/],
  ])('finds %s', async (_, add, rule) => {
    const { page, checkAccessible } = await signedIn(browser, service, '/settings')
    await checkAccessible()
    await page.evaluate(`{
      const made = (tag, style, ...parts) => {
        const element = document.createElement(tag)
        element.style.cssText = style
        element.append(...parts)
        return element
      }
      ${add}
    }`)
    expect(await checkAccessible().then(() => 'nothing', String)).toMatch(rule)
  })
})

test('no test waits until the network is idle, as a document that goes on has been before: answers are waited for by settled()', () => {
  const word = ['network', 'idle'].join('')
  const files = readdirSync(import.meta.dir).filter((name) => name.endsWith('.ts'))
  expect(files.filter((name) => readFileSync(join(import.meta.dir, name), 'utf8').includes(word))).toEqual([])
})
