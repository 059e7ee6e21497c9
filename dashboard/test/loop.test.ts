import { beforeAll, describe, expect, test } from 'bun:test'

import type { Locator } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('from a request to a preset', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
  })

  test('a request is found, replayed in the playground, changed, saved as a preset, put to use and found again', async () => {
    const { id } = await chat(service, {
      model: 'sandbox/echo',
      temperature: 0.3,
      messages: [
        { role: 'system', content: 'Answer politely.' },
        { role: 'user', content: 'Where is my parcel?' },
      ],
    })
    const { page, check, expectStatus } = await signedIn(browser, service)
    expectStatus(404)
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('A screen, a name').fill(id)
    await page.getByRole('option', { name: id }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Replay in playground' }).click()
    const system = page.getByRole('textbox', { name: 'System prompt' })
    await expectValue(system, 'Answer politely.')
    await expectValue(page.getByLabel('Message 1', { exact: true }), 'Where is my parcel?')
    await expectValue(page.getByLabel('Temperature'), '0.3')
    await system.fill('Answer politely and briefly.')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('region', { name: 'sandbox/echo' }).getByText('tokens').waitFor()
    await page.getByRole('button', { name: 'Save as preset…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Slug').fill('support bot')
    await dialog.getByText('Used as @preset/support-bot.').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'support-bot' }).waitFor()
    const used = await chat(service, { model: '@preset/support-bot' })
    expect(used.preset).toBe('support-bot@1')
    await page.getByRole('link', { name: 'Used by' }).click()
    await page.getByRole('table', { name: 'Keys that used the preset' }).waitFor()
    check()
  })

  test('Make a preset keeps the model, the settings and the system prompt', async () => {
    const { id } = await chat(service, {
      model: 'sandbox/echo',
      temperature: 0.3,
      messages: [
        { role: 'system', content: 'Cite.' },
        { role: 'user', content: 'x' },
      ],
    })
    const { page, expectStatus, checkAccessible } = await signedIn(browser, service, `/requests/${id}`)
    expectStatus(404)
    await page.getByRole('button', { name: 'Make a preset' }).click()
    await page.getByLabel('Slug').fill('cited')
    await checkAccessible()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'cited' }).waitFor()
    const { data } = await manage<{ data: { designated_version: { system_prompt: string; config: unknown } } }>(service, '/presets/cited')
    expect(data.designated_version).toMatchObject({ system_prompt: 'Cite.', config: { model: 'sandbox/echo', temperature: 0.3 } })
  })
})

describe.skipIf(BROWSER_PATH === null)('the playground', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test.each(['chat', 'responses', 'messages'])('streams two models side by side on %s, with tokens and cost', async (dialect) => {
    const { page, checkAccessible } = await signedIn(
      browser,
      service,
      `/playground?interface=${dialect}&model=sandbox/echo&columns=2&model2=sandbox/reasoning`,
    )
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    await page.keyboard.press('Control+Enter')
    for (const name of ['sandbox/echo', 'sandbox/reasoning']) {
      const answer = page.getByRole('region', { name })
      await answer.getByText(/\d+ → \d+ tokens/).waitFor()
      await answer.getByRole('link', { name: 'Request' }).waitFor()
    }
    expect(await page.getByRole('region', { name: 'sandbox/echo' }).textContent()).toContain('Where is my parcel?')
    await checkAccessible()
  })

  test('stops an answer where it is, and what is shown stays', async () => {
    const { page, check } = await signedIn(browser, service, '/playground?model=sandbox/slow')
    await page.getByLabel('Message 1', { exact: true }).fill('Count.')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped.').waitFor()
    check()
  })

  test.each(['chat', 'responses', 'messages'])(
    'shows calls of tools on %s and goes on with results that are written by hand',
    async (dialect) => {
      const { page, check } = await signedIn(browser, service, `/playground?interface=${dialect}&model=sandbox/tools`)
      const schema = { type: 'object', properties: { city: { type: 'string' } } }
      const tool =
        dialect === 'chat'
          ? { type: 'function', function: { name: 'weather', parameters: schema } }
          : dialect === 'responses'
            ? { type: 'function', name: 'weather', parameters: schema }
            : { name: 'weather', input_schema: schema }
      await page.getByLabel('Message 1', { exact: true }).fill('Weather?')
      await page.getByRole('button', { name: 'JSON' }).click()
      const editor = page.getByRole('textbox', { name: 'Settings as JSON' })
      // The plain field stays while it has the focus, so the editor must be loaded first.
      await page.locator('.cm-editor').waitFor()
      // At a bracket its pair is marked; text that replaces a marked selection must have no colours of its own.
      await editor.press('Home')
      await editor.locator('.cm-matchingBracket').first().waitFor()
      await editor.fill(JSON.stringify({ tools: [tool] }))
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByLabel('Result of weather').fill('18 degrees')
      await page.getByRole('button', { name: 'Answer and go on' }).click()
      await page.getByText('their results').waitFor()
      await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
      expect(await page.getByRole('region', { name: 'sandbox/tools' }).getByRole('alert').count()).toBe(0)
      check()
    },
  )

  test('a dry run shows the merged request, who would be asked and what it may cost, and calls nobody', async () => {
    const unused = await services.start()
    const { page, checkAccessible } = await signedIn(browser, unused, '/playground?model=sandbox/echo')
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Dry run' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/Asked in this order: Sandbox \(sandbox\/echo\)/).waitFor()
    await dialog.getByText(/tokens in; it costs/).waitFor()
    await checkAccessible()
    const { data } = await manage<{ data: unknown[] }>(unused, '/generations')
    expect(data).toEqual([])
  })
})

const expectValue = (field: Locator, value: string): Promise<void> =>
  until(async () => (await field.inputValue()) === value, `the value ${value}`)
