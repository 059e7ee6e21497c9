/** Who gets which version of a preset, and who used which. */
import { describe, expect, test } from 'bun:test'

import { type StartedService, useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

const startWithVersions = async (): Promise<StartedService> => {
  const service = await services.start()
  await savePreset(service, 'support-bot', 'Answer briefly.')
  await savePreset(service, 'support-bot', 'Answer politely.')
  return service
}

describe.skipIf(BROWSER_PATH === null)('labels of a preset', () => {
  test('move with their history; a protected one asks first, and is let go again', async () => {
    const service = await startWithVersions()
    await manage(service, '/presets/support-bot', { method: 'PATCH', body: { labels: { production: 1 } } })
    const { page, expectStatus, checkAccessible } = await signedIn(browser, service, '/presets/support-bot?tab=labels')
    // No rollout is there, and a protected label is refused until the move is confirmed.
    expectStatus(404, 400)
    const labels = async (): Promise<unknown> => (await manage<{ data: { labels: unknown } }>(service, '/presets/support-bot')).data.labels
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
    expect((await chat(service, { model: '@preset/support-bot@production' })).preset).toBe('support-bot@2')

    await page.getByLabel('Protect production').click()
    await page.getByText('production moves without a question again').waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Removed the label production.').waitFor()
    await page.getByRole('link', { name: 'History' }).click()
    const moves = page.getByRole('region', { name: 'What was live when' })
    await moves.getByText('production').first().waitFor()
    expect((await moves.getByRole('row').filter({ hasText: 'production' }).allInnerTexts()).map(words)).toEqual([
      expect.stringMatching(/v2 removed/),
      expect.stringMatching(/v1 v2/),
      expect.stringMatching(/– v1/),
    ])
    await checkAccessible()
  })

  test('Used by lists who pins which version, and each number leads to its requests', async () => {
    const service = await startWithVersions()
    await chat(service, { model: '@preset/support-bot@1' })
    await chat(service, { model: '@preset/support-bot@1' })
    await chat(service, { model: '@preset/support-bot' })
    const { page, check } = await signedIn(browser, service, '/presets/support-bot?tab=used')
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

describe.skipIf(BROWSER_PATH === null)('a rollout', () => {
  test('is started from the page, shows requests, errors and cost of each version, and ends there', async () => {
    const service = await startWithVersions()
    const { page, expectStatus, checkAccessible } = await signedIn(browser, service, '/presets/support-bot?tab=labels')
    expectStatus(404)
    await page.getByLabel('Share in per cent').fill('50')
    await page.getByRole('button', { name: 'Start rollout' }).click()
    await page.getByText('A caller keeps its version by session').waitFor()
    const served = { v1: 0, v2: 0 }
    for (let session = 0; session < 12; session += 1) {
      const { preset } = await chat(service, { model: '@preset/support-bot', session_id: `s-${session}` })
      served[preset === 'support-bot@1' ? 'v1' : 'v2'] += 1
    }
    await page.reload()
    const figures = page.getByRole('table', { name: 'Figures of the versions' })
    await figures.getByRole('row').nth(2).waitFor()
    expect(await figures.getByRole('columnheader').allTextContents()).toEqual(
      expect.arrayContaining(['Version', 'Requests', 'Errors', 'First token p50', 'Cost a request']),
    )
    for (const [version, requests] of Object.entries(served)) {
      const [, asked, errors] = words((await figures.getByRole('row').filter({ hasText: version }).innerText()) ?? '').split(' ')
      expect({ version, asked, errors }).toEqual({ version, asked: String(requests), errors: requests === 0 ? '–' : '0' })
    }
    await checkAccessible()
    await page.getByRole('button', { name: 'End: all to v2' }).click()
    await page.getByText('All callers of support-bot get v2.').waitFor()
    await page.getByText('The last rollout has ended').waitFor()
    expect((await chat(service, { model: '@preset/support-bot', session_id: 's-1' })).preset).toBe('support-bot@2')
  })
})

const words = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
