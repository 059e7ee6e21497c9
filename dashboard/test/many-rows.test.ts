import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { startWithRequests } from './many-requests.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const ROWS = 10_000

const HEAP_BYTES = 40 * 1024 * 1024

const FRAME_CPU_MS = 16
const FRAMES = 100
/** Known work takes longer on a busy machine, and so does a frame: a frame may take this many times as long as the known work. */
const FRAME_OF_KNOWN = 7

interface FrameTimes {
  readonly frameMs: number
  readonly knownMs: number
}

/**
 * Measures a frame that replaces every row in view, and known work: creating, laying out and removing plain rows. Both are CPU times of the
 * page's thread, without waiting for a core.
 */
const scrolledByScreens = async (page: Page): Promise<FrameTimes> => {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const worked = async (): Promise<number> =>
    (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
  const scroll = (frames: number): Promise<unknown> =>
    page.evaluate(`(async () => {
      const scroller = document.querySelector('.rows-scroller')
      scroller.scrollTo(0, 0)
      for (let frame = 0; frame < ${frames}; frame += 1) {
        await new Promise(requestAnimationFrame)
        scroller.scrollBy(0, scroller.clientHeight)
      }
      await new Promise(requestAnimationFrame)
    })()`)
  const known = (times: number): Promise<unknown> =>
    page.evaluate(`for (let time = 0; time < ${times}; time += 1) {
      const rows = document.createElement('div')
      for (let row = 0; row < 20; row += 1) {
        const line = rows.appendChild(document.createElement('p'))
        for (let cell = 0; cell < 10; cell += 1) line.appendChild(document.createElement('span')).textContent = row + ' ' + cell
      }
      document.body.append(rows)
      rows.getBoundingClientRect()
      rows.remove()
    }`)
  const timeOf = async (work: (times: number) => Promise<unknown>): Promise<number> => {
    // The first round compiles the rendering code.
    await work(FRAMES)
    const before = await worked()
    await work(FRAMES)
    return (((await worked()) - before) * 1000) / FRAMES
  }
  return { frameMs: await timeOf(scroll), knownMs: await timeOf(known) }
}

describe.skipIf(BROWSER_PATH === null)('a list of ten thousand requests', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startWithRequests(services, ROWS)
  })

  test('has only the rows in view in the page, however far it is scrolled, and leads to each by keyboard', async () => {
    const { page, check } = await signedIn(browser, service, '/requests', { alone: true })
    const rows = page.locator('[data-row]')
    await rows.first().waitFor()
    const table = page.getByRole('table', { name: 'Requests', exact: true })
    const scroller = page.locator('.rows-scroller')
    let most = 0
    // Each step loads the page after the last row.
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

    let [frameMs, mostMs] = [Number.POSITIVE_INFINITY, FRAME_CPU_MS]
    for (let round = 0; round < 6 && frameMs > mostMs; round += 1) {
      const times = await scrolledByScreens(page)
      frameMs = Math.min(frameMs, times.frameMs)
      mostMs = Math.max(mostMs, FRAME_OF_KNOWN * times.knownMs)
    }
    expect(frameMs).toBeLessThanOrEqual(mostMs)

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
