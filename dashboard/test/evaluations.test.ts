import { describe, expect, test } from 'bun:test'

import type { StartedService } from '../../test/support/started-service.ts'
import { useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

const ITEMS = ['Where is my parcel?', 'A refund for my <b>parcel</b>, please.'].map((content) => ({
  messages: [{ role: 'user', content }],
}))

interface State {
  readonly data: { readonly id: string; readonly state: string; readonly passed: boolean | null }
}

/** Runs one to its end; answers that say again what they were asked contain its words. */
const evaluate = async (service: StartedService, body: Readonly<Record<string, unknown>>): Promise<State['data']> => {
  const { data } = await manage<State>(service, '/presets/support-bot/evaluations', { body: { items: ITEMS, ...body } })
  for (;;) {
    const { data: now } = await manage<State>(service, `/presets/support-bot/evaluations/${data.id}`)
    if (now.state !== 'running') return now
    await Bun.sleep(20)
  }
}

const contains = (text: string) => ({ checks: [{ type: 'contains', text }] })

describe.skipIf(BROWSER_PATH === null)('evaluations of a preset', () => {
  test('are listed with what they came to, shown item by item, and compared: what became worse comes first', async () => {
    const service = await services.start()
    await savePreset(service, 'support-bot', 'Answer briefly.')
    const { page, checkAccessible, check } = await signedIn(browser, service, '/presets/support-bot?tab=evaluations')
    await page.getByText('No evaluations yet').waitFor()
    expect(await evaluate(service, { version: 1, name: 'parcels', ...contains('parcel') })).toMatchObject({ passed: true })
    expect(await evaluate(service, { version: 1, name: 'refunds', ...contains('refund') })).toMatchObject({ passed: false })
    await page.reload()
    const list = page.getByRole('table', { name: 'Evaluations' })
    await list.getByRole('row', { name: /^parcels of v1.* passed/ }).waitFor()
    await list.getByRole('row', { name: /^refunds of v1.* failed/ }).waitFor()
    await page.getByText('v1 passes 50').waitFor()
    // The newest one is shown; texts of models are texts.
    const items = page.getByRole('table', { name: 'Items' })
    await items.getByRole('row', { name: /Where is my parcel\?.*failed: contains/s }).waitFor()
    await items.getByRole('row', { name: /<b>parcel<\/b>.*passed/s }).waitFor()
    await checkAccessible()

    await page.getByLabel('Compare with').selectOption({ index: 1 })
    await page.getByText('0 better, 1 worse, 1 the same. The pass rates differ by -50 points').waitFor()
    const rows = page.getByRole('table', { name: 'Compared items' }).locator('tbody tr')
    expect(await rows.count()).toBe(2)
    expect(await rows.first().innerText()).toMatch(/Where is my parcel\?[^]*worse[^]*failed: contains[^]*passed/)
    await checkAccessible()
    // The address holds what is compared.
    await page.reload()
    await page.getByText('0 better, 1 worse').waitFor()
    check()
  })

  test('can be required: a version without one does not go live, and says what to do; with one it does', async () => {
    const service = await services.start()
    await savePreset(service, 'support-bot', 'Answer briefly.')
    const { page, checkAccessible, expectStatus } = await signedIn(browser, service, '/presets/support-bot?tab=settings')
    await page.getByRole('button', { name: 'Require an evaluation' }).click()
    await page.getByText('A version goes live only once it has passed an evaluation').waitFor()
    await checkAccessible()
    await manage(service, '/presets/support-bot/chat/completions?designate=false', {
      body: { model: 'sandbox/echo', messages: [{ role: 'system', content: 'Answer at length.' }] },
    })
    expectStatus(412)
    await page.getByRole('link', { name: 'History' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Put v2 live' }).click()
    const dialog = page.getByRole('dialog', { name: 'Put v2 of support-bot live' })
    await dialog.getByRole('button', { name: 'Put v2 live' }).click()
    await dialog.getByText('patchbay eval support-bot --version 2').waitFor()
    expect((await chat(service, { model: '@preset/support-bot' })).preset).toBe('support-bot@1')
    await evaluate(service, { version: 2, ...contains('parcel') })
    await dialog.getByRole('button', { name: 'Put v2 live' }).click()
    await page.getByText('v2 of support-bot is live now').waitFor()
    expect((await chat(service, { model: '@preset/support-bot' })).preset).toBe('support-bot@2')
  })
})
