/** The ten most common tasks with the keyboard only, starting from the first screen. Changing a preset is in presets.test.ts. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { say, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser, type Visitor } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const go = async ({ page }: Visitor, key: string, title: string): Promise<void> => {
  await page.keyboard.press('g')
  await page.keyboard.press(key)
  await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  // The title of a new screen takes the focus.
  await page.locator('#content h1:focus').waitFor()
}

describe.skipIf(BROWSER_PATH === null)('by keyboard alone', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })
  const signIn = (): Promise<Visitor> => signedIn(browser, service, '', { permissions: ['clipboard-read', 'clipboard-write'] })

  test('why did this request fail?', async () => {
    const visitor = await signIn()
    const { id } = await chat(service, { model: 'sandbox/error/provider_overloaded' })
    const { page, check } = visitor
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('A screen, a name').waitFor()
    await page.keyboard.type(id)
    await page.getByRole('option', { name: id }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('group', { name: 'Cause' }).waitFor()
    await page.locator('#content h1:focus').waitFor()
    check()
  })

  test('who spends what? From a group to its requests', async () => {
    const visitor = await signIn()
    await chat(service, { model: 'sandbox/lorem' })
    await go(visitor, 's', 'Spend')
    await visitor.page.getByRole('link', { name: 'First inference key' }).waitFor()
    await visitor.tabTo('First inference key')
    await visitor.page.keyboard.press('Enter')
    await visitor.page.getByRole('link', { name: 'sandbox/lorem' }).waitFor()
    await visitor.tabTo('Their requests')
    await visitor.page.keyboard.press('Enter')
    await visitor.page.locator('[data-row]').first().waitFor()
    visitor.check()
  })

  test('give a colleague a key with $20', async () => {
    const visitor = await signIn()
    const { page } = visitor
    await go(visitor, 'k', 'Keys')
    await page.keyboard.press('c')
    await page.getByLabel('Name').waitFor()
    await page.keyboard.type('ada laptop')
    await visitor.tabTo('Limit in dollars')
    await page.keyboard.type('20')
    await page.keyboard.press('Enter')
    await page.getByLabel('The key, shown this once').waitFor()
    await visitor.tabTo('Copy')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    await visitor.tabTo('Done')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'ada laptop' }).waitFor()
    visitor.check()
  })

  test('which provider is down?', async () => {
    const upstream = await startFakeUpstream()
    upstream.script((exchange) => exchange.answer(500, JSON.stringify({ error: { message: 'The engine burst.' } })))
    const down = await services.start({
      config: `
providers:
  good: { name: Good, dialects: [openai-chat], base_url: "${upstream.url}", api_key: sk-upstream-secret-0123456789 }
models:
  fake/good: { endpoints: [{ provider: good, model: up }] }`,
    })
    await chat(down, { model: 'fake/good' })
    const visitor = await signedIn(browser, down)
    await visitor.page.locator('.trouble').waitFor()
    await visitor.tabTo(/^Good.*The engine burst/s)
    await visitor.page.keyboard.press('Enter')
    await visitor.page.getByRole('table', { name: 'Providers' }).getByText('Fails every time').waitFor()
    upstream.script(say('well'))
    visitor.check()
  })

  test('what does this preset do? Try it', async () => {
    const visitor = await signIn()
    const { page } = visitor
    await savePreset(service, 'support-bot', 'Answer politely.')
    await go(visitor, 'p', 'Presets')
    await page.getByRole('link', { name: 'support-bot' }).waitFor()
    await visitor.tabTo('support-bot')
    await page.keyboard.press('Enter')
    await page.getByLabel('Message 1', { exact: true }).waitFor()
    await visitor.tabTo('Message 1')
    await page.keyboard.type('Where is my parcel?')
    await page.keyboard.press('Control+Enter')
    await page.getByText(/\d+ → \d+ tokens/).waitFor()
    visitor.check()
  })

  test('which model is quicker or cheaper for this prompt?', async () => {
    const visitor = await signIn()
    const { page } = visitor
    await go(visitor, 'y', 'Playground')
    await visitor.tabTo('Message 1')
    await page.keyboard.type('Count to three.')
    await visitor.tabTo('Model')
    await page.keyboard.type('sandbox/echo')
    await visitor.tabTo('Add column')
    await page.keyboard.press('Enter')
    await page.getByLabel('Model of column 2').waitFor()
    await page.keyboard.type('sandbox/lorem')
    await page.keyboard.press('Control+Enter')
    for (const model of ['sandbox/echo', 'sandbox/lorem'])
      await page
        .getByRole('region', { name: model })
        .getByText(/\d+ → \d+ tokens/)
        .waitFor()
    visitor.check()
  })

  test('connect a client', async () => {
    const visitor = await signIn()
    const { page } = visitor
    await go(visitor, 'u', 'Set up')
    await visitor.tabTo('Create')
    await page.keyboard.press('Enter')
    await page.getByText('The key stands in the snippet below').waitFor()
    await visitor.tabTo('Copy')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(String(await page.evaluate('navigator.clipboard.readText()'))).toContain('pb_inf_')
    visitor.check()
  })

  test('does the guardrail catch this?', async () => {
    const visitor = await signIn()
    const { page } = visitor
    await manage(service, '/guardrails', {
      body: { name: 'pii', content_filter_builtins: [{ slug: 'email', action: 'redact' }] },
    })
    await go(visitor, 'l', 'Guardrails')
    await page.getByRole('link', { name: 'pii' }).waitFor()
    await visitor.tabTo('pii')
    await page.keyboard.press('Enter')
    await page.getByLabel('Text', { exact: true }).waitFor()
    await visitor.tabTo('Text')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('Write to ada@example.com')
    await page.getByText('Write to [EMAIL]').waitFor()
    visitor.check()
  })

  test('who changed this, when?', async () => {
    const visitor = await signIn()
    const { page } = visitor
    await savePreset(service, 'support-bot', 'Answer politely.')
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('A screen, a name').waitFor()
    await page.keyboard.type('audit')
    await page.getByRole('option', { name: 'Audit' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
    await visitor.tabTo('Object')
    await page.keyboard.type('preset')
    await page.getByText('preset.create').or(page.getByText('support-bot')).first().waitFor()
    visitor.check()
  })

  test('? lists the keys, also after Escape has left a filter, which keeps its text; and single keys can be switched off', async () => {
    const visitor = await signIn()
    const { page } = visitor
    await go(visitor, 'r', 'Requests')
    await page.keyboard.press('/')
    await page.keyboard.type('status:error')
    await page.keyboard.press('Escape')
    expect(await page.getByLabel('Filter', { exact: true }).inputValue()).toBe('status:error')
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keys of the keyboard' })
    await dialog.getByText('Go to Requests').waitFor()
    await visitor.checkAccessible()
    await visitor.tabTo(/^Single keys act/)
    await page.keyboard.press('Space')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await page.keyboard.press('Control+k')
    // The palette opened, since its shortcut is not a single key.
    await page.getByRole('dialog', { name: 'Search and commands' }).waitFor()
    expect(await dialog.count()).toBe(0)
    visitor.check()
  })
})
