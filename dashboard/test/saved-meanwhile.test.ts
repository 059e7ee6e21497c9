/** Somebody else saves an object while a person edits it. */
import { beforeAll, describe, expect, test } from 'bun:test'

import type { Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

/** Simulates a person who comes back to the page after a while, so that it reads everything again. */
const comeBack = (page: Page): Promise<unknown> =>
  page.evaluate(`const now = Date.now
    Date.now = () => now() + 60000
    dispatchEvent(new Event('visibilitychange'))`)

describe.skipIf(BROWSER_PATH === null)('what is typed stays if somebody else saves the object meanwhile, and the page says so', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  const patch = (path: string, body: object): Promise<unknown> => manage(service, path, { method: 'PATCH', body })

  test('in the logging of a workspace', async () => {
    await patch('/workspaces/default', { is_observability_io_logging_enabled: true })
    const { page, checkAccessible, check } = await signedIn(browser, service, '/settings')
    const logging = page.getByRole('region', { name: 'Logging' })
    const [days, share] = [logging.getByLabel('Deleted after days'), logging.getByLabel('Share of the requests')]
    await days.fill('7')
    await patch('/workspaces/default', { io_logging_sampling_rate: 0.5 })
    await comeBack(page)
    await logging.getByText('was changed by somebody else after you began').waitFor()
    expect([await days.inputValue(), await share.inputValue()]).toEqual(['7', '50'])
    await checkAccessible()
    await logging.getByRole('button', { name: 'Show what is saved' }).click()
    expect([await days.inputValue(), await share.inputValue()]).toEqual(['30', '50'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await logging.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Contents of new requests are kept').waitFor()
    expect(await logging.getByText('was changed by somebody else').count()).toBe(0)
    expect(await manage(service, '/workspaces/default')).toMatchObject({
      data: { io_logging_sampling_rate: 0.5, io_logging_retention_days: 7 },
    })
    check()
  })

  test('in the rules of a guardrail, as a form and as JSON', async () => {
    const { data } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'numbers' } })
    const pattern = (text: string) => ({ content_filters: [{ pattern: text, label: null, action: 'flag', applies_to: 'both' }] })
    const { page, check } = await signedIn(browser, service, `/guardrails?guardrail=${data.id}`)
    await page.getByRole('button', { name: '+ pattern' }).click()
    await page.getByLabel('Pattern', { exact: true }).fill('MINE-1')
    await patch(`/guardrails/${data.id}`, { name: 'all numbers' })
    await comeBack(page)
    await page.getByRole('heading', { name: 'Rules of all numbers' }).waitFor()
    expect(await page.getByText('was changed by somebody else').count()).toBe(0)
    await patch(`/guardrails/${data.id}`, pattern('THEIRS'))
    await comeBack(page)
    await page.getByText('all numbers was changed by somebody else').waitFor()
    expect(await page.getByLabel('Pattern', { exact: true }).inputValue()).toBe('MINE-1')
    await page.getByRole('button', { name: 'JSON' }).click()
    await page.getByLabel('Rules as JSON').getByText('MINE-1').waitFor()
    await page.getByRole('button', { name: 'Show what is saved' }).click()
    await page.getByLabel('Rules as JSON').getByText('THEIRS').waitFor()
    await patch(`/guardrails/${data.id}`, pattern('NEWER'))
    await comeBack(page)
    await page.getByLabel('Rules as JSON').getByText('NEWER').waitFor()
    check()
  })

  test('in the name of a preset', async () => {
    await savePreset(service, 'support-bot', 'Answer briefly.')
    const { page, check } = await signedIn(browser, service, '/presets/support-bot?tab=settings')
    await page.getByLabel('Description').fill('Mine.')
    await patch('/presets/support-bot', { name: 'Support' })
    await comeBack(page)
    await page.getByText('support-bot was changed by somebody else').waitFor()
    expect([await page.getByRole('textbox', { name: 'Name' }).inputValue(), await page.getByLabel('Description').inputValue()]).toEqual([
      'Support',
      'Mine.',
    ])
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved; it is in force now.').waitFor()
    expect(await manage(service, '/presets/support-bot')).toMatchObject({ data: { name: 'Support', description: 'Mine.' } })
    check()
  })
})
