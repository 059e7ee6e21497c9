import { beforeAll, describe, expect, test } from 'bun:test'

import { type RunningService, useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('settings', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start({
      config: 'timeouts: { first_token: 33 }',
      env: { PATCHBAY_LOG_LEVEL: 'warn' },
      flags: ['--drain-seconds', '3'],
    })
  })

  test('tell where each value comes from, offer no switch for what the file, a variable or a flag sets, and show nothing below what is still loading', async () => {
    const { page, check } = await signedIn(browser, service, '/settings')
    const table = page.getByRole('table', { name: 'Effective configuration' })
    await table.getByRole('row').nth(5).waitFor()
    const known = Promise.withResolvers<void>()
    await page.route('**/api/v1/workspaces/*', async (route) => {
      await known.promise
      await route.continue()
    })
    await page.reload()
    await page.getByRole('region', { name: 'Logging' }).waitFor()
    const hidden = page.locator('table[aria-label="Effective configuration"] tr').nth(5)
    await hidden.waitFor({ state: 'attached' })
    expect(await hidden.isVisible()).toBe(false)
    known.resolve()
    await table.getByRole('row').nth(5).waitFor()
    const sources = async (setting: string): Promise<string> =>
      (
        await table
          .getByRole('row')
          .filter({ has: page.getByRole('rowheader', { name: setting, exact: true }) })
          .innerText()
      ).replaceAll(/\s+/g, ' ')
    expect(await sources('--drain-seconds')).toBe('--drain-seconds 3 flag: --drain-seconds')
    expect(await sources('--log-level')).toBe('--log-level warn variable: PATCHBAY_LOG_LEVEL')
    expect(await sources('timeouts.first_token')).toContain(`33 file: ${service.configPath}:`)
    expect(await sources('timeouts.idle')).toEndWith('default')
    const { data } = await manage<{ data: { settings: readonly unknown[] } }>(service, '/service')
    expect(await table.getByRole('rowheader').count()).toBe(data.settings.length)
    expect(await page.getByRole('region', { name: 'Service' }).locator('input, select, textarea, button').count()).toBe(0)
    check()
  })

  test('keep contents of some keys for some days, where a workspace wants them, and of nobody before', async () => {
    const made = await manage<{ key: string; data: { hash: string } }>(service, '/keys', { body: { name: 'ada laptop' } })
    const before = await chat(service, { model: 'sandbox/echo' })
    const { page, ...visitor } = await signedIn(browser, service, '/settings')
    const logging = page.getByRole('region', { name: 'Logging' })
    const on = logging.getByLabel(/Keep requests and answers/)
    expect(await on.isChecked()).toBe(false)
    await on.check()
    await logging.getByLabel('Deleted after days').fill('1,5')
    await logging.getByRole('button', { name: 'Save' }).click()
    await logging.getByText('Write a whole number of days from 1 to 3650.').waitFor()
    await logging.getByLabel('Deleted after days').fill('7')
    await logging.getByLabel(/Every key/).uncheck()
    await logging.getByLabel(/ada laptop/).check()
    await visitor.checkAccessible()
    await logging.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Contents of new requests are kept').waitFor()
    const { data } = await manage<{ data: object }>(service, '/workspaces/default')
    expect(data).toMatchObject({
      is_observability_io_logging_enabled: true,
      io_logging_sampling_rate: 1,
      io_logging_retention_days: 7,
      io_logging_api_key_ids: [made.data.hash],
    })
    const others = await chat(service, { model: 'sandbox/echo' })
    const kept = await chat({ ...service, inferenceKey: made.key }, { model: 'sandbox/echo' })
    visitor.expectStatus(404)
    for (const { id } of [before, others]) {
      await page.goto(`${service.url}/dashboard/requests/${id}?tab=request`)
      await page.getByRole('button', { name: 'Show the contents' }).click()
      await page.getByText('The contents of this request were not kept.').waitFor()
    }
    await page.goto(`${service.url}/dashboard/requests/${kept.id}?tab=request`)
    await page.getByRole('button', { name: 'Show the contents' }).click()
    await page.getByText('Where is my parcel?').first().waitFor()
    const audit = await manage<{ data: readonly { object_id: string }[] }>(service, '/audit-log?object_type=generation_content')
    expect(audit.data.filter(({ object_id: id }) => id === kept.id)).toHaveLength(1)
    visitor.check()
  })
})
