import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

const ROWS = 10_000

/** Copies of the requests that there are, a second apart. */
const multiply = (dataDir: string): void => {
  const database = new Database(join(dataDir, 'patchbay.db'))
  const columns = (database.query(`select name from pragma_table_info('generations')`).all() as { name: string }[]).map(({ name }) => name)
  const copied: Readonly<Record<string, string>> = {
    id: `'gen-copy-' || printf('%06d', number)`,
    created_at: `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || number || ' seconds')`,
    record: `json_set(record, '$.id', 'gen-copy-' || printf('%06d', number))`,
    // The oldest alone was dear: no index finds it.
    cost_nanos: `case when number = ${ROWS} then 5000000000 else 0 end`,
  }
  database.run(
    `with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < ${ROWS})
     insert into generations (${columns.map((name) => `"${name}"`).join(', ')})
     select ${columns.map((name) => copied[name] ?? `"${name}"`).join(', ')} from numbers, (select * from generations limit 1)`,
  )
  database.close()
}

const HEAP_BYTES = 40 * 1024 * 1024

const startWithMany = async () => {
  const first = await services.start()
  await chat(first, { model: 'sandbox/echo' })
  await first.stop()
  multiply(first.dataDir)
  return { ...(await services.start({ dataDir: first.dataDir })), managementKey: first.managementKey }
}

describe.skipIf(BROWSER_PATH === null)('a list of ten thousand requests', () => {
  test('has only the rows in view in the page, however far it is scrolled, and leads to each by keyboard', async () => {
    const service = await startWithMany()
    const { page, check } = await signedIn(browser, service, '/requests')
    const rows = page.locator('[data-row]')
    await rows.first().waitFor()
    const table = page.getByRole('table', { name: 'Requests', exact: true })
    const scroller = page.locator('.rows-scroller')
    let most = 0
    // Each step asks for the page behind the last row.
    while (Number(await table.getAttribute('aria-rowcount')) <= ROWS) {
      await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight))
      await page.waitForTimeout(20)
      most = Math.max(most, await rows.count())
    }
    expect(most).toBeLessThanOrEqual(100)
    const session = await page.context().newCDPSession(page)
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    expect(usedSize).toBeLessThanOrEqual(HEAP_BYTES)
    await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await page.getByText('These are all.').waitFor()

    await scroller.evaluate((element) => element.scrollTo(0, 0))
    await page.locator('[aria-rowindex="2"][data-row]').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    const second = page.locator('[aria-rowindex="3"]')
    await second.locator('a:focus').waitFor()
    const focused = await second.getAttribute('data-row')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: new RegExp(String(focused)) }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
    check()
  })

  test('what no index finds is found behind the records that a page looks through, and the table has all rows of the filter', async () => {
    const service = await startWithMany()
    const { page, check } = await signedIn(browser, service, '/requests?q=cost>1')
    await page.getByText('These are all.').waitFor()
    expect(await page.locator('[data-row]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-row')))).toEqual([
      `gen-copy-0${ROWS}`,
    ])
    await page.getByLabel('Filter').fill('cost>100')
    await page.keyboard.press('Enter')
    await page.getByText('No request in this time fits the filter.').waitFor()

    await page.getByLabel('Filter').fill('model:sandbox/echo')
    await page.keyboard.press('Enter')
    await page.locator('[data-row]').nth(1).waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const lines = readFileSync(await (await download).path(), 'utf8')
      .trimEnd()
      .split('\r\n')
    expect(lines).toHaveLength(ROWS + 2)
    const cost = lines[0]?.split(',').indexOf('total_cost_usd') ?? -1
    expect(lines.at(-1)?.split(',')[cost]).toBe('5')
    check()
  })
})
