/** Two people edit one object, and the page of the second has not noticed the save of the first. */
import { beforeAll, describe, expect, test } from 'bun:test'

import type { Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage, savePreset } from './calls.ts'
import { open } from './going-on.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

/** The bodies of the changes that the page sends. */
const changesOf = (page: Page): unknown[] => {
  const bodies: unknown[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH' || request.method() === 'PUT') bodies.push(request.postDataJSON())
  })
  return bodies
}

describe.skipIf(BROWSER_PATH === null)('a save changes only what was touched, and shows first what somebody else saved there', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  const patch = (path: string, body: object): Promise<unknown> => manage(service, path, { method: 'PATCH', body })

  test('in the logging of a workspace', async () => {
    await patch('/workspaces/default', { is_observability_io_logging_enabled: true })
    const { page, check } = await signedIn(browser, service, '/settings')
    const changes = changesOf(page)
    const logging = page.getByRole('region', { name: 'Logging' })
    await logging.getByLabel('Deleted after days').fill('7')
    await patch('/workspaces/default', { io_logging_sampling_rate: 0.5 })
    const save = logging.getByRole('button', { name: 'Save', exact: true })
    await save.click()
    await page.getByText('Contents of new requests are kept').waitFor()
    expect(changes).toEqual([{ io_logging_retention_days: 7 }])
    expect(await manage(service, '/workspaces/default')).toMatchObject({
      data: { io_logging_sampling_rate: 0.5, io_logging_retention_days: 7 },
    })

    await logging.getByLabel('Deleted after days').fill('14')
    await patch('/workspaces/default', { io_logging_retention_days: 90 })
    await save.click()
    await logging.getByText('What you wrote is kept; Save puts it in the place of theirs').waitFor()
    expect(await manage(service, '/workspaces/default')).toMatchObject({ data: { io_logging_retention_days: 90 } })
    const written = page.waitForResponse((response) => response.request().method() === 'PATCH')
    await save.click()
    await written
    await logging.getByText('Not saved yet').waitFor({ state: 'detached' })
    await logging.getByText('Save puts it in the place of theirs').waitFor({ state: 'detached' })
    expect(changes.slice(1)).toEqual([{ io_logging_retention_days: 14 }])
    check()
  })

  test('in the logging of a workspace that somebody else has switched off meanwhile: the page says what is in force then', async () => {
    await patch('/workspaces/default', { is_observability_io_logging_enabled: true })
    const { page, check } = await signedIn(browser, service, '/settings')
    const logging = page.getByRole('region', { name: 'Logging' })
    await logging.getByLabel('Deleted after days').fill('21')
    await patch('/workspaces/default', { is_observability_io_logging_enabled: false })
    await logging.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Contents are not kept any more: in force now.').waitFor()
    expect(await manage(service, '/workspaces/default')).toMatchObject({
      data: { is_observability_io_logging_enabled: false, io_logging_retention_days: 21 },
    })
    check()
  })

  test('in the name of a preset', async () => {
    await savePreset(service, 'support-bot', 'Answer briefly.')
    const { page, check } = await signedIn(browser, service, '/presets/support-bot?tab=settings')
    const changes = changesOf(page)
    await page.getByLabel('Description').fill('Mine.')
    await patch('/presets/support-bot', { name: 'Theirs', description: 'Theirs.' })
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await save.click()
    await page.getByText('Save puts it in the place of theirs').waitFor()
    expect(changes).toEqual([])
    await save.click()
    await page.getByText('Saved; it is in force now.').waitFor()
    expect(changes).toEqual([{ description: 'Mine.' }])
    expect(await manage(service, '/presets/support-bot')).toMatchObject({ data: { name: 'Theirs', description: 'Mine.' } })
    check()
  })

  test('in the rules of a guardrail, list by list', async () => {
    const { data } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'numbers' } })
    const patterns = (pattern: string) => ({ content_filters: [{ pattern, label: null, action: 'block', applies_to: 'both' }] })
    const emails = { content_filter_builtins: [{ slug: 'email', action: 'flag', applies_to: 'input' }] }
    const { page, check } = await signedIn(browser, service, `/guardrails?guardrail=${data.id}`)
    const changes = changesOf(page)
    await page.getByRole('button', { name: '+ pattern' }).click()
    await page.getByLabel('Pattern', { exact: true }).fill('MINE')
    await patch(`/guardrails/${data.id}`, emails)
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await save.click()
    await page.getByText('numbers is saved: in force now.').waitFor()
    expect(changes).toEqual([patterns('MINE')])
    expect(await manage(service, `/guardrails/${data.id}`)).toMatchObject({ data: { ...patterns('MINE'), ...emails } })

    await page.getByLabel('Pattern', { exact: true }).fill('MINE-2')
    await patch(`/guardrails/${data.id}`, patterns('THEIRS'))
    await save.click()
    await page.getByText('Save puts it in the place of theirs').waitFor()
    expect(await manage(service, `/guardrails/${data.id}`)).toMatchObject({ data: patterns('THEIRS') })
    check()
  })

  test('in the limit of a key', async () => {
    const { data } = await manage<{ data: { hash: string } }>(service, '/keys', {
      body: { name: 'checkout', limit: 20, limit_reset: 'monthly' },
    })
    const { page, checkAccessible, check } = await signedIn(browser, service, `/keys?key=${data.hash}`)
    const changes = changesOf(page)
    await page.getByRole('button', { name: 'Change limit' }).click()
    const dialog = page.getByRole('dialog', { name: 'Limit of checkout' })
    await dialog.getByLabel('Limit in dollars').fill('30')
    await patch(`/keys/${data.hash}`, { limit: 50 })
    const save = dialog.getByRole('button', { name: 'Save limit' })
    await save.click()
    await dialog.getByText('Not saved yet: it was changed meanwhile.').waitFor()
    await dialog.getByText('It is $50.00, reset every month now.').waitFor()
    await checkAccessible()
    expect([await dialog.getByLabel('Limit in dollars').inputValue(), changes]).toEqual(['30', []])
    await patch(`/keys/${data.hash}`, { limit_reset: 'weekly' })
    await save.click()
    await page.getByText('checkout may spend $30.00: in force now.').waitFor()
    expect(await manage(service, `/keys/${data.hash}`)).toMatchObject({ data: { limit: 30, limit_reset: 'weekly' } })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('$50.00').first().waitFor()
    expect(changes).toEqual([{ limit: 30 }, { limit: 50 }])
    check()
  })

  test('in when the limit of a key resets: the page names the limit that somebody else has set meanwhile', async () => {
    const { page, check } = await signedIn(browser, service, '/keys')
    const changes = changesOf(page)
    const saveAfter = async (name: string, limit: number | null, pickReset: boolean): Promise<void> => {
      const { data } = await manage<{ data: { hash: string } }>(service, '/keys', { body: { name, limit } })
      await open(page, `/keys?key=${data.hash}`)
      await page.getByRole('heading', { name, exact: true }).waitFor()
      await page.getByRole('button', { name: 'Change limit' }).click()
      const dialog = page.getByRole('dialog', { name: `Limit of ${name}` })
      if (pickReset) await dialog.getByLabel('Resets').selectOption('weekly')
      await patch(`/keys/${data.hash}`, { limit: 5 })
      await dialog.getByRole('button', { name: 'Save limit' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await saveAfter('lowered', 20, true)
    await page.getByText('lowered may spend $5.00: in force now.').waitFor()
    await saveAfter('limited', null, true)
    await page.getByText('limited may spend $5.00: in force now.').waitFor()
    expect(changes).toEqual([{ limit_reset: 'weekly' }, { limit_reset: 'weekly' }])
    await saveAfter('untouched', null, false)
    expect([changes.length, await page.getByText('untouched has no limit').count()]).toEqual([2, 0])
    check()
  })

  test('in the budgets of a workspace, where the dialog begins with what is saved, and what is typed goes with the interval', async () => {
    const put = (interval: string, limit: number): Promise<unknown> =>
      manage(service, `/workspaces/default/budgets/${interval}`, { method: 'PUT', body: { limit_usd: limit } })
    await put('monthly', 100)
    const { page, checkAccessible, check } = await signedIn(browser, service, '/workspaces')
    const changes = changesOf(page)
    await page.getByRole('button', { name: 'Set budget' }).click()
    const dialog = page.getByRole('dialog', { name: 'Budget of the workspace' })
    const limit = dialog.getByLabel('Limit in dollars')
    expect(await limit.inputValue()).toBe('100')
    await limit.fill('5')
    await dialog.getByLabel('For').selectOption('daily')
    expect(await limit.inputValue()).toBe('5')
    await put('daily', 2)
    await dialog.getByRole('button', { name: 'Set budget' }).click()
    await dialog.getByText('It is $2.00 a day now.').waitFor()
    await checkAccessible()
    expect([await limit.inputValue(), changes]).toEqual(['5', []])
    await dialog.getByRole('button', { name: 'Set budget' }).click()
    await page.getByText('The workspace may spend $5.00 a day: in force now.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('cell', { name: '$2.00 a day' }).waitFor()
    expect(changes).toEqual([{ limit_usd: 5 }, { limit_usd: 2 }])
    check()
  })

  test('in a budget that nobody touched in the dialog: theirs is shown, and stays', async () => {
    const put = (limit: number): Promise<unknown> =>
      manage(service, '/workspaces/default/budgets/monthly', { method: 'PUT', body: { limit_usd: limit } })
    await put(100)
    const { page, check } = await signedIn(browser, service, '/workspaces')
    const changes = changesOf(page)
    await page.getByRole('button', { name: 'Set budget' }).click()
    const dialog = page.getByRole('dialog', { name: 'Budget of the workspace' })
    const limit = dialog.getByLabel('Limit in dollars')
    expect(await limit.inputValue()).toBe('100')
    await put(20)
    await dialog.getByRole('button', { name: 'Set budget' }).click()
    await dialog.getByText('Not saved yet: it was changed meanwhile.').waitFor()
    expect(await limit.inputValue()).toBe('20')
    await dialog.getByRole('button', { name: 'Set budget' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect([changes, await page.getByText('in force now').count()]).toEqual([[], 0])
    check()
  })

  test('in what is live: a roll back is compared again with a version that went live meanwhile', async () => {
    for (const system of ['one', 'two', 'three']) await savePreset(service, 'moved-bot', system)
    await patch('/presets/moved-bot', { designated_version: 2 })
    const { page, expectStatus, check } = await signedIn(browser, service, '/presets/moved-bot?tab=history')
    const changes = changesOf(page)
    await page.getByRole('button', { name: 'Roll back to v1' }).click()
    const dialog = page.getByRole('dialog', { name: 'Roll back moved-bot to v1' })
    await dialog.getByText('v2 (live)').waitFor()
    await patch('/presets/moved-bot', { designated_version: 3 })
    await dialog.getByRole('button', { name: 'Roll back to v1' }).click()
    await dialog.getByText('Nothing was moved: v3 was put live meanwhile').waitFor()
    await dialog.getByText('v3 (live)').waitFor()
    expect(changes).toEqual([])
    await dialog.getByRole('button', { name: 'Roll back to v1' }).click()
    await page.getByText('v1 of moved-bot is live now').waitFor()

    // A service that is too busy to be read can still be told to move.
    expectStatus(503)
    await page.route(
      (url) => url.pathname.endsWith('/presets/moved-bot'),
      (route) =>
        route.request().method() === 'GET' && changes.length === 1
          ? route.fulfill({ status: 503, headers: { 'x-request-id': 'busy' }, json: { error: { message: 'The service is busy.' } } })
          : route.continue(),
    )
    await page.getByRole('button', { name: 'Put v3 live' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Put v3 live' }).click()
    await page.getByText('v3 of moved-bot is live now').waitFor()
    check()
  })
})
