/** Slow answers do not move the things that somebody reads or is about to press. */
import { beforeAll, describe, expect, test } from 'bun:test'

import type { Page, Route } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const CONFIG = `
providers:
  away: { name: Away, dialects: [openai-chat], base_url: "http://127.0.0.1:9", api_key: sk-shared-0123456789 }
models:
  fake/away: { endpoints: [{ provider: away, model: up }] }
`

const WIDE = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 800 }

/** Sums the layout shifts that no key or click explains. */
const MEASURE = `window.shifted = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value
  }).observe({ type: 'layout-shift', buffered: true })`

const shifted = (page: Page): Promise<number> =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(window.shifted)))))')

describe.skipIf(BROWSER_PATH === null)('nothing moves when the last answers arrive late', () => {
  let service: RunningService
  let hash = ''
  beforeAll(async () => {
    service = await services.start({ config: CONFIG })
    const made = await manage<{ data: { hash: string } }>(service, '/keys', {
      body: { name: 'checkout', limit: 20, limit_reset: 'monthly' },
    })
    hash = made.data.hash
    const { data } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'no addresses' } })
    await manage(service, `/guardrails/${data.id}/assignments/keys`, { body: { key_hashes: [hash] } })
    for (let round = 0; round < 3; round += 1) await chat(service, { model: 'fake/away' })
  })

  /** Opens the screen while the answers to some calls are held back, and returns how far their arrival moved what was there. */
  const movedBy = async (
    path: string,
    viewport: typeof WIDE,
    late: (url: URL) => boolean,
    [first, last]: readonly [first: (page: Page) => Promise<unknown>, last: (page: Page) => Promise<unknown>],
  ): Promise<number> => {
    const held: Route[] = []
    let isHolding = true
    const before = async (page: Page): Promise<void> => {
      await page.addInitScript(MEASURE)
      await page.route('**/api/v1/**', async (route) => {
        if (isHolding && late(new URL(route.request().url()))) held.push(route)
        else await route.continue()
      })
    }
    const { page, check } = await signedIn(browser, service, path, { viewport, before })
    await first(page)
    const sum = await shifted(page)
    isHolding = false
    await Promise.all(held.map((route) => route.continue()))
    await last(page)
    const moved = (await shifted(page)) - sum
    check()
    return moved
  }

  test('keys: the guardrails of each, and on a phone the key above its list', async () => {
    const list = (page: Page): Promise<void> => page.getByRole('row', { name: /checkout/ }).waitFor()
    const names = (page: Page): Promise<void> => page.getByRole('cell', { name: 'no addresses' }).waitFor()
    expect(await movedBy('/keys', WIDE, ({ pathname }) => pathname.includes('/guardrails'), [list, names])).toBeLessThan(0.005)
    const facts = (page: Page): Promise<void> => page.getByRole('heading', { name: 'What bounds it' }).waitFor()
    expect(await movedBy(`/keys?key=${hash}`, PHONE, ({ pathname }) => pathname.endsWith(hash), [list, facts])).toBeLessThan(0.03)
  })

  test('the playground: which key a run is charged to, which is no other person’s meanwhile', async () => {
    const asked: string[] = []
    const late = ({ pathname, searchParams }: URL): boolean => {
      if (searchParams.get('purpose') === 'playground') asked.push(searchParams.get('user_id') ?? 'anybody')
      return pathname.endsWith('/keys')
    }
    const form = (page: Page): Promise<void> => page.getByLabel('System prompt').waitFor()
    const charged = (page: Page): Promise<void> => page.getByText('Charged to').waitFor()
    expect(await movedBy('/playground', PHONE, late, [form, charged])).toBeLessThan(0.001)
    expect(asked).not.toContain('anybody')
  })

  test('a preset: whether it can be rolled back, and which tests are saved', async () => {
    for (const system of ['one', 'two']) await savePreset(service, 'support-bot', system)
    // The moves of labels fill the first page of the history.
    for (let move = 0; move <= 100; move += 1)
      await manage(service, '/presets/support-bot', { method: 'PATCH', body: { labels: { staging: (move % 2) + 1 } } })
    const prompt = (page: Page): Promise<void> => page.getByLabel('System prompt').waitFor()
    const back = async (page: Page): Promise<void> => {
      await page.locator('button:enabled', { hasText: 'Roll back' }).waitFor()
      await page.getByText('No test is saved').waitFor()
    }
    const late = ({ pathname }: URL): boolean => /support-bot\/(?:history|tests)$/.test(pathname)
    expect(await movedBy('/presets/support-bot', WIDE, late, [prompt, back])).toBeLessThan(0.001)
  })

  test('providers: who is affected by one that fails', async () => {
    const row = (page: Page): Promise<void> => page.getByRole('row', { name: /Away/ }).waitFor()
    const affected = (page: Page): Promise<void> => page.getByRole('button', { name: '1 key affected' }).waitFor()
    expect(await movedBy('/models', PHONE, ({ searchParams }) => searchParams.has('model'), [row, affected])).toBeLessThan(0.001)
  })
})
