/** Two tabs of one browser, and two people who use one tab after the other. */
import { beforeAll, describe, expect, test } from 'bun:test'

import type { Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const themeOf = (page: Page): Promise<unknown> => page.evaluate('document.documentElement.dataset.theme')

const linkFor = async (service: RunningService, user: string, role: 'admin' | 'member'): Promise<string> =>
  (await manage<{ data: { url: string } }>(service, '/login-links', { body: { user_id: user, role } })).data.url

describe.skipIf(BROWSER_PATH === null)('two tabs', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
    await savePreset(service, 'support-bot', 'Answer politely.')
    await chat(service, { model: 'sandbox/echo' })
  })

  test('each keeps its own draft of a preset over a reload and a save of the other, and then asks before it saves over that', async () => {
    const first = await signedIn(browser, service, '/presets/support-bot')
    const second = await first.page.context().newPage()
    await second.goto(first.page.url())
    const promptOf = (page: Page) => page.getByLabel('System prompt')
    await promptOf(first.page).fill('Written in the first tab.')
    await promptOf(second).fill('Written in the second tab.')
    await first.page.reload()
    await first.page.getByText('Draft from v1').waitFor()
    expect(await promptOf(first.page).inputValue()).toBe('Written in the first tab.')
    await first.page.getByRole('button', { name: 'Save draft as v2' }).click()
    await first.page.getByText('Saved support-bot as v2').waitFor()
    await second.reload()
    await second.getByText('v2 of support-bot was saved by').waitFor()
    expect(await promptOf(second).inputValue()).toBe('Written in the second tab.')
    await second.getByRole('button', { name: 'Rebase draft' }).click()
    await second.reload()
    await second.getByRole('button', { name: 'Save draft as v3' }).waitFor()
    expect(await second.getByText('v2 of support-bot was saved by').count()).toBe(0)
    first.check()
  })

  test('a theme that is chosen in one is the theme of the other', async () => {
    const first = await signedIn(browser, service, '/settings')
    const second = await first.page.context().newPage()
    await second.goto(first.page.url())
    await second.getByLabel('Theme').waitFor()
    await first.page.getByLabel('Theme').selectOption('dark')
    await until(async () => (await themeOf(second)) === 'dark', 'the theme')
    expect(await second.getByLabel('Theme').inputValue()).toBe('dark')
    first.check()
  })

  test('who signs in after somebody else, on the sign-in page or over a page that was left open, sees nothing of theirs', async () => {
    const { page, expectStatus, check, settled } = await signedIn(browser, service, '/requests')
    expectStatus(401)
    const row = page.locator('[data-row]')
    await row.waitFor()
    await settled()
    // From now on nothing that is asked is answered, so a page can only show what it has.
    const hold = () => page.route('**/api/v1/generations*', () => undefined)
    const signInAs = async (user: string): Promise<void> => {
      await page.getByLabel('Management key or sign-in link').fill(await linkFor(service, user, 'member'))
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: user }).waitFor()
    }
    await page.evaluate(`localStorage.setItem('patchbay.csrf', 'of-a-session-that-has-ended')`)
    await page.getByRole('button', { name: 'Live' }).click()
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    await hold()
    await signInAs('ada')
    await page.getByRole('status', { name: 'Loading' }).first().waitFor()
    expect(await row.count()).toBe(0)
    await page.unrouteAll()

    await page.goto(`${service.url}/dashboard/requests`)
    await page.getByText('No requests in this time.').waitFor()
    await settled()
    await page.getByRole('button', { name: 'ada' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Patchbay' }).waitFor()
    await hold()
    await signInAs('grace')
    await page.getByRole('status', { name: 'Loading' }).first().waitFor()
    expect(await page.getByText('No requests in this time.').count()).toBe(0)
    check()
  })
})
