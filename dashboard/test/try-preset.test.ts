/** Tries a draft with earlier input: every saved test, and the conversation of a request. */
import { describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('a draft', () => {
  test('is run with every saved test at once, and with the conversation of a request whose texts are stored', async () => {
    const service = await services.start()
    await savePreset(service, 'support-bot', 'Answer politely.')
    for (const [name, content] of [
      ['parcel', 'Where is my parcel?'],
      ['password', 'How do I reset it?'],
    ])
      await manage(service, '/presets/support-bot/tests', {
        body: { name, messages: [{ role: 'user', content }], expected: `about ${name}` },
      })
    const { page, ...visitor } = await signedIn(browser, service, '/presets/support-bot')
    await page.getByText('2 saved tests').waitFor()
    await page.getByRole('button', { name: 'Run all' }).click()
    await page.getByRole('region', { name: 'parcel' }).getByText('Where is my parcel?').waitFor()
    await page.getByRole('region', { name: 'password' }).getByText('How do I reset it?').waitFor()
    await page.getByText('Expected: about password').waitFor()
    await page.getByRole('region', { name: 'password' }).getByRole('link', { name: 'Request' }).waitFor()
    await visitor.checkAccessible()

    await page.getByRole('button', { name: 'Delete the test password' }).click()
    await page.getByText('1 saved test', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('2 saved tests').waitFor()

    await page.getByRole('button', { name: 'From a request…' }).click()
    await page.getByText('No request with support-bot has its texts stored').waitFor()
    await page.keyboard.press('Escape')
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    const { id } = await chat(service, { model: '@preset/support-bot', messages: [{ role: 'user', content: 'Asked by a client' }] })
    await until(
      async () => (await manage<{ data: unknown[] }>(service, '/generations?has_content=true')).data.length > 0,
      'the texts of the request',
    )
    await page.reload()
    await page.getByRole('button', { name: 'From a request…' }).click()
    await visitor.checkAccessible()
    await page.getByRole('button', { name: id }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Message 1', { exact: true }).inputValue()).toBe('Asked by a client')
    visitor.check()
  })
})
