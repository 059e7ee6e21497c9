/** On a screen of 1280 pixels nothing that a person needs lies beyond a border. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { type StartedService, useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('on a screen of 1280 pixels', () => {
  let service: StartedService
  beforeAll(async () => {
    service = await services.start()
  })

  test('the rows of Keys show the whole bar of their limit also beside an open key', async () => {
    const { data: key } = await manage<{ data: { hash: string } }>(service, '/keys', {
      body: { name: 'support assistant of the shop in production, Europe', limit: 12_500, limit_reset: 'monthly' },
    })
    const { page, ...visitor } = await signedIn(browser, service, `/keys?key=${key.hash}`)
    await page.getByRole('heading', { name: 'What bounds it' }).waitFor()
    const frame = page.locator('.table-frame')
    const bar = await frame.getByRole('img', { name: 'Spent by support assistant of the shop in production, Europe' }).boundingBox()
    const border = await frame.boundingBox()
    expect((bar?.x ?? 0) + (bar?.width ?? 0)).toBeLessThanOrEqual((border?.x ?? 0) + (border?.width ?? 0))
    await visitor.checkAccessible()
  })
})
