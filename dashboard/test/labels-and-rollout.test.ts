/** Which callers get which version of a preset, and who used which. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

let service: RunningService
beforeAll(async () => {
  if (BROWSER_PATH !== null) service = await services.start()
})

const saveTwoVersions = async (slug: string): Promise<void> => {
  await savePreset(service, slug, 'Answer briefly.')
  await savePreset(service, slug, 'Answer politely.')
}

describe.skipIf(BROWSER_PATH === null)('labels of a preset', () => {
  test('stand in columns, and the fields of a rollout on one line; a name that is refused stays in its field', async () => {
    await saveTwoVersions('aligned-bot')
    const labels = { production: 1, 'canary-of-the-shop-for-europe': 2 }
    await manage(service, '/presets/aligned-bot', { method: 'PATCH', body: { labels } })
    const { page, expectStatus, check } = await signedIn(browser, service, '/presets/aligned-bot?tab=labels')
    expectStatus(404, 500)
    const lefts = async (): Promise<unknown[]> =>
      Promise.all(Object.keys(labels).map(async (label) => (await page.getByLabel(`Version of ${label}`).boundingBox())?.x))
    await page.getByLabel('Share in per cent').waitFor()
    expect(new Set(await lefts()).size).toBe(1)
    const fields = [page.getByLabel('Version', { exact: true }), page.getByLabel('Share in per cent'), page.getByLabel('Keep a caller')]
    expect(new Set(await Promise.all(fields.map(async (field) => (await field.boundingBox())?.y))).size).toBe(1)
    await page.route('**/api/v1/presets/aligned-bot', (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 500, json: {} }) : route.continue(),
    )
    await page.getByLabel('New label').fill('staging')
    await page.getByRole('button', { name: 'Add label' }).click()
    await page.getByRole('button', { name: 'Dismiss' }).waitFor()
    expect(await page.getByLabel('New label').inputValue()).toBe('staging')
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Add label' }).click()
    await page.getByLabel('Version of staging').waitFor()
    expect(await page.getByLabel('New label').inputValue()).toBe('')
    check()
  })

  test('move with their history; a protected one asks first, and is let go again', async () => {
    await saveTwoVersions('labelled-bot')
    await manage(service, '/presets/labelled-bot', { method: 'PATCH', body: { labels: { production: 1 } } })
    const { page, expectStatus, checkAccessible } = await signedIn(browser, service, '/presets/labelled-bot?tab=labels')
    // There is no rollout, and moving a protected label is refused until it is confirmed.
    expectStatus(404, 400)
    const labels = async (): Promise<unknown> => (await manage<{ data: { labels: unknown } }>(service, '/presets/labelled-bot')).data.labels
    await page.getByLabel('Protect production').click()
    await page.getByText('Whoever moves production is asked first').waitFor()
    await page.getByLabel('Version of production').selectOption('2')
    const dialog = page.getByRole('dialog', { name: 'Move the protected label production' })
    await dialog.getByText('gets v2 from now on').waitFor()
    await checkAccessible()
    await page.keyboard.press('Escape')
    expect(await labels()).toEqual({ production: 1 })
    await page.getByLabel('Version of production').selectOption('2')
    await dialog.getByRole('button', { name: 'Move production to v2' }).click()
    await page.getByText('production is v2 now.').waitFor()
    expect(await labels()).toEqual({ production: 2 })
    expect((await chat(service, { model: '@preset/labelled-bot@production' })).preset).toBe('labelled-bot@2')

    await page.getByLabel('Protect production').click()
    await page.getByText('production moves without a question again').waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Removed the label production.').waitFor()
    await page.getByRole('link', { name: 'History' }).click()
    const moves = page.getByRole('region', { name: 'What was live when' })
    // Until the newest move has come, the page may show those that it has read before.
    await moves.getByText('removed').waitFor()
    expect((await moves.getByRole('row').filter({ hasText: 'production' }).allInnerTexts()).map(words)).toEqual([
      expect.stringMatching(/v2 removed/),
      expect.stringMatching(/v1 v2/),
      expect.stringMatching(/– v1/),
    ])
    await checkAccessible()
  })

  test('one that is removed is offered back, and the keyboard goes on at the title of the screen', async () => {
    await saveTwoVersions('kept-label-bot')
    await manage(service, '/presets/kept-label-bot', { method: 'PATCH', body: { labels: { production: 1 } } })
    const { page, expectStatus, check } = await signedIn(browser, service, '/presets/kept-label-bot?tab=labels')
    // There is no rollout.
    expectStatus(404)
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Removed the label production.').waitFor()
    await until(async () => (await page.evaluate('document.activeElement.tagName')) === 'H1', 'the title')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByLabel('Version of production').waitFor()
    expect((await manage<{ data: { labels: unknown } }>(service, '/presets/kept-label-bot')).data.labels).toEqual({ production: 1 })
    check()
  })

  test('Used by lists who pins which version, and each number leads to its requests', async () => {
    await saveTwoVersions('pinned-bot')
    await chat(service, { model: '@preset/pinned-bot@1' })
    await chat(service, { model: '@preset/pinned-bot@1' })
    await chat(service, { model: '@preset/pinned-bot' })
    const { page, check } = await signedIn(browser, service, '/presets/pinned-bot?tab=used')
    const used = page.getByRole('table', { name: 'Keys that used the preset' })
    await page.getByText('1 key was served another version than v2, which is live.').waitFor()
    expect((await used.locator('tbody tr').allInnerTexts()).map(words).toSorted()).toEqual([
      expect.stringMatching(/First inference key v1 2 /),
      expect.stringMatching(/First inference key v2 1 /),
    ])
    await used.getByRole('row').filter({ hasText: 'v1' }).getByRole('link', { name: '2' }).click()
    await page.getByText('These are all.').waitFor()
    expect(await page.locator('[data-row]').count()).toBe(2)
    check()
  })
})

describe.skipIf(BROWSER_PATH === null)('a version whose model does not exist here', () => {
  test('is said to be one where a label, a rollout or everybody is given it', async () => {
    await savePreset(service, 'absent-bot', 'Answer briefly.')
    await manage(service, '/presets/absent-bot/chat/completions?designate=false', { body: { model: 'nobody/absent' } })
    const { page, expectStatus, check } = await signedIn(browser, service, '/presets/absent-bot?tab=labels')
    // There is no rollout.
    expectStatus(404)
    const said = (change: string) =>
      page
        .locator('.toast', { hasText: change })
        .getByText(/Version 2: model: .*nobody\/absent/)
        .waitFor()
    await page.getByLabel('New label').fill('staging')
    await page.getByRole('button', { name: 'Add label' }).click()
    await said('staging is v2 now.')
    await page.getByRole('button', { name: 'Start rollout' }).click()
    await said('The rollout runs.')
    await page.goto(`${service.url}/dashboard/presets/absent-bot?tab=history`)
    await page.getByRole('button', { name: 'Put v2 live' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Put v2 live' }).click()
    await said('v2 of absent-bot is live now')
    check()
  })
})

describe.skipIf(BROWSER_PATH === null)('a rollout', () => {
  test('is started and ended once by a double click, which no sentence of the service answers, and the focus stays on the page', async () => {
    await saveTwoVersions('twice-bot')
    const { page, expectStatus, check } = await signedIn(browser, service, '/presets/twice-bot?tab=labels')
    expectStatus(404)
    const changes: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET') changes.push(request.method())
    })
    await page.getByRole('button', { name: 'Start rollout' }).dblclick()
    await page.getByRole('button', { name: 'End: all to v2' }).dblclick()
    await page.getByText('All callers of twice-bot get v2.').waitFor()
    await until(async () => (await page.evaluate('document.activeElement.tagName')) === 'H1', 'the title')
    expect(changes).toEqual(['PUT', 'DELETE'])
    check()
  })

  test('is started from the page, which says what callers get and what would end it, shows requests, errors and cost of each version, and ends there', async () => {
    await saveTwoVersions('rolled-bot')
    const { page, expectStatus, checkAccessible } = await signedIn(browser, service, '/presets/rolled-bot?tab=labels')
    expectStatus(404)
    await page.getByLabel('Share in per cent').fill('1,5')
    await page.getByRole('button', { name: 'Start rollout' }).click()
    await page.getByText('Write the share as a whole number from 1 to 99.').waitFor()
    expect(await page.getByLabel('Share in per cent').getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel('Share in per cent').fill('50')
    await page.getByRole('button', { name: 'Start rollout' }).click()
    await page.getByText('A caller keeps its version by session').waitFor()
    const served = { v1: 0, v2: 0 }
    for (let session = 0; session < 12; session += 1) {
      const { preset } = await chat(service, { model: '@preset/rolled-bot', session_id: `s-${session}` })
      served[preset === 'rolled-bot@1' ? 'v1' : 'v2'] += 1
    }
    await page.reload()
    const figures = page.getByRole('table', { name: 'Figures of the versions' })
    await figures.getByRole('row').nth(2).waitFor()
    expect(await figures.getByRole('columnheader').allTextContents()).toEqual(
      expect.arrayContaining(['Version', 'Requests', 'Errors', 'First token, p50', 'Cost a request']),
    )
    for (const [version, requests] of Object.entries(served)) {
      const [, asked, errors] = words((await figures.getByRole('row').filter({ hasText: version }).innerText()) ?? '').split(' ')
      expect({ version, asked, errors }).toEqual({ version, asked: String(requests), errors: requests === 0 ? '–' : '0' })
    }
    await page.getByText(/^v\d\s50\s%, v\d\s50\s% \(rollout\)$/).waitFor()
    await page.getByRole('button', { name: 'Roll back' }).click()
    await page.getByText(/^The rollout \(.+\) ends: every caller gets v1\.$/).waitFor()
    await page.keyboard.press('Escape')
    await checkAccessible()
    await page.getByRole('button', { name: 'End: all to v2' }).click()
    await page.getByText('All callers of rolled-bot get v2.').waitFor()
    await page.getByText('v2 live', { exact: true }).waitFor()
    await page.getByText('The last rollout has ended.', { exact: true }).waitFor()
    expect((await chat(service, { model: '@preset/rolled-bot', session_id: 's-1' })).preset).toBe('rolled-bot@2')
  })
})

const words = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
