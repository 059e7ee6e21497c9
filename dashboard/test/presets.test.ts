import { beforeAll, describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const versionOf = async (service: RunningService, slug: string): Promise<string | null> =>
  (await chat(service, { model: `@preset/${slug}` })).preset

describe.skipIf(BROWSER_PATH === null)('a preset', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test('by keyboard alone: made, changed, saved without going live, put live, rolled back in two steps, and that undone', async () => {
    const { page, tabTo, check, expectStatus } = await signedIn(browser, service, '/presets')
    // No preset has this name yet.
    expectStatus(404)
    await page.getByText('No presets yet').waitFor()
    await page.keyboard.press('c')
    await page.getByLabel('Slug').waitFor()
    await page.keyboard.type('support-bot')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'support-bot' }).waitFor()
    expect(await versionOf(service, 'support-bot')).toBe('support-bot@1')

    await tabTo('System prompt')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('Cite the article that you used.')
    await page.keyboard.press('Control+s')
    await page.getByText('Saved support-bot as v2, a draft').waitFor()
    expect(await versionOf(service, 'support-bot')).toBe('support-bot@1')

    await tabTo('Put live…')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Put v2 of support-bot live' })
    await dialog.waitFor()
    await dialog.locator('ins', { hasText: 'Cite the article that you used' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('v2 of support-bot is live now').waitFor()
    expect(await versionOf(service, 'support-bot')).toBe('support-bot@2')

    await tabTo('Roll back')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Roll back support-bot to v1' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('v1 of support-bot is live now').waitFor()
    // The notes on the draft and on v2 are no longer true, and an undo of what is over would be a second change.
    expect(await page.locator('.toast').allTextContents()).toEqual([expect.stringContaining('v1 of support-bot is live now')])
    expect(await versionOf(service, 'support-bot')).toBe('support-bot@1')

    await page.keyboard.press('z')
    await page.getByText('v2 of support-bot is live again').waitFor()
    expect(await versionOf(service, 'support-bot')).toBe('support-bot@2')
    check()
  })

  test('is rolled back in sight of what both versions did in the last 24 hours', async () => {
    await savePreset(service, 'seen-bot', 'Answer briefly.')
    await savePreset(service, 'seen-bot', 'Answer politely.')
    await chat(service, { model: '@preset/seen-bot@1' })
    await chat(service, { model: '@preset/seen-bot' })
    await chat(service, { model: '@preset/seen-bot' })
    const { page, checkAccessible } = await signedIn(browser, service, '/presets/seen-bot')
    await page.getByRole('button', { name: 'Roll back' }).click()
    const dialog = page.getByRole('dialog', { name: 'Roll back seen-bot to v1' })
    await dialog.getByRole('heading', { name: 'The last 24 hours' }).waitFor()
    const figures = dialog.getByRole('table', { name: 'Figures of the versions' })
    const rows = await figures
      .locator('tbody tr')
      .evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.textContent)))
    expect(rows.toSorted(([left = ''], [right = '']) => left.localeCompare(right))).toEqual([
      ['v1', '1', '0 %', expect.any(String), '$0'],
      ['v2', '2', '0 %', expect.any(String), '$0'],
    ])
    await checkAccessible()
  })

  test('is rolled back on a phone of 390 pixels, in two presses', async () => {
    await savePreset(service, 'phone-bot', 'Answer briefly.')
    await savePreset(service, 'phone-bot', 'Answer politely.')
    const { page, checkAccessible } = await signedIn(browser, service, '/presets/phone-bot', { viewport: { width: 390, height: 844 } })
    await page.getByRole('button', { name: 'Roll back' }).click()
    const dialog = page.getByRole('dialog', { name: 'Roll back phone-bot to v1' })
    await dialog.locator('del', { hasText: 'politely' }).waitFor()
    await checkAccessible()
    await dialog.getByRole('button', { name: 'Roll back to v1' }).click()
    await page.getByText('v1 of phone-bot is live now').waitFor()
    expect(await versionOf(service, 'phone-bot')).toBe('phone-bot@1')
  })

  test('whose draft a colleague overtook: the save is held back, both texts are shown, and nothing is lost', async () => {
    await savePreset(service, 'busy-bot', 'Answer briefly.')
    const { page, expectStatus, checkAccessible } = await signedIn(browser, service, '/presets/busy-bot')
    expectStatus(412)
    await page.getByLabel('System prompt').fill('Answer briefly and politely.')
    await savePreset(service, 'busy-bot', 'Answer at length.')
    await page.getByRole('button', { name: 'Save draft as v2' }).click()
    await page.getByText('v2 of busy-bot was saved by').waitFor()
    await page.getByRole('button', { name: 'See what changed' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('ins', { hasText: 'at length' }).first().waitFor()
    await checkAccessible()
    await page.keyboard.press('Escape')
    expect(await page.getByLabel('System prompt').inputValue()).toBe('Answer briefly and politely.')
    await page.getByRole('button', { name: 'Rebase draft' }).click()
    await page.getByRole('button', { name: 'Save draft as v3' }).click()
    await page.getByText('Saved busy-bot as v3').waitFor()
    const { data } = await manage<{ data: { system_prompt: string } }>(service, '/presets/busy-bot/versions/3')
    expect(data.system_prompt).toBe('Answer briefly and politely.')
  })

  test('a draft outlives the page, the session and the service', async () => {
    await savePreset(service, 'draft-bot', 'Answer briefly.')
    const { page, expectStatus } = await signedIn(browser, service, '/presets/draft-bot')
    expectStatus(401)
    await page.getByLabel('System prompt').fill('A long thought.')
    await page.reload()
    await page.getByText('Draft from v1').waitFor()
    expect(await page.getByLabel('System prompt').inputValue()).toBe('A long thought.')

    const { data: sessions } = await manage<{ data: { id: string }[] }>(service, '/sessions')
    for (const { id } of sessions) await manage(service, `/sessions/${id}`, { method: 'DELETE' })
    await page.getByRole('button', { name: 'Save draft as v2' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('Management key or sign-in link').fill(service.managementKey)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByLabel('System prompt').inputValue()).toBe('A long thought.')
    await page.getByRole('button', { name: 'Save draft as v2' }).click()
    await page.getByText('Saved draft-bot as v2').waitFor()
  })

  test('labels are set and moved, and versions are compared, with what they have in common folded, so that each change is in sight', async () => {
    await savePreset(service, 'label-bot', 'Answer briefly.', { 'x-preset-note': 'the first' })
    await savePreset(service, 'label-bot', 'Answer politely.')
    const { page, checkAccessible, expectStatus } = await signedIn(browser, service, '/presets/label-bot?tab=labels')
    // There is no rollout.
    expectStatus(404)
    await page.getByLabel('New label').fill('staging')
    await page.getByRole('button', { name: 'Add label' }).click()
    await page.getByLabel('Version of staging').selectOption('1')
    await page.getByText('staging is v1 now.').waitFor()
    expect((await chat(service, { model: '@preset/label-bot@staging' })).preset).toBe('label-bot@1')
    await checkAccessible()
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('cell', { name: 'the first' }).waitFor()
    await page.getByRole('region', { name: 'Compare' }).locator('del', { hasText: 'briefly' }).waitFor()
    await checkAccessible()
    const long = Array.from({ length: 60 }, (_, line) => `Rule ${line}.`).join('\n')
    await savePreset(service, 'long-bot', long)
    await savePreset(service, 'long-bot', long.replace('Rule 50', 'Rule fifty'))
    await page.goto(`${service.url}/dashboard/presets/long-bot?tab=history`)
    const folded = page.getByRole('button', { name: '48 lines are the same' })
    await folded.waitFor()
    expect(
      await page.evaluate(`(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.diff-text'))`),
    ).toBe(0)
    await checkAccessible()
    await folded.click()
    await page.locator('.diff-text').getByText('Rule 0.').waitFor()
    await page.goto(`${service.url}/dashboard/presets/support-bot?tab=history&compare=2&with=1`)
    await page.getByRole('link', { name: 'Compare v2 with v1' }).click()
    await page.getByRole('region', { name: 'Compare' }).locator('del', { hasText: 'briefly' }).waitFor()
    expect(new URL(page.url()).searchParams.get('compare')).toBe('1')
  })

  test('can be rolled back after a hundred moves of its labels, and its user is named after a hundred members', async () => {
    for (const text of ['briefly', 'politely']) await savePreset(service, 'moved-bot', `Answer ${text}.`)
    for (let move = 0; move <= 100; move += 1)
      await manage(service, '/presets/moved-bot', { method: 'PATCH', body: { labels: { staging: 1 + (move % 2) } } })
    const people = Array.from({ length: 100 }, (_, number) => `person-${number}`)
    for (const user_ids of [people, ['zoe']]) await manage(service, '/workspaces/default/members/add', { body: { user_ids } })
    await manage(service, '/workspaces/default/members/zoe', { method: 'PATCH', body: { name: 'Zoë Last' } })
    const { key } = await manage<{ key: string }>(service, '/keys', { body: { name: 'of zoe', creator_user_id: 'zoe' } })
    const { id } = await chat({ ...service, inferenceKey: key }, { model: '@preset/moved-bot' })
    const { page, expectStatus, check } = await signedIn(browser, service, '/presets/moved-bot')
    // There is no rollout.
    expectStatus(404)
    await page.getByRole('button', { name: 'Roll back' }).click()
    await page.getByRole('dialog').getByText('v1').first().waitFor()
    await page.goto(`${service.url}/dashboard/requests/${id}`)
    await page.getByText('Zoë Last').waitFor()
    check()
  })

  test('opens any version that the address names, however old, and says where there is none and where no request gets what is saved', async () => {
    for (let number = 1; number <= 102; number += 1) await savePreset(service, 'old-bot', `Answer ${number}.`)
    await manage(service, '/presets/old-bot', { method: 'PATCH', body: { designated_version: 1, status: 'archived' } })
    const { page, expectStatus, check } = await signedIn(browser, service, '/presets/old-bot?version=2')
    const [version, prompt] = [page.getByLabel('Version to begin with'), page.getByLabel('System prompt')]
    await prompt.waitFor()
    expect([await version.inputValue(), await prompt.inputValue()]).toEqual(['2', 'Answer 2.'])
    await page.getByText('not live', { exact: true }).waitFor()
    await prompt.fill('Answer politely.')
    await page.getByRole('button', { name: 'Save draft as v103' }).click()
    await page.getByText('Saved old-bot as v103, a draft: the preset is archived, so no request gets it.').waitFor()
    check()
    expectStatus(404)
    await page.goto(`${service.url}/dashboard/presets/old-bot?version=999`)
    await page.getByRole('status').getByText('old-bot has no version 999: this is v1.').waitFor()
    expect([await version.inputValue(), await prompt.inputValue()]).toEqual(['1', 'Answer 1.'])
  })

  test('opens with its first part where the address names one that there is not, as a request does', async () => {
    await savePreset(service, 'tab-bot', 'Answer politely.')
    const { id } = await chat(service, { model: '@preset/tab-bot' })
    const { page, check } = await signedIn(browser, service, '/presets/tab-bot?tab=versions')
    await page.getByLabel('System prompt').waitFor()
    expect(await page.locator('.tab.current').innerText()).toBe('Edit')
    await page.goto(`${service.url}/dashboard/requests/${id}?tab=usage`)
    await page.getByRole('heading', { name: 'Asked for' }).waitFor()
    expect(await page.locator('.tab.current').innerText()).toBe('Overview')
    check()
  })

  test('is copied as the curl of a call that uses it, which works in a shell as it is, and below it as the one that reads it', async () => {
    const service = await services.start()
    await savePreset(service, 'support-bot', 'Answer politely.')
    const { page, ...visitor } = await signedIn(browser, service, '/presets/support-bot', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const copied = async (label: string): Promise<unknown> => {
      await page.getByRole('button', { name: 'Copy as curl' }).click()
      await page.getByRole('menuitem', { name: label }).waitFor()
      expect(await page.getByRole('menuitem').first().textContent()).toBe('A call that uses the preset')
      await visitor.checkAccessible()
      await page.getByRole('menuitem', { name: label }).click()
      await page.getByText(`Copied as curl: ${label}`).waitFor()
      const { url: PATCHBAY_URL, inferenceKey: INFERENCE_KEY, managementKey: MANAGEMENT_KEY } = service
      const answer = await Bun.$`sh -c ${String(await page.evaluate('navigator.clipboard.readText()'))}`
        .env({ PATH: process.env['PATH'], PATCHBAY_URL, INFERENCE_KEY, MANAGEMENT_KEY })
        .quiet()
      return JSON.parse(answer.stdout.toString())
    }
    expect(await copied('A call that uses the preset')).toMatchObject({ choices: [{ message: { content: 'Hello!' } }] })
    expect(await copied('The call that reads it, for management')).toMatchObject({ data: { slug: 'support-bot' } })
    const { data } = await manage<{ data: readonly { preset_slug: string | null }[] }>(service, '/generations')
    expect(data.map(({ preset_slug: slug }) => slug)).toEqual(['support-bot'])
    visitor.check()
  })
})
