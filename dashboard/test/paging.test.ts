/** Lists longer than a page, and lists whose matching rows are far apart. */
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage, savePreset } from './calls.ts'
import { open } from './going-on.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const ROWS = 230
const FAR = 41_000

/** Makes copies of the existing preset, key and audit log entry. */
const filled = async (): Promise<RunningService> => {
  const first = await services.start()
  await savePreset(first, 'needle', 'Answer politely.')
  await manage(first, '/keys', { body: { name: 'needle' } })
  await first.stop()
  const database = new Database(join(first.dataDir, 'patchbay.db'))
  const time = `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+' || i || ' seconds', '-1 day')`
  const copy = (table: string, where: string, columns: Readonly<Record<string, string>>): void => {
    const names = (database.query(`select name from pragma_table_info('${table}')`).all() as { name: string }[]).map(({ name }) => name)
    const values = names.map((name) => columns[name] ?? `t."${name}"`).join(', ')
    database.run(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${FAR})
      insert into ${table} (${names.map((name) => `"${name}"`).join(', ')}) select ${values} from n, (select * from ${table} where ${where} limit 1) t`)
  }
  database.run(`update presets set updated_at = '2020-01-01T00:00:00.000Z' where slug = 'needle'`)
  database.run(`update api_keys set created_at = '2020-01-01T00:00:00.000Z' where name = 'needle'`)
  const hash = `printf('%064x', i)`
  copy('presets', `slug = 'needle'`, { id: `'preset-' || i`, slug: `'other-' || i`, name: `'other-' || i`, updated_at: time })
  copy('api_keys', `name = 'needle'`, { hash, digest: hash, name: `'other-' || i`, created_at: time })
  copy('audit_log', `object_type = 'preset'`, { id: `'entry-' || i`, object_type: `'budget'`, created_at: time })
  database.close()
  return { ...(await services.start({ dataDir: first.dataDir })), managementKey: first.managementKey }
}

describe.skipIf(BROWSER_PATH === null)('lists of many', () => {
  test('each shows a page and the way to more, and finds what lies behind many pages by itself', async () => {
    const service = await filled()
    const { page, ...visitor } = await signedIn(browser, service, '/presets')
    for (const [path, table] of [
      ['/presets', 'Presets'],
      ['/keys', 'Keys'],
    ] as const) {
      await open(page, path)
      const rows = page.getByRole('table', { name: table }).locator('tbody tr')
      await rows.first().waitFor()
      expect(await rows.count()).toBe(100)
      await page.getByRole('button', { name: 'Show more' }).click()
      await until(async () => (await rows.count()) === 200, `the second page of ${path}`)
      await open(page, `${path}?q=needle`)
      await page.getByRole('table', { name: table }).getByText('needle', { exact: true }).first().waitFor()
      await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' })
      expect(await rows.count()).toBe(1)
      await open(page, `${path}?q=nothing-like-it`)
      await page.locator('.empty').waitFor()
    }
    await open(page, '/audit')
    await page.locator('.audit li').nth(99).waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.locator('.audit li').nth(199).waitFor()
    await open(page, '/audit?object=preset')
    await page.getByRole('link', { name: 'needle' }).first().waitFor()
    // The filter of Requests finds a key by its name, too.
    await open(page, '/requests?q=key:needle')
    await page.getByText('No request in this time fits the filter.').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    // Where one key is chosen, each can be found.
    const { data: guardrail } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'pii' } })
    await open(page, `/guardrails?guardrail=${guardrail.id}`)
    const keys = page.getByLabel('As key')
    await page.getByLabel('Find a key').fill('needle')
    await keys.selectOption({ label: await keys.getByText('needle').innerText() })
    await page.getByLabel('Find a key').fill('other-40')
    await keys.getByText('other-40').first().waitFor({ state: 'attached' })
    expect(await keys.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.textContent)).toStartWith('as key needle')
    await visitor.checkAccessible()
  })

  test('versions, moves, workspaces, members and guardrails have a second page', async () => {
    const service = await services.start()
    await savePreset(service, 'support-bot', 'Version 1.')
    await manage(service, '/guardrails', { body: { name: 'guardrail 0' } })
    const { page, ...visitor } = await signedIn(browser, service, '/settings')
    // More rows than fit on the page, made from the service's own response.
    const asked: string[] = []
    await page.route(
      ({ pathname }) => /^\/api\/v1\/(?:presets\/[^/]+\/versions|workspaces(?:\/[^/]+\/members)?|guardrails)$/.test(pathname),
      async (route) => {
        const url = new URL(route.request().url())
        asked.push(`${url.pathname.split('/').at(-1)} ${url.searchParams.get('offset')}`)
        const {
          data: [row],
        } = await manage<{ data: Record<string, unknown>[] }>(service, url.pathname.slice('/api/v1'.length))
        const offset = Number(url.searchParams.get('offset'))
        const data = Array.from({ length: Math.min(100, ROWS - offset) }, (_, index) => ({ ...row, ...named(row, offset + index) }))
        await route.fulfill({ json: { data, total_count: ROWS } })
      },
    )
    // The pointer rests on one of these rows, so the page prefetches its data.
    await page.route(
      ({ pathname }) => pathname.includes('/assignments/'),
      (route) => route.fulfill({ json: { data: [], total_count: 0 } }),
    )
    for (const [path, label] of [
      ['/presets/support-bot?tab=history', 'Versions'],
      ['/guardrails', 'Guardrails'],
      ['/workspaces', 'Workspaces'],
    ] as const) {
      await open(page, path)
      const rows = page.getByRole('table', { name: label, exact: true }).locator('tbody tr')
      await rows.first().waitFor()
      await page.getByRole('button', { name: 'Show more' }).first().click()
      await until(async () => (await rows.count()) >= 200, `the second page of ${label}`)
    }
    expect(asked).toEqual(expect.arrayContaining(['versions 100', 'guardrails 100', 'workspaces 100']))
    visitor.check()
  })
})

const named = (row: Record<string, unknown> | undefined, number: number): Record<string, unknown> =>
  Object.fromEntries(
    ['id', 'slug', 'user_id', 'version'].flatMap((name) =>
      row?.[name] === undefined ? [] : [[name, name === 'version' ? number + 1 : `${name}-${number}`]],
    ),
  )
