import { describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { open } from './going-on.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('the audit log', () => {
  test('tells who did what, before and after, is filtered by object, person and time, and leads to each object', async () => {
    const service = await services.start()
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    await savePreset(service, 'support-bot', 'Answer politely.')
    await manage(service, '/presets/support-bot', { method: 'PATCH', body: { description: 'For parcels' } })
    await manage(service, '/guardrails', { body: { name: 'careful' } })
    const { data: key } = await manage<{ data: { hash: string } }>(service, '/keys', { body: { name: 'ada laptop', limit: 20 } })
    await manage(service, `/keys/${key.hash}`, { method: 'PATCH', body: { limit: 50 } })
    const { data: guardrails } = await manage<{ data: readonly { id: string }[] }>(service, '/guardrails')
    await manage(service, `/guardrails/${guardrails[0]?.id}/assignments/keys`, { body: { key_hashes: [key.hash] } })
    await manage(service, '/workspaces/default/budgets/monthly', { method: 'PUT', body: { limit_usd: 100 } })
    const { id } = await chat(service, { model: 'sandbox/echo' })
    await manage(service, `/generation/content?id=${id}`)
    const { data: me } = await manage<{ data: readonly { user_id: string }[] }>(service, '/workspaces/default/members')
    const { page, ...visitor } = await signedIn(browser, service, '/audit')
    const entries = page.getByRole('listitem').filter({ has: page.locator('.audit-what') })

    const changed = entries.filter({ hasText: 'ada laptop' }).filter({ hasText: 'updated' })
    await changed.getByText('Owner (key').waitFor()
    // The kind of the object and the way of signing in are shown whole, even if the person's name is cut.
    expect(await changed.locator('.audit-what').innerText()).toBe('updated api key ada laptop')
    const by = await changed.locator('.audit-who').boundingBox()
    const how = await changed.locator('.audit-who').getByText('(key').last().boundingBox()
    expect((how?.x ?? 0) + (how?.width ?? 0)).toBeLessThanOrEqual((by?.x ?? 0) + (by?.width ?? 0) + 1)
    await changed.locator('summary').click()
    expect(await changed.getByRole('row').filter({ hasText: 'limit' }).first().innerText()).toMatch(/limit\s+20\s+50/)
    await visitor.checkAccessible()
    const assigned = entries.filter({ hasText: 'keys assigned guardrail careful' })
    await assigned.locator('summary').click()
    await assigned.getByText(guardrails[0]?.id ?? '').waitFor()
    await entries.filter({ hasText: 'created workspace budget Default, monthly' }).waitFor()

    for (const [object, name, heading] of [
      ['api key', 'ada laptop', 'Keys'],
      ['preset', 'support-bot', 'support-bot'],
      ['guardrail', 'careful', 'Guardrails'],
      ['generation content', id.slice(0, 12), id],
      ['workspace', 'default', 'Workspaces'],
    ] as const) {
      await open(page, '/audit')
      await page.getByLabel('Object').selectOption({ label: object })
      const link = entries.getByRole('link', { name }).first()
      await link.waitFor()
      await visitor.settled()
      const kinds = await manage<{ data: readonly unknown[] }>(service, `/audit-log?object_type=${object.replace(' ', '_')}&limit=100`)
      expect({ object, shown: await entries.count() }).toEqual({ object, shown: kinds.data.length })
      await link.click()
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    }

    await open(page, '/audit?person=nobody')
    await page.getByText('No change in this time fits the filter.').waitFor()
    await page.getByRole('button', { name: 'Clear the filter' }).waitFor()
    await page.getByLabel('Person').fill(me[0]?.user_id ?? '')
    await entries.first().waitFor()
    await open(page, '/audit?from=2026-01-01T00:00:00.000Z&to=2026-01-02T00:00:00.000Z')
    await page.getByText('Nobody changed anything in this time.').waitFor()
    await page.goto(`${service.url}/dashboard/audit?from=yesterday&to=today`)
    await entries.first().waitFor()
    await page.getByRole('status').getByText('The time in the address is not valid.').waitFor()
    expect(await page.getByLabel('Time range').inputValue()).toBe('30d')
    visitor.check()
  })
})
