/** If the service refuses something, the person reads why, and is offered only actions that can help. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('what is not done', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test('is said where a press changes something without a dialog, and the page stays as it was', async () => {
    const { data } = await manage<{ data: { hash: string } }>(service, '/keys', { body: { name: 'leaked' } })
    const { page, ...visitor } = await signedIn(browser, service, `/keys?key=${data.hash}`)
    visitor.expectStatus(503)
    await page.route(
      (url) => url.pathname === `/api/v1/keys/${data.hash}`,
      (route) =>
        route.request().method() === 'PATCH'
          ? route.fulfill({
              status: 503,
              headers: { 'x-request-id': 'req-1' },
              json: { error: { code: 503, message: 'The database does not answer.' } },
            })
          : route.continue(),
    )
    await page.getByRole('button', { name: 'Actions for leaked' }).click()
    await page.getByRole('menuitem', { name: 'Disable' }).click()
    await page.getByText('It was not done: The database does not answer.').waitFor()
    await visitor.checkAccessible()
  })

  test('is offered again where it may go well the next time, and not where it is refused for good', async () => {
    const { page, ...visitor } = await signedIn(browser, service)
    visitor.expectStatus(403, 500)
    const note = page.locator('#content').getByRole('alert')
    for (const [status, offers] of [
      [500, 1],
      [403, 0],
    ] as const) {
      await page.route(
        (url) => url.pathname === '/api/v1/guardrails',
        (route) => route.fulfill({ status, json: { error: { code: status, message: `It is ${status}.` } } }),
      )
      await page.goto(`${service.url}/dashboard/guardrails`)
      await note.filter({ hasText: `It is ${status}.` }).waitFor()
      expect(await note.getByRole('button', { name: 'Try again' }).count()).toBe(offers)
      await page.unrouteAll()
    }
    visitor.check()
  })

  test('a search that fails does not say that nothing was found', async () => {
    const { page, ...visitor } = await signedIn(browser, service)
    visitor.expectStatus(500)
    await page.route(
      (url) => url.pathname === '/api/v1/search',
      (route) => route.fulfill({ status: 500, json: { error: { code: 500, message: 'It broke.' } } }),
    )
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('A screen, a name, an id').fill('req-of-last-night')
    await page.getByText('Nothing could be searched: It broke.').waitFor()
    visitor.check()
  })

  test('an address of what is not there says so: a key by its name, a guardrail that was deleted', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/keys?key=checkout')
    await page.getByText('No key has this address: a key is named by the 64 digits of its hash.').waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    visitor.check()
    visitor.expectStatus(404)
    await page.goto(`${service.url}/dashboard/guardrails?guardrail=5b0f4c1e-3f5b-4f3b-9c53-6f4f1f1f1f1f`)
    await page.getByText('There is nothing to show: it was deleted').waitFor()
    visitor.check()
  })
})
