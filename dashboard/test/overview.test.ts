import { describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { callAs, chat, manage } from './calls.ts'
import { open } from './going-on.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const HELLO = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] }

describe.skipIf(BROWSER_PATH === null)('the overview', () => {
  test('shows nothing to click below the failing providers before it knows which they are, so that nothing moves from under a click', async () => {
    const service = await services.start({
      config: 'providers: { far: { name: "Another provider with a long name", base_url: "http://127.0.0.1:1", dialects: [openai-chat] } }',
    })
    await chat(service, { model: 'sandbox/error/provider_overloaded' })
    const { page, check } = await signedIn(browser, service, '/settings')
    const known = Promise.withResolvers<void>()
    await page.route('**/api/v1/providers/health', async (route) => {
      await known.promise
      await route.continue()
    })
    const usage = page.waitForResponse('**/api/v1/usage?**')
    await page.goto(`${service.url}/dashboard/`)
    await (await usage).finished()
    const figures = page.locator('.figures a')
    await figures.first().waitFor({ state: 'attached' })
    expect(await figures.first().isVisible()).toBe(false)
    known.resolve()
    await figures.first().waitFor()
    // No column is beyond the edge of its table: a long name wraps.
    await page.getByRole('table', { name: 'Providers' }).getByText('Another provider with a long name').waitFor()
    const widths = page.locator('.table-frame').evaluateAll((frames) => frames.map((frame) => frame.scrollWidth - frame.clientWidth))
    expect(new Set(await widths)).toEqual(new Set([0]))
    // The sandbox fails where it is asked to, which is no alarm.
    expect(await page.locator('.trouble').allTextContents()).toEqual([
      expect.stringMatching(/^◌Sandbox *Fails where it is asked to · 100 %/),
    ])
    check()
  })

  test('lists the errors of its time range alone, and its links keep the range', async () => {
    const service = await services.start()
    await chat(service, { model: 'sandbox/error/provider_overloaded' })
    const ago = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()
    const past = new URLSearchParams({ from: ago(10), to: ago(2) })
    const { page, check } = await signedIn(browser, service, `/?${past}`)
    const errors = page.getByRole('region', { name: 'Latest errors' })
    for (const region of ['Latest errors', 'Failures by type', 'Failures by key'])
      await page.getByRole('region', { name: region }).getByText('Nothing failed in this time.').waitFor()
    for (const link of [
      errors.getByRole('link', { name: 'All' }),
      page.getByRole('table', { name: 'Providers' }).getByRole('link').first(),
    ]) {
      const { searchParams } = new URL((await link.getAttribute('href')) ?? '', service.url)
      expect([searchParams.get('from'), searchParams.get('to')]).toEqual([past.get('from'), past.get('to')])
    }
    await page.goto(`${service.url}/dashboard/?range=7d`)
    await errors.getByText('provider_overloaded').waitFor()
    expect(await errors.getByRole('link', { name: 'All' }).getAttribute('href')).toContain('range=7d')
    check()
  })

  test('names the zone of each column of its chart: the one that was chosen for hours, and UTC for days', async () => {
    const service = await services.start()
    // Two hours of this night are called one o'clock.
    const night = '/?from=2026-11-01T05:00:00Z&to=2026-11-01T08:00:00Z'
    const { page } = await signedIn(browser, service, night, { timezoneId: 'America/New_York' })
    const chart = page.getByRole('region', { name: 'Requests, errors and spend' }).getByRole('rowheader')
    await chart.first().waitFor({ state: 'attached' })
    expect(await chart.allTextContents()).toEqual(['Sun 1 Nov, 01:00 GMT-4', 'Sun 1 Nov, 01:00 GMT-5', 'Sun 1 Nov, 02:00 GMT-5'])
    await page.goto(`${service.url}/dashboard/?from=2026-10-20T03:00:00Z&to=2026-10-30T03:00:00Z`)
    await chart.first().waitFor({ state: 'attached' })
    expect(await chart.first().textContent()).toBe('20 Oct UTC')
    await page.evaluate(`localStorage.setItem('patchbay.time-zone', 'UTC')`)
    await page.goto(`${service.url}/dashboard${night}`)
    await chart.first().waitFor({ state: 'attached' })
    expect(await chart.first().textContent()).toBe('Sun 1 Nov, 05:00 UTC')
  })

  test('heads of columns begin with a capital letter, whatever the sums are grouped by, and the axis of a chart has its unit', async () => {
    const service = await services.start()
    await chat(service, { model: 'sandbox/echo' })
    const { page, check } = await signedIn(browser, service, '/?by=model')
    await page.getByRole('table', { name: 'Top spend by model' }).waitFor()
    await page.getByText('1 request', { exact: true }).waitFor()
    const head = (name: string) => page.getByRole('columnheader', { name, exact: true }).waitFor()
    await head('Model')
    await page.goto(`${service.url}/dashboard/spend?group=user&and=model`)
    await head('Person')
    await head('Model')
    check()
  })

  test('says what the month costs of its budget, marks one that is nearly or wholly used up, as of a key or of a day, and says nothing where there is none', async () => {
    const service = await services.start()
    const { page, ...visitor } = await signedIn(browser, service)
    const figures = page.locator('.figures > div')
    const ofBudget = figures.filter({ hasText: 'Spend this month, of its budget' })
    await figures.first().waitFor()
    await visitor.settled()
    expect(await ofBudget.count()).toBe(0)
    expect(await page.locator('.trouble').count()).toBe(0)
    await manage(service, '/workspaces/default/budgets/monthly', { method: 'PUT', body: { limit_usd: 500 } })
    const made = (name: string, limit: number) => manage<{ key: string }>(service, '/keys', { body: { name, limit } })
    const [trial, roomy] = [await made('trial', 0), await made('roomy', 5)]
    // A key that is not used troubles nobody.
    await made('idle', 0)
    for (const { key } of [trial, roomy]) await callAs(key)(`${service.api}/chat/completions`, { body: HELLO })
    interface Keys {
      readonly data: readonly { readonly name: string; readonly last_used_at: string | null }[]
    }
    const areUsed = async (): Promise<boolean> => {
      const { data } = await manage<Keys>(service, '/keys')
      return ['trial', 'roomy'].every((wanted) => data.some(({ name, last_used_at: at }) => name === wanted && at !== null))
    }
    await until(areUsed, 'the last uses of both keys')
    await page.reload()
    const full = page.locator('.trouble').filter({ hasText: 'A key has used up its limit' })
    await full.waitFor()
    expect(await full.getByRole('link').allTextContents()).toEqual(['trial'])
    await ofBudget.waitFor()
    expect(await ofBudget.getByRole('link').textContent()).toBe('$0 of $500.00')
    const { data: workspaces } = await manage<{ data: readonly { figures: object }[] }>(service, '/workspaces?include=figures')
    const budgets = [{ limit_usd: 5, reset_interval: 'daily', spend_usd: 5.01 }]
    // Credit that is used up refuses nothing while the configuration file does not enforce it.
    const credit = { total_credits: 1, total_usage: 2, is_enforced: false }
    const data = workspaces.map((workspace) => ({ ...workspace, figures: { ...workspace.figures, budgets, credit } }))
    await page.route(
      ({ pathname, searchParams: asked }) => pathname === '/api/v1/workspaces' && asked.get('include') === 'figures',
      (route) => route.fulfill({ json: { data, total_count: data.length } }),
    )
    await page.reload()
    const ofWorkspace = page.locator('.trouble').filter({ hasText: 'The budget of a workspace is used up' })
    await ofWorkspace.getByText('Default $5.01 of $5.00 a day').waitFor()
    expect(await ofWorkspace.getByRole('link').getAttribute('href')).toContain('workspace=default')
    expect(await ofWorkspace.textContent()).not.toContain('credit')
    await ofBudget.waitFor()
    await visitor.checkAccessible()
    await ofBudget.getByRole('link').click()
    await page.getByText('Forecast for the month').waitFor()
    await page.goBack()
    await full.getByRole('link', { name: 'trial' }).click()
    await page.getByRole('table', { name: 'Keys' }).getByRole('row').filter({ hasText: 'trial' }).getByText('Limit used up').waitFor()

    const sums = await manage<object>(service, '/usage?interval=day')
    const isMonth = ({ pathname, searchParams: asked }: URL): boolean =>
      pathname === '/api/v1/usage' && asked.get('interval') === 'day' && !asked.has('group_by')
    let cost = 0
    await page.route(isMonth, (route) => route.fulfill({ json: { ...sums, groups: [{ cost, byok_cost: 0 }] } }))
    for (const [spent, title] of [
      [485, 'Spend this month, 97.0 % of its budget'],
      [500, 'Spend this month: its budget is used up'],
    ] as const) {
      cost = spent
      await page.goto(`${service.url}/dashboard/`)
      await figures.filter({ hasText: title }).getByText(`▲ $${spent}.00 of $500.00`).waitFor()
      await visitor.checkAccessible()
    }
    visitor.check()
  })

  test('names the person whose playground spent something, where the workspace knows the name, and not a part of their id', async () => {
    const service = await services.start()
    const { page, check } = await signedIn(browser, service, '/playground?model=sandbox/echo')
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('region', { name: 'sandbox/echo' }).getByRole('link', { name: 'Request' }).waitFor()
    const { data } = await manage<{ data: readonly { name: string; purpose: string | null }[] }>(service, '/keys')
    const stored = data.find(({ purpose }) => purpose === 'playground')?.name ?? ''
    expect(stored).toMatch(/^playground \(user_[0-9a-f]{8}\)$/)
    await page.getByText('Charged to').getByRole('link', { name: 'playground (Owner)' }).waitFor()
    await open(page, '/requests')
    await page.getByRole('cell', { name: 'playground (Owner)' }).waitFor()
    expect(await page.locator('[data-row] a').first().getAttribute('title')).toContain(' · playground (Owner) · ')
    await open(page, `/requests?q=${encodeURIComponent('key:"playground (Owner)"')}`)
    await page.getByText('1 found').waitFor()
    expect(await page.getByText('no key is called so').count()).toBe(0)
    await open(page, '')
    const link = page.getByRole('table', { name: 'Top spend by key' }).getByRole('link', { name: 'playground (Owner)' })
    await link.waitFor()
    expect(await link.getAttribute('title')).toBe(stored)
    for (const [path, table] of [
      ['/keys', 'Keys'],
      ['/spend', 'Spend by key'],
    ] as const) {
      await open(page, path)
      const found = page.getByRole('table', { name: table, exact: true })
      if (table === 'Keys') await found.getByRole('img', { name: /^Spent by playground \(Owner\):/ }).waitFor()
      await found.getByRole('link', { name: 'playground (Owner)' }).click()
    }
    await page.getByRole('group', { name: 'Narrowed to' }).getByText('playground (Owner)').waitFor()
    const { data: guardrail } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'pii' } })
    await open(page, `/guardrails?guardrail=${guardrail.id}`)
    await page.getByLabel('As key').getByText('playground (Owner)').waitFor({ state: 'attached' })
    check()
  })
})
