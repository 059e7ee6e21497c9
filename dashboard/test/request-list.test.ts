/** The list of requests while somebody reads it: its position, and the requests that arrive meanwhile. */
import { beforeAll, describe, expect, test } from 'bun:test'

import type { Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat } from './calls.ts'
import { open } from './going-on.ts'
import { startWithRequests } from './many-requests.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const scrolled = async (page: Page): Promise<number> => page.locator('.rows-scroller').evaluate(({ scrollTop }) => scrollTop)

/** The number of cells that are not wholly inside the list. */
const BEYOND_THE_BORDER = `(() => {
  const list = document.querySelector('.rows-scroller')
  const border = list.getBoundingClientRect().left + list.clientWidth
  return [...list.querySelectorAll('[role=cell]')].filter((cell) => cell.getBoundingClientRect().right > border).length
})()`

/** The row under the pointer. */
const rowAt = (page: Page, x: number, y: number): Promise<unknown> =>
  page.evaluate(`document.elementFromPoint(${x}, ${y})?.closest('[data-row]')?.dataset.row ?? null`)

describe.skipIf(BROWSER_PATH === null)('the list of requests', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test('asks for the record of a row when the pointer comes to it, and once only', async () => {
    const { id } = await chat(service, { model: 'sandbox/echo' })
    const { page, check } = await signedIn(browser, service, '/requests')
    const asked: string[] = []
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/v1/generation') asked.push(request.url())
    })
    const link = page.locator(`[data-row="${id}"] a`).first()
    await link.waitFor()
    expect(asked).toEqual([])
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/api/v1/generation')
    await link.hover()
    await answered
    await link.click()
    await page.getByRole('heading', { name: id, level: 1 }).waitFor()
    await page.getByRole('region').filter({ hasText: 'sandbox/echo' }).first().waitFor()
    expect(asked.length).toBe(1)
    check()
  })

  test.each([
    ['beside its detail', 1280],
    ['on a phone', 390],
  ])('is where it was after Back, with the request that was read, and an address brings its filter back: %s', async (_, width) => {
    const service = await startWithRequests(services, 300)
    const { page, check } = await signedIn(browser, service, '/requests?q=status:ok', { viewport: { width, height: 800 } })
    await page.locator('[data-row]').first().waitFor()
    const scroller = page.locator('.rows-scroller')
    await scroller.evaluate((element) => element.scrollTo(0, 2000))
    const row = page.locator('[data-row="gen-copy-000065"]')
    await row.getByRole('link').first().click()
    await page.getByRole('heading', { name: 'gen-copy-000065', level: 1 }).waitFor()
    if (width > 1100) expect(await row.getAttribute('class')).toContain('selected')
    const address = page.url()
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Presets' }).click()
    await page.getByRole('heading', { name: 'Presets', level: 1 }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'gen-copy-000065', level: 1 }).waitFor()
    expect(page.url()).toBe(address)
    if (width > 1100) {
      await until(async () => (await scrolled(page)) === 2000, 'the place in the list')
      expect(await row.getAttribute('class')).toContain('selected')
    }
    await page.goBack()
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
    await until(async () => (await scrolled(page)) === 2000, 'the place in the list')
    await row.waitFor()
    expect(await page.getByLabel('Filter').inputValue()).toBe('status:ok')

    const other = await signedIn(browser, service, `/requests?${new URL(page.url()).searchParams}`)
    await other.page.locator('[data-row]').first().waitFor()
    expect(await other.page.getByLabel('Filter').inputValue()).toBe('status:ok')
    check()
  })

  test('says how many requests were found where all of them are loaded, and else that there may be more; a narrow window cuts no column', async () => {
    const service = await startWithRequests(services, 150)
    const { page, ...visitor } = await signedIn(browser, service, '/requests?q=status:ok')
    await page.getByText('The newest 100; more follow', { exact: true }).waitFor()
    await page.locator('.rows-scroller').evaluate((element) => element.scrollTo(0, element.scrollHeight))
    const found = page.getByText(/^\d+ found$/)
    await found.waitFor()
    const rows = Number(await page.getByRole('table', { name: 'Requests', exact: true }).getAttribute('aria-rowcount')) - 1
    expect(rows).toBeGreaterThanOrEqual(150)
    expect(await found.textContent()).toBe(`${rows} found`)
    for (const width of [721, 900, 1099]) {
      await page.setViewportSize({ width, height: 800 })
      await until(async () => (await page.evaluate(BEYOND_THE_BORDER)) === 0, `a list that fits into ${width} pixels`)
      await page.getByRole('columnheader', { name: 'Total' }).waitFor()
    }
    await visitor.checkAccessible()
  })

  test('writes each cost so that it fits and is not cut to less than it is, with the exact one in its tooltip, and in its place if one asks for it', async () => {
    const service = await startWithRequests(services, 7, [1, 999, 1000, 1234, 98_765, 1_234_567_890, 123_456_789_012])
    const { page, check } = await signedIn(browser, service, '/requests')
    await page.locator('[data-row]').nth(6).waitFor()
    const costs = page.locator('[data-row^="gen-copy"]').locator('[role=cell]:last-child')
    const shown = (): Promise<readonly string[]> =>
      costs.evaluateAll((cells) => cells.map((cell) => (cell.querySelector('[aria-hidden]') ?? cell).textContent))
    const areCut = (): Promise<number> =>
      costs.evaluateAll((cells) => cells.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length)
    expect(await shown()).toEqual(['<$0.000001', '<$0.000001', '$0.000001', '$0.0000012', '$0.000099', '$1.23', '$123.46'])
    expect(await areCut()).toBe(0)
    await page.keyboard.press('x')
    const exact = ['$0.000000001', '$0.000000999', '$0.000001', '$0.000001234', '$0.000098765', '$1.23456789', '$123.456789012']
    expect(await shown()).toEqual(exact)
    expect(await areCut()).toBe(0)
    await page.keyboard.press('x')
    expect(await page.locator('[data-row-link="gen-copy-000001"]').getAttribute('title')).toEndWith(' · $0.000000001')
    expect(await page.locator('[data-row-link="gen-copy-000004"]').getAttribute('title')).toEndWith(' · $0.000001234')
    check()
  })

  test('without a request in its time says when the newest one was and leads there, and offers to connect a client only if there never was one', async () => {
    const service = await services.start()
    const { page, ...visitor } = await signedIn(browser, service, '/requests')
    const connect = page.getByRole('button', { name: 'Connect a client' })
    await connect.waitFor()
    const { id } = await chat(service, { model: 'sandbox/echo' })
    const row = page.locator(`[data-row="${id}"]`)
    for (const filter of ['', 'q=status:error&']) {
      await open(page, `/requests?${filter}from=2020-01-01T00:00:00.000Z&to=2020-01-02T00:00:00.000Z`)
      const words = filter === '' ? 'No requests in this time. The newest is of' : 'No request in this time fits the filter.'
      await page.getByText(words).waitFor()
      await page.getByRole('button', { name: 'Show the time of the newest request' }).waitFor()
      expect(await connect.count()).toBe(0)
      await visitor.checkAccessible()
    }
    await page.getByRole('button', { name: 'Show the time of the newest request' }).click()
    await page.getByText('No request in this time fits the filter.').waitFor()
    expect(await page.getByLabel('Time range').inputValue()).toBe('1h')
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await row.waitFor()
    visitor.check()
  })

  test('has one main heading on the page: its own, or that of the request beside it', async () => {
    const service = await startWithRequests(services, 3)
    const { page, check } = await signedIn(browser, service, '/requests')
    const headings = page.getByRole('heading', { level: 1 })
    await page.locator('[data-row] a').first().click()
    await page.getByRole('heading', { name: /^Request gen-/, level: 1 }).waitFor()
    await page.getByRole('heading', { name: 'Requests', level: 2 }).waitFor()
    expect(await headings.count()).toBe(1)
    expect(await page.title()).toStartWith('gen-')
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
    expect(await headings.count()).toBe(1)
    check()
  })

  test('followed live has what fits the filter alone, moves nothing below the pointer, and says how many came', async () => {
    const service = await services.start()
    for (let count = 0; count < 3; count += 1) await chat(service, { model: 'sandbox/echo' })
    const { page, checkAccessible } = await signedIn(browser, service, '/requests?q=model:sandbox/echo')
    const rows = page.locator('[data-row]')
    await rows.nth(2).waitFor()
    await page.getByRole('button', { name: 'Live' }).click()
    await page.getByText('Following').waitFor()
    const { x, y } = (await rows.nth(1).boundingBox())!
    await page.mouse.move(x + 200, y + 10)
    const read = await rowAt(page, x + 200, y + 10)
    expect(read).toBeString()
    await chat(service, { model: 'sandbox/lorem' })
    const first = await chat(service, { model: 'sandbox/echo' })
    const second = await chat(service, { model: 'sandbox/echo' })
    await page.getByRole('button', { name: '2 new' }).waitFor()
    expect(await rowAt(page, x + 200, y + 10)).toBe(read)
    expect(await rows.count()).toBe(3)
    await checkAccessible()
    await page.mouse.move(1, 1)
    await rows.nth(4).waitFor()
    const ids = await rows.evaluateAll((found) => found.map((row) => row.getAttribute('data-row')))
    expect(ids.slice(0, 2)).toEqual([second.id, first.id])
    expect(ids).toHaveLength(5)
  })

  test('followed live says how many were skipped', async () => {
    await chat(service, { model: 'sandbox/echo' })
    const { page, check } = await signedIn(browser, service, '/requests', {
      before: async (one) => {
        await one.route('**/generations/stream*', (route) =>
          route.fulfill({
            headers: { 'content-type': 'text/event-stream' },
            body: 'event: gap\ndata: {"skipped": 14}\n\nevent: gap\ndata: {"skipped": 3}\n\n',
          }),
        )
      },
    })
    await page.locator('[data-row]').first().waitFor()
    await page.keyboard.press('f')
    await page.getByText('17 were skipped').waitFor()
    check()
  })
})
