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

  test('the head of Presets is one line', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/presets')
    await page.getByRole('searchbox', { name: 'Filter presets' }).waitFor()
    const title = await page.getByRole('heading', { name: 'Presets', level: 1 }).boundingBox()
    const filter = await page.getByRole('searchbox', { name: 'Filter presets' }).boundingBox()
    const button = await page.getByRole('button', { name: 'New preset' }).first().boundingBox()
    const middle = (box: typeof title): number => (box?.y ?? 0) + (box?.height ?? 0) / 2
    expect(Math.abs(middle(title) - middle(filter))).toBeLessThan(4)
    expect(Math.abs(middle(title) - middle(button))).toBeLessThan(4)
    await visitor.checkAccessible()
  })
})
