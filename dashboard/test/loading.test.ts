/** How much is loaded before a person sees something, and the states of every list. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, savePreset } from './calls.ts'
import { open } from './going-on.ts'
import { signedIn } from './signed-in.ts'
import { stateOf } from './state-picture.ts'

const services = useHostedServices()
const browser = useBrowser()

/**
 * Each list, the operation that it shows, an element that exists once it is loaded, and the number of parts of the screen that wait for it.
 */
const LISTS = [
  ['/requests', 'generations', '[data-row]', 2],
  ['/presets', 'presets', 'text=support-bot', 1],
  // The order of two rows with the same time is not defined.
  ['/keys?q=inference', 'keys', 'text=First inference key', 1],
  ['/spend', 'usage', 'text=First inference key', 1],
  ['/models', 'providers', 'text=Sandbox', 1],
  ['/audit?object=preset', 'audit-log', 'role=link[name=support-bot]', 1],
  ['/workspaces', 'workspaces', 'text=default', 1],
  ['/guardrails', 'guardrails', 'text=Nothing is filtered', 1],
] as const

describe.skipIf(BROWSER_PATH === null)('while it is loaded', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
    await savePreset(service, 'support-bot', 'Answer politely.')
    await chat(service, { model: '@preset/support-bot' })
  })

  test('a page asks for at most six things before its first rows, with nothing in the browser’s cache', async () => {
    const { page } = await signedIn(browser, service, '', { alone: true })
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    await page.goto(`${service.url}/dashboard/requests`)
    await page.locator('[data-row]').first().waitFor()
    const asked = await page.evaluate<string[]>(`(() => {
      const all = performance.getEntriesByType('resource')
      const { responseEnd } = all.find(({ name }) => name.includes('/api/v1/generations'))
      return [location.href, ...all.flatMap(({ name, startTime }) => (startTime < responseEnd ? [name] : []))]
    })()`)
    expect(asked.some((url) => url.includes('/api/v1/generations'))).toBe(true)
    expect({ asked, isFew: asked.length <= 6 }).toEqual({ asked, isFew: true })
  })

  test.each(LISTS)(
    '%s has rows of its height while it waits, says what failed in its place, keeps what it knows, and never jumps',
    async (path, operation, loaded, waiting) => {
      const { page, ...visitor } = await signedIn(browser, service, '/settings')
      visitor.expectStatus(500)
      let answers: 'held' | 'failed' | 'true' = 'held'
      let release = Promise.withResolvers<void>()
      await page.route(
        (url) => url.pathname === `/api/v1/${operation}`,
        async (route) => {
          if (answers === 'held') await release.promise
          if (answers === 'failed') await route.fulfill({ status: 500, json: { error: { code: 500, message: 'It broke.' } } })
          else await route.continue()
        },
      )
      await page.goto(`${service.url}/dashboard${path}`)
      const content = page.locator('#content')
      const loading = content.getByRole('status', { name: 'Loading' })
      await until(async () => (await loading.count()) === waiting, 'the rest of the screen')
      await visitor.checkAccessible()
      expect(await stateOf(page)).toMatchSnapshot('loading')
      answers = 'failed'
      release.resolve()
      const failure = content.getByRole('alert').filter({ hasText: 'It broke.' }).first()
      await failure.waitFor()
      await loading.first().waitFor({ state: 'detached' })
      await visitor.checkAccessible()
      expect(await stateOf(page)).toMatchSnapshot('failed')

      answers = 'held'
      release = Promise.withResolvers<void>()
      await page.reload()
      await loading.first().waitFor()
      // The other lists of the screen must have their rows before this one is checked.
      await until(async () => (await loading.count()) === waiting, 'the rest of the screen')
      await countShifts(page)
      answers = 'true'
      release.resolve()
      await content.locator(loaded).first().waitFor()
      await visitor.settled()
      expect(Number(await page.evaluate('shift'))).toBeCloseTo(0, 2)

      answers = 'failed'
      await readAgain(page)
      await content.getByText('This is what was last known.').first().waitFor()
      expect(await content.locator(loaded).first().isVisible()).toBe(true)
      expect(await stateOf(page)).toMatchSnapshot('stale')
      answers = 'true'
      await content.getByRole('button', { name: 'Try again' }).first().click()
      await content.getByText('This is what was last known.').first().waitFor({ state: 'detached' })
      visitor.check()
    },
  )
})

/** Each list without rows, and the text that it then shows. */
const EMPTY = [
  ['/requests', 'No requests in this time.'],
  ['/requests?q=status:error', 'No request in this time fits the filter.'],
  ['/presets', 'No presets yet.'],
  ['/presets?state=archived', 'No preset fits the filter.'],
  ['/keys?q=nobody', 'No active key has this name, ending or person.'],
  ['/guardrails', 'Nothing is filtered'],
  ['/models?tab=models&q=nothing-like-it', 'No model has this name.'],
  ['/audit?person=nobody', 'No change in this time fits the filter.'],
  ['/keys?status=disabled', 'No disabled key is here.'],
  ['/spend', 'Nothing was spent in this time.'],
] as const

test.skipIf(BROWSER_PATH === null)('each list without rows says so in a sentence', async () => {
  const service = await services.start()
  const { page, checkAccessible } = await signedIn(browser, service)
  for (const [path, words] of EMPTY) {
    await open(page, path)
    await page.locator('#content .empty').filter({ hasText: words }).first().waitFor()
    await page.locator('#content .skeleton').first().waitFor({ state: 'detached' })
    await checkAccessible()
    expect(await stateOf(page)).toMatchSnapshot(path)
  }
})

/**
 * Measures layout shift from now on: the moved part of the screen times the distance; up to 0.01 counts as 0. The page's own font may shift
 * text before the first list is loaded.
 */
const countShifts = (page: Page): Promise<unknown> =>
  page.evaluate(`document.fonts.ready.then(() => new Promise(requestAnimationFrame)).then(() => {
    globalThis.shift = 0
    const from = performance.now()
    new PerformanceObserver((list) => {
      for (const { hadRecentInput, startTime, value } of list.getEntries()) if (!hadRecentInput && startTime >= from) shift += value
    }).observe({ type: 'layout-shift' })
  })`)

/** Simulates a person who comes back to the page after a while. */
const readAgain = async (page: Page): Promise<void> => {
  await page.evaluate(`const now = Date.now
    Date.now = () => now() + 60000
    dispatchEvent(new Event('visibilitychange'))`)
}
