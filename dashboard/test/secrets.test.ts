/** Secrets cannot be found on the screen, in the history, or in the log. */
import { beforeAll, describe, expect, test } from 'bun:test'

import type { Page } from 'playwright-core'

import { type StartedService, useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage } from './calls.ts'
import { signInByPage } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

/** Everything that the browser stores, and the contents of the page: its text, its fields and its scripts' storage. */
const keptBy = async (page: Page): Promise<string> =>
  JSON.stringify([
    page.url(),
    await page.content(),
    await page.evaluate('[...document.querySelectorAll("input, textarea")].map(({ value }) => value)'),
    await page.evaluate(
      '[{ ...localStorage }, { ...sessionStorage }, history.state, performance.getEntriesByType("resource").map(({ name }) => name)]',
    ),
    await page.context().cookies(),
  ])

describe.skipIf(BROWSER_PATH === null)('no secret stays', () => {
  let service: StartedService
  beforeAll(async () => {
    service = await services.start()
  })

  test('a management key that signs in is in no page, storage, address, cookie or log, and a new one is gone after a reload', async () => {
    const visitor = await browser.visit(`${service.url}/dashboard`)
    await signInByPage(visitor, service.managementKey)
    const { page, check, settled } = visitor
    for (const path of ['', '/keys', '/settings', '/audit', '/setup']) {
      await page.goto(`${service.url}/dashboard${path}`)
      await page.locator('#content h1').waitFor()
      await settled()
      expect(await keptBy(page)).not.toContain(service.managementKey)
    }
    await page.goto(`${service.url}/dashboard/keys`)
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('robot')
    await page.getByText('More', { exact: true }).click()
    await page.getByLabel('Kind').selectOption('management')
    await page.getByRole('button', { name: 'Create' }).click()
    const made = (await page.getByLabel('The key, shown this once').textContent())?.trim() ?? ''
    expect(made).toStartWith('pb_mgmt_')
    await page.reload()
    await page.getByRole('link', { name: 'robot' }).waitFor()
    expect(await keptBy(page)).not.toContain(made)
    const log = service.stderr()
    expect(log).toContain('"operation":"createSession"')
    expect(log.includes(service.managementKey) || log.includes(made)).toBe(false)
    check()
  })

  test('a sign-in link leaves the address before anything is asked, names nobody where it came from, and is in no history, log or entry', async () => {
    const { data } = await manage<{ data: { url: string; expires_at: string; created_at?: string } }>(service, '/login-links', {
      body: { user_id: 'ada', role: 'admin' },
    })
    const token = new URL(data.url).hash.replace('#login=', '')
    const lasts = Date.parse(data.expires_at) - Date.now()
    expect(lasts).toBeGreaterThan(13 * 60_000)
    expect(lasts).toBeLessThanOrEqual(15 * 60_000)
    const sent: string[] = []
    const { page, check } = await browser.visit(data.url, {
      before: async (one) => {
        one.on('request', (request) => sent.push(JSON.stringify([request.url(), request.headers()])))
      },
    })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(sent.filter((text) => text.includes(token))).toEqual([])
    expect(sent.filter((text) => /"referer":"(?!"|[^"]*\.css")/.test(text))).toEqual([])
    expect(await keptBy(page)).not.toContain(token)
    expect(Number(await page.evaluate('history.length'))).toBeLessThanOrEqual(2)
    await page.goto(`${service.url}/dashboard/audit`)
    await page.goBack()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(page.url()).not.toContain('login')
    const entries = JSON.stringify(await manage(service, '/audit-log?limit=100'))
    expect(entries).toContain('session')
    expect(entries + service.stdout() + service.stderr()).not.toContain(token)
    check()
  })
})
