/** A tab that was open while another version was installed, and requests a script that no longer exists. */
import { beforeAll, describe, expect, test } from 'bun:test'

import type { Locator, Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { savePreset } from './calls.ts'
import { lateScriptWith } from './late-script.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

interface Part {
  /** Words that only its script contains. */
  readonly words: string
  open(page: Page): Promise<void>
  /** An element that it shows. */
  shown(page: Page): Locator
}

const SCREEN: Part = {
  words: 'Nobody changed anything in this time.',
  open: (page) => page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Audit' }).click(),
  shown: (page) => page.getByRole('link', { name: 'support-bot' }).first(),
}

const PALETTE: Part = {
  words: 'Nothing has that name or id.',
  open: (page) => page.keyboard.press('Control+k'),
  shown: (page) => page.getByPlaceholder('A screen, a name'),
}

describe.skipIf(BROWSER_PATH === null)('a tab of an earlier version', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
    await savePreset(service, 'support-bot', 'Answer politely.')
  })

  test.each([
    ['reloads itself once, and shows the screen that was asked for', SCREEN, true],
    ['says so where the script of a screen is gone for good, and does not reload itself again', SCREEN, false],
    ['reloads itself once for the palette, which opens from then on', PALETTE, true],
    ['says so where the script of the palette is gone for good, and keeps its screen', PALETTE, false],
  ])('%s', async (_, part, comesBack) => {
    const script = lateScriptWith(part.words)
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
    await part.open(page)
    await until(() => documents === 1, 'the reload')
    if (part === PALETTE) {
      await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
      await part.open(page)
    }
    if (comesBack) await part.shown(page).waitFor()
    else await page.getByRole('alert').first().waitFor()
    expect(page.url()).toContain(part === SCREEN ? '/audit' : '/settings')
    expect(documents).toBe(1)
  })
})
