/** Each figure links to exactly the requests that it counts, also at the borders of its time range. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, savePreset } from './calls.ts'
import { countHours } from './count-hours.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const MINUTE_MS = 60_000
/** Minutes ago: near the beginning of the range that is shown, at full hours and close to them, now, and in the time before the range. */
const AGES = [24 * 60 - 1, 24 * 60 + 5, 24 * 60 + 59, 600, 601, 599, 61, 60, 3, 2, 1, 0, 30 * 60]

const moveInTime = (dataDir: string): void => {
  const database = new Database(join(dataDir, 'patchbay.db'))
  const rows = database.query('select id from generations order by id').all() as { id: string }[]
  const move = database.query('update generations set created_at = ?, ended_at = ?, cost_nanos = ? where id = ?')
  rows.forEach(({ id }, index) => {
    const at = new Date(Date.now() - (AGES[index] ?? 0) * MINUTE_MS).toISOString()
    move.run(at, at, 1_000_100 * (index + 1), id)
  })
  countHours(database)
  database.close()
}

/** The number of requests in the list, over all pages. */
const listed = async (page: Page): Promise<number> => {
  await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
  await page.getByText('These are all.').waitFor()
  return Number(await page.getByRole('table', { name: 'Requests', exact: true }).getAttribute('aria-rowcount')) - 1
}

/** Opens the first column with requests, by keyboard; returns how many requests it counts. */
const openColumn = async (page: Page, chart: RegExp, region: string): Promise<number> => {
  await page.getByRole('group', { name: chart }).focus()
  const rows = page.getByRole('region', { name: region }).locator('tbody tr')
  const counts = await rows.evaluateAll((all) =>
    all.map((row) => [...row.children].slice(1).reduce((sum, cell) => sum + Number(cell.textContent), 0)),
  )
  const chosen = counts.findIndex((count) => count > 0)
  for (let presses = 0; presses <= chosen; presses += 1) await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  return counts[chosen] ?? -1
}

/** The text that is copied if the row is selected. */
const copied = (row: Locator): Promise<string> =>
  row.evaluate((element) => {
    getSelection()?.selectAllChildren(element)
    return String(getSelection())
  })

describe.skipIf(BROWSER_PATH === null)('a figure', () => {
  test('of spend, of the overview and of a column opens exactly the requests that it counts, and has beside it what it was before, exactly if one asks for it', async () => {
    const first = await services.start()
    await savePreset(first, 'support-bot', 'Answer politely.')
    await savePreset(first, 'classifier', 'Name the category.')
    for (const [index] of AGES.entries())
      await chat(
        first,
        index % 3 === 0
          ? { model: 'sandbox/error/provider_overloaded' }
          : { model: `@preset/${index % 2 === 0 ? 'support-bot' : 'classifier'}` },
      )
    await first.stop()
    moveInTime(first.dataDir)
    const service = { ...(await services.start({ dataDir: first.dataDir })), managementKey: first.managementKey }

    const { page, ...visitor } = await signedIn(browser, service, '/spend?group=preset&range=24h')
    const groups = page.getByRole('table', { name: 'Spend by preset' })
    for (const slug of ['support-bot', 'classifier', 'no preset']) {
      const row = groups.getByRole('row').filter({ has: page.getByRole('link', { name: slug }) })
      await row.waitFor()
      const requests = Number(await row.getByRole('cell').nth(4).textContent())
      expect(requests).toBeGreaterThan(0)
      await row.getByRole('link', { name: slug }).click()
      expect({ slug, listed: await listed(page) }).toEqual({ slug, listed: requests })
      await page.goBack()
    }

    const row = groups.getByRole('row').filter({ has: page.getByRole('link', { name: 'no preset' }) })
    const shown = async (): Promise<readonly string[]> => (await row.getByRole('cell').allInnerTexts()).slice(0, 3)
    // A screen reader gets the exact amounts in any case.
    for (const exact of ['$0.0220022', '$0.0130013', '+$0.0090009']) await row.getByRole('cell', { name: exact, exact: true }).waitFor()
    for (const short of ['$0.022', '$0.013', '+$0.009']) await row.getByText(short, { exact: true }).waitFor()
    expect(await row.getByTitle('$0.0220022').count()).toBe(1)
    const top = page.locator('.chart-top')
    const shortTop = await top.innerText()
    expect(await copied(row)).toContain('\t$0.022\t$0.013\t+$0.009\t')
    await page.keyboard.press('x')
    expect(await shown()).toEqual(['$0.0220022', '$0.0130013', '+$0.0090009'])
    expect(await copied(row)).toContain('\t$0.0220022\t$0.0130013\t+$0.0090009\t')
    expect(await top.innerText()).not.toBe(shortTop)
    expect(await top.innerText()).toMatch(/^\$0\.0\d{6}$/)
    await page.keyboard.press('x')
    const before = page.locator('.figures > div').filter({ hasText: 'The time before' })
    expect(await before.locator('dd').textContent()).toMatch(/^\$0\.01\d\$0\.01\d{5}, \+\d+ % since$/)

    for (const [kept, named] of [
      ['key', 'preset'],
      ['preset', 'interface'],
    ] as const) {
      await page.goto(`${service.url}/dashboard/spend?group=${kept}&and=${named}&range=24h`)
      const pairs = page.getByRole('table', { name: `Spend by ${kept} and ${named}` })
      const counts = pairs.getByRole('row').getByRole('link', { name: /^\d+$/ })
      await counts.first().waitFor()
      const requests = (await counts.allTextContents()).map(Number)
      expect(requests.length).toBeGreaterThan(1)
      for (const [index, counted] of requests.entries()) {
        await counts.nth(index).click()
        expect({ kept, index, listed: await listed(page) }).toEqual({ kept, index, listed: counted })
        await page.goBack()
        await counts.first().waitFor()
      }
    }
    const all = page
      .locator('.figures > div')
      .filter({ hasText: /^Requests/ })
      .getByRole('link')
    const summed = Number(await all.textContent())
    await all.click()
    expect(await listed(page)).toBe(summed)

    await page.goto(`${service.url}/dashboard/`)
    for (const name of ['Requests', 'Errors'] as const) {
      const figure = page.getByRole('region', { name: 'Requests, errors and spend' }).locator('.figures > div').filter({ hasText: name })
      const link = figure.getByRole('link')
      await link.waitFor()
      const all = Number(await page.locator('.figures > div').filter({ hasText: 'Requests' }).getByRole('link').textContent())
      const share = Number(/([\d.]+)/.exec((await link.textContent()) ?? '')?.[1])
      await link.click()
      const found = await listed(page)
      if (name === 'Requests') expect(found).toBe(all)
      else expect((found / all) * 100).toBeCloseTo(share, 0)
      await page.goBack()
    }

    await page.goto(`${service.url}/dashboard/requests`)
    await listed(page)
    const counted = await openColumn(page, /^Requests over time/, 'Requests over time')
    await until(() => new URL(page.url()).searchParams.has('from'), 'the range of the column')
    expect(await listed(page)).toBe(counted)

    await page.goto(`${service.url}/dashboard/spend?of=requests&range=24h`)
    const spent = await openColumn(page, /^Spend by key/, 'Over time')
    await until(() => new URL(page.url()).pathname.endsWith('/requests'), 'the requests of the column')
    expect(await listed(page)).toBe(spent)
    visitor.check()
  })
})
