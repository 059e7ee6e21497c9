/** Nothing that a person needs is outside the visible area. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { open } from './going-on.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

/** A name that is too long is cut by its own style, an input scrolls its text, and nobody sees the words for screen readers. */
const SIDEWAYS = `[...document.querySelectorAll('.columns, .columns *:not(.cut, input, .hidden-text)')]
  .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth)
  .map(({ className }) => className)`

/** Heads of columns that are narrower than one of their words. */
const BROKEN = `[...document.querySelectorAll('.table thead th')].filter((head) => {
  const lines = document.createRange()
  lines.selectNodeContents(head)
  return new Set([...lines.getClientRects()].map(({ top }) => top)).size > head.textContent.split(' ').length
}).map((head) => head.textContent)`

const BROKEN_ID = `[...document.querySelectorAll('.table .copy-id')].some((id) => id.textContent === 'fake/good' && id.offsetHeight > 30)`

describe.skipIf(BROWSER_PATH === null)('a screen', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test.each([
    ['beside an open key', 1280],
    ['on a phone', 390],
  ])('shows in the rows of Keys the whole bar of their limit, and both amounts on one line: %s', async (_, width) => {
    const { data: key } = await manage<{ data: { hash: string } }>(service, '/keys', {
      body: { name: 'support assistant of the shop in production, Europe', limit: 12_500.123, limit_reset: 'monthly' },
    })
    const { page, ...visitor } = await signedIn(browser, service, `/keys?key=${key.hash}`, { viewport: { width, height: 800 } })
    await page.getByRole('heading', { name: 'What bounds it' }).waitFor()
    const frame = page.locator('.table-frame')
    const bar = await frame.getByRole('img', { name: 'Spent by support assistant of the shop in production, Europe' }).first().boundingBox()
    const border = await frame.boundingBox()
    expect((await frame.getByText('$0 of').first().boundingBox())?.height).toBeLessThan(30)
    expect((bar?.x ?? 0) + (bar?.width ?? 0)).toBeLessThanOrEqual((border?.x ?? 0) + (border?.width ?? 0))
    await visitor.checkAccessible()
  })

  test.each([2, 3, 4])('has %p columns of answers that do not scroll sideways, with all of their controls', async (columns) => {
    await savePreset(service, 'assistant-of-the-shop-in-production', 'Answer briefly.')
    const models = ['sandbox/lorem', '@preset/assistant-of-the-shop-in-production', 'sandbox/echo', 'sandbox/lorem']
    const others = models.slice(1, columns).map((model, index) => `&model${index + 2}=${model}`)
    const { page, ...visitor } = await signedIn(browser, service, `/playground?model=${models[0]}&columns=${columns}${others.join('')}`)
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const copies = page.getByRole('button', { name: 'Copy answer' })
    await copies.nth(columns - 1).waitFor()
    expect(await page.evaluate(SIDEWAYS)).toEqual([])
    const answers = page.locator('.column')
    for (let index = 0; index < columns; index += 1) {
      const column = await answers.nth(index).boundingBox()
      const copy = await copies.nth(index).boundingBox()
      expect((copy?.x ?? 0) + (copy?.width ?? 0)).toBeLessThanOrEqual((column?.x ?? 0) + (column?.width ?? 0))
    }
    await visitor.checkAccessible()
  })

  test('has an open guardrail that is no wider than a phone, however long the names of keys are', async () => {
    await manage(service, '/keys', { body: { name: 'support assistant of the shop in production, Europe and America' } })
    const { data } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'pii' } })
    const { page, ...visitor } = await signedIn(browser, service, `/guardrails?guardrail=${data.id}`, {
      viewport: { width: 390, height: 800 },
    })
    await page.getByRole('button', { name: 'Try on the last 200 stored requests' }).waitFor()
    await page
      .getByRole('option', { name: /support assistant of the shop in production, Europe and America/ })
      .waitFor({ state: 'attached' })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await visitor.checkAccessible()
  })

  test('has the head of Presets on one line', async () => {
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

  test('is no wider than its window, scrolls no table sideways and breaks no id within a word, however long the texts of people are', async () => {
    const provider = (name: string): string =>
      `{ name: "${name} of the company in Frankfurt, contract 2026-4711", dialects: [openai-chat], base_url: "http://127.0.0.1:9/v1" }`
    const service = await services.start({
      config: `
providers: { first: ${provider('First')}, second: ${provider('Second')} }
models: { fake/good: { endpoints: [{ provider: first, model: up }, { provider: second, model: up }] } }
`,
    })
    const text = `${'Donaudampfschifffahrtsgesellschaft '.repeat(2)}${'W'.repeat(400)}`
    const slug = 'assistant-of-the-shop-in-production-for-europe-and-america'
    await savePreset(service, slug, text)
    await savePreset(service, slug, `${text}.`, { 'x-preset-note': encodeURIComponent(text) })
    await manage(service, `/presets/${slug}`, { method: 'PATCH', body: { name: text.slice(0, 200), labels: { production: 1 } } })
    await manage(service, '/workspaces', { body: { name: text.slice(0, 100), slug: slug.slice(0, 50) } })
    const { data: key, key: secret } = await manage<{ data: { hash: string }; key: string }>(service, '/keys', {
      body: { name: `${'W'.repeat(60)} ${text}`.slice(0, 180), limit: 999_999 },
    })
    const { data: guardrail } = await manage<{ data: { id: string } }>(service, '/guardrails', {
      body: { name: text.slice(0, 180), content_filters: [{ pattern: 'a'.repeat(300), action: 'redact' }] },
    })
    const { page, check, settled } = await signedIn(browser, service)
    await chat({ ...service, inferenceKey: secret }, { model: 'sandbox/echo' })
    for (const path of [
      '/',
      '/presets',
      `/presets/${slug}`,
      `/presets/${slug}?tab=history`,
      '/keys',
      `/keys?key=${key.hash}`,
      '/guardrails',
      `/guardrails?guardrail=${guardrail.id}`,
      '/spend',
      '/workspaces',
      '/models?tab=models',
      `/playground?model=@preset/${slug}&columns=2`,
    ]) {
      await page.setViewportSize({ width: 320, height: 800 })
      await open(page, path)
      await page.locator('#content h1').waitFor()
      await settled()
      for (const width of [320, 390, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        await page.evaluate('new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))')
        // A wider window may show parts that ask for more.
        await settled()
        const wide = await page.evaluate('document.documentElement.scrollWidth')
        const sideways = await page.evaluate(
          `[...document.querySelectorAll('.table-frame')].filter((one) => one.scrollWidth > one.clientWidth).length`,
        )
        const broken = [await page.evaluate(BROKEN), await page.evaluate(BROKEN_ID)]
        expect({ path, width, wide, sideways, broken }).toEqual({ path, width, wide: width, sideways: 0, broken: [[], false] })
      }
    }
    check()
  })

  test('shows the whole text of an empty list on a phone, however long a name in it is', async () => {
    const slug = 'W'.repeat(128)
    await savePreset(service, slug, 'Answer briefly.')
    const { page, ...visitor } = await signedIn(browser, service, `/presets/${slug}?tab=evaluations`, {
      viewport: { width: 390, height: 800 },
    })
    const text = await page.getByText('No evaluations yet').last().boundingBox()
    expect((text?.x ?? 0) + (text?.width ?? 0)).toBeLessThanOrEqual(390)
    await visitor.checkAccessible()
  })

  test('has the list of requests in the window, with the whole name of the first key, the rest of a row in its tooltip, and beside it the names of its settings, which no value covers', async () => {
    const service = await services.start()
    const slug = 'assistant-of-the-shop-in-production'
    await savePreset(service, slug, 'Answer briefly.')
    await chat(service, { model: `@preset/${slug}`, max_completion_tokens: 100 })
    const { page, check } = await signedIn(browser, service, '/requests')
    const row = page.locator('[data-row]').first()
    const name = row.getByText('First inference key', { exact: true })
    await name.waitFor()
    expect(await name.evaluate((cell) => cell.scrollWidth - cell.clientWidth)).toBe(0)
    expect(await row.getByRole('link').getAttribute('title')).toEndWith(
      `sandbox/echo · ${slug}@1 · First inference key · 6 → 4 tokens · $0`,
    )
    await page.locator('.histogram svg').first().waitFor()
    expect(Number(await page.evaluate('document.documentElement.scrollHeight'))).toBeLessThanOrEqual(800)
    await row.getByRole('link').click()
    await page.locator('.facts').getByText('max_completion_tokens').waitFor()
    expect(
      await page.evaluate(`[...document.querySelectorAll('.facts dt')].filter((name) => name.scrollWidth > name.clientWidth).length`),
    ).toBe(0)
    check()
  })

  test('shows on a phone the whole sentence of a provider that fails, and where one is in the rows of links', async () => {
    const service = await services.start()
    for (let count = 0; count < 5; count += 1) await chat(service, { model: 'sandbox/error/provider_overloaded' })
    await savePreset(service, 'support-bot', 'Answer briefly.')
    const { page, ...visitor } = await signedIn(browser, service, '', { viewport: { width: 390, height: 780 } })
    const sentence = page.locator('.trouble').getByText('Please try again')
    await sentence.waitFor()
    expect(await sentence.evaluate((line) => line.scrollWidth - line.clientWidth)).toBe(0)
    await page.goto(`${service.url}/dashboard/presets/support-bot?tab=settings`)
    await page.getByRole('link', { name: 'Settings' }).nth(1).waitFor()
    const rows = `[...document.querySelectorAll('nav [aria-current="page"]')].map((link) => {
      const [inner, outer] = [link.getBoundingClientRect(), link.closest('nav').getBoundingClientRect()]
      return inner.left >= outer.left - 1 && inner.right <= outer.right + 1
    })`
    expect(await page.evaluate(rows)).toEqual([true, true])
    await page.goto(`${service.url}/dashboard/settings`)
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    expect(await page.evaluate(rows)).toEqual([true])
    await visitor.checkAccessible()
  })

  test('that there is not has a title and leads on', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/nothing-here')
    await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor()
    await visitor.checkAccessible()
    await page.getByRole('link', { name: 'Open Overview' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    visitor.check()
  })

  test('tells with the colours of the system which tab, screen and form of the editor is current', async () => {
    await savePreset(service, 'plain-bot', 'Answer briefly.')
    const { page, ...visitor } = await signedIn(browser, service, '/presets/plain-bot')
    await page.emulateMedia({ forcedColors: 'active' })
    const look = (name: string, role: 'link' | 'button', property: string): Promise<string> =>
      page.getByRole(role, { name, exact: true }).evaluate((element, key) => getComputedStyle(element).getPropertyValue(key), property)
    expect(await look('Edit', 'link', 'border-bottom-color')).not.toBe(await look('History', 'link', 'border-bottom-color'))
    for (const [role, current, other] of [
      ['link', 'Presets', 'Requests'],
      ['button', 'Form', 'JSON'],
    ] as const) {
      expect(await look(current, role, 'text-decoration-line')).toBe('underline')
      expect(await look(other, role, 'text-decoration-line')).toBe('none')
    }
    await page.emulateMedia({ forcedColors: 'none' })
    visitor.check()
  })
})
