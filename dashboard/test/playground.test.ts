/** The playground besides its answers: the charged key, settings of a column, contents of a link, saved tests, the request as a program. */
import { beforeAll, describe, expect, test } from 'bun:test'

import type { Page } from 'playwright-core'

import { proseAnswer, say, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { lateScriptWith } from './late-script.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()
const upstream = await startFakeUpstream()

const config = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: k }
models:
  fake/one: { endpoints: [{ provider: fake, model: one, prices: { prompt: 3, completion: 7 } }] }
  fake/two: { endpoints: [{ provider: fake, model: two, prices: { prompt: 3, completion: 7 } }] }
`

const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] }
const COPIED = 'navigator.clipboard.readText()'

describe.skipIf(BROWSER_PATH === null)('the playground', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start({ config })
  })

  test('says which key pays, and after a run how much of its limit is spent', async () => {
    upstream.script(say('well'))
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/one')
    await page.getByText('Charged to your own key, which the first run makes.').waitFor()
    await visitor.checkAccessible()
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('region', { name: 'fake/one' }).getByRole('link', { name: 'Request' }).waitFor()
    await page.getByText(/Charged to playground \(.+\) \$0\.\d+ of \$5\.00/).waitFor({ timeout: 20_000 })
    await visitor.checkAccessible()
    await page.getByRole('link', { name: /^playground \(/ }).click()
    await page.getByText('$5.00').first().waitFor()
    visitor.check()
  })

  test('each column has settings of its own over those of the request, and the answers are compared word by word', async () => {
    const seen: Record<string, unknown>[] = []
    upstream.script(async (exchange) => {
      seen.push(exchange.body)
      await exchange.answer(200, proseAnswer(exchange.body.temperature === 1 ? 'Your parcel is lost' : 'Your parcel is near'))
    })
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/one&model2=fake/one&columns=2')
    await page.getByLabel('Stream').uncheck()
    await page.getByLabel('Temperature').fill('0.5')
    await page.getByRole('button', { name: 'Settings of column 2' }).click()
    await page.getByRole('dialog').getByLabel('Temperature').fill('1')
    await visitor.checkAccessible()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('Compare the answers').click()
    await page.locator('.answers-diff del', { hasText: /^near$/ }).waitFor()
    await page.locator('.answers-diff ins', { hasText: /^lost$/ }).waitFor()
    expect(new Set(seen.map(({ temperature }) => temperature))).toEqual(new Set([0.5, 1]))
    await page.getByRole('region', { name: 'fake/one' }).first().getByText('Attempts').click()
    await page.getByText(/Fake · 200/).waitFor()
    await visitor.checkAccessible()
  })

  test('a temperature typed as 0,7 is refused under the field, and what was sent before stays, instead of a temperature of 7', async () => {
    const seen: unknown[] = []
    upstream.script(async (exchange) => {
      seen.push(exchange.body.temperature)
      await exchange.answer(200, proseAnswer('well'))
    })
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/one')
    await page.getByLabel('Stream').uncheck()
    await page.getByLabel('Temperature').fill('0.5')
    await page.getByLabel('Temperature').selectText()
    await page.keyboard.type('0,7')
    await page
      .getByText('"0,7" is no number. Write it as 20 or 0.7. Until it is mended, the request has the value before this change.')
      .waitFor()
    expect(await page.getByLabel('Temperature').inputValue()).toBe('0,7')
    await visitor.checkAccessible()
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    const run = page.getByRole('button', { name: 'Run', exact: true })
    await run.click()
    await page.getByText('well').waitFor()
    await page.getByLabel('Temperature').fill('0.7')
    await page.getByText('is no number').waitFor({ state: 'detached' })
    await run.click()
    await until(() => Promise.resolve(seen.length === 2), 'the second request')
    // The comma came after a 0, which was a temperature while it stood alone.
    expect(seen).toEqual([0, 0.7])
    visitor.check()
  })

  test('an answer keeps the name of the model that gave it, and moves with its column when one before it is removed', async () => {
    upstream.script(async (exchange) => exchange.answer(200, proseAnswer(`from ${exchange.body.model}`)))
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/one&model2=fake/one&model3=fake/two&columns=3')
    await page.getByLabel('Stream').uncheck()
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('from two').waitFor()
    await page.getByRole('button', { name: 'Remove column 2' }).click()
    await page.getByLabel('Model of column 3').waitFor({ state: 'detached' })
    const second = page.locator('.column').nth(1)
    expect(await second.getByLabel('Model of column 2').inputValue()).toBe('fake/two')
    expect(await second.locator('.answer-body').innerText()).toBe('from two')
    await second.getByLabel('Model of column 2').fill('fake/three')
    expect(await second.getByRole('region', { name: 'fake/two' }).locator('.answer-body').innerText()).toBe('from two')
    await visitor.checkAccessible()
  })

  test('a column that is removed while its answer arrives ends its request, and the others go on', async () => {
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    upstream.script(async (exchange) => {
      if (exchange.body.model === 'two') {
        await exchange.gone
        left.resolve()
        return
      }
      await goesOn
      await exchange.answer(200, proseAnswer('from one'))
    })
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/one&model2=fake/two&columns=2')
    await page.getByLabel('Stream').uncheck()
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('Waiting for the first token…').nth(1).waitFor()
    await page.getByRole('button', { name: 'Remove column 2' }).click()
    await left.promise
    goOn()
    await page.getByText('from one').waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    visitor.check()
  })

  test('a link holds models and parameters, and neither texts nor tools; whoever opens it has the same', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/one&model2=fake/two&columns=2', clipboard)
    await page.getByLabel('System prompt').fill('A secret prompt')
    await page.getByLabel('Message 1', { exact: true }).fill('A secret message')
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    const tools = [{ type: 'function', function: { name: 'secret_tool', parameters: {} } }]
    await page.getByLabel('Settings as JSON').fill(JSON.stringify({ temperature: 0.25, reasoning: { effort: 'low' }, tools }))
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('menuitem', { name: 'Copy link: models and settings' }).click()
    await page.getByText('It holds no texts. Nor does it hold the system prompt, tools.').waitFor()
    const link = String(await page.evaluate(COPIED))
    expect(decodeURIComponent(link)).not.toContain('secret')
    const { page: other, ...reader } = await signedIn(browser, service, link.slice(`${service.url}/dashboard`.length))
    await other.getByLabel('Model of column 2').waitFor()
    expect(await other.getByLabel('Model of column 2').inputValue()).toBe('fake/two')
    expect(await other.getByLabel('Temperature').inputValue()).toBe('0.25')
    await other.getByText('reasoning').first().waitFor()
    expect(await other.getByLabel('Message 1', { exact: true }).inputValue()).toBe('')
    expect(await other.getByLabel('Tools', { exact: true }).inputValue()).toBe('')
    reader.check()
    visitor.check()
  })

  test('a reload keeps what was written, in this tab alone and until the person signs out', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/one')
    await page.getByLabel('System prompt').fill('A secret prompt')
    await page.getByLabel('Message 1', { exact: true }).fill('A secret message')
    await page.getByLabel('Temperature').fill('0.5')
    await page.getByLabel('Tools', { exact: true }).fill('[{"name":"secret_tool"}]')
    await page.reload()
    await until(
      async () => (await page.getByLabel('Message 1', { exact: true }).inputValue()) === 'A secret message',
      'the message that was written',
    )
    expect(await page.getByLabel('System prompt').inputValue()).toBe('A secret prompt')
    expect(await page.getByLabel('Temperature').inputValue()).toBe('0.5')
    expect(await page.getByLabel('Tools', { exact: true }).inputValue()).toContain('secret_tool')
    expect(String(await page.evaluate('JSON.stringify(localStorage)'))).not.toContain('secret')
    const tab = await page.context().newPage()
    await tab.goto(page.url())
    await tab.getByText('Charged to').waitFor()
    expect(await tab.getByLabel('Message 1', { exact: true }).inputValue()).toBe('')
    await tab.close()
    // An opened link has its own settings.
    await page.goto(`${service.url}/dashboard/playground?model=fake/one&settings=${encodeURIComponent('{"temperature":0.75}')}`)
    await page.getByText('Charged to').waitFor()
    expect(await page.getByLabel('Temperature').inputValue()).toBe('0.75')
    // A response that is still pending at sign-out is rightly a 401.
    await visitor.settled()
    await page.getByRole('button', { name: 'Owner' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Patchbay' }).waitFor()
    await page.reload()
    expect(String(await page.evaluate('JSON.stringify({ ...sessionStorage })'))).not.toContain('secret')
    visitor.check()
  })

  test('a reload keeps what was changed of a request that is replayed', async () => {
    upstream.script(say('well'))
    const service = await services.start({ config })
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    const { id } = await chat(service, { model: 'fake/one' })
    await until(
      async () => (await manage<{ data: unknown[] }>(service, '/generations?has_content=true')).data.length > 0,
      'the texts of the request',
    )
    const { page, check, settled } = await signedIn(browser, service, `/playground?request=${id}`)
    const message = page.getByLabel('Message 1', { exact: true })
    await until(async () => (await message.inputValue()) === 'Where is my parcel?', 'the message of the request')
    await message.fill('Where is my bill?')
    await page.reload()
    await page.getByText('Charged to').waitFor()
    await settled()
    expect(await message.inputValue()).toBe('Where is my bill?')
    check()
  })

  test('settings are typed as JSON before the editor is loaded, and the editor that comes takes nothing from who types', async () => {
    const loading = Promise.withResolvers<void>()
    const script = `/dashboard/assets/${lateScriptWith('cm-focused')}`
    const before = async (page: Page): Promise<void> => {
      await page.route(`**${script}`, async (route) => {
        await loading.promise
        await route.continue()
      })
    }
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/one', { before })
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    const field = page.getByLabel('Settings as JSON')
    await field.selectText()
    await page.keyboard.type('{"temperature": 0.')
    loading.resolve()
    await page.evaluate(`import('${script}').then(() => undefined)`)
    await page.keyboard.type('25}')
    expect(await field.inputValue()).toBe('{"temperature": 0.25}')
    // As when the person switches to another window and comes back.
    await field.evaluate((element) => element.dispatchEvent(new FocusEvent('focusout', { bubbles: true })))
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.getByLabel('Message 1', { exact: true }).focus()
    await page.locator('.cm-content').getByText('0.25').waitFor()
    await page.getByRole('button', { name: 'Form', exact: true }).click()
    expect(await page.getByLabel('Temperature').inputValue()).toBe('0.25')
    visitor.check()
  })

  test('the name of a model is typed into its middle, as fast as the keys come, and a run at once asks that model', async () => {
    const asked: unknown[] = []
    upstream.script(async (exchange) => {
      asked.push(exchange.body.model)
      await exchange.answer(200, proseAnswer('well'))
    })
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/e')
    const model = page.getByLabel('Model', { exact: true })
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    await page.getByLabel('Stream').uncheck()
    await model.press('End')
    await model.press('ArrowLeft')
    // Both keystrokes are within one task of the page, before the address can follow.
    await page.evaluate(`document.execCommand('insertText', false, 'o'), document.execCommand('insertText', false, 'n')`)
    expect(await model.inputValue()).toBe('fake/one')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('region', { name: 'fake/one' }).getByRole('link', { name: 'Request' }).waitFor()
    expect(asked).toEqual(['one'])
    expect(new URL(page.url()).searchParams.get('model')).toBe('fake/one')
    visitor.check()
  })

  test('texts are shared as the request that holds them, and only where they are stored', async () => {
    upstream.script(say('well'))
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/one', clipboard)
    const share = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Share' }).click()
      await page.getByRole('menuitem', { name: 'Copy link with the texts' }).click()
    }
    await share()
    await page.getByText('Run it first').waitFor()
    const run = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('region', { name: 'fake/one' }).getByRole('link', { name: 'Request' }).waitFor()
    }
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    await run()
    await share()
    await page.getByText('The texts of this request are not stored.').waitFor()
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    await run()
    await until(
      async () => (await manage<{ data: unknown[] }>(service, '/generations?has_content=true')).data.length > 0,
      'the texts of the request',
    )
    await share()
    await page.getByText('Copied a link to this request with its texts.').waitFor()
    const link = String(await page.evaluate(COPIED))
    expect(decodeURIComponent(link)).not.toContain('parcel')
    await page.goto('about:blank')
    await page.goto(link)
    await until(
      async () => (await page.getByLabel('Message 1', { exact: true }).inputValue()) === 'Where is my parcel?',
      'the message of the request',
    )
    visitor.check()
  })

  test('Save as test keeps the conversation and its tools with a preset', async () => {
    await savePreset(service, 'support-bot', 'Answer politely.')
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=@preset/support-bot')
    const save = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Save as test' }).click()
      await page.getByLabel('Name of the test').fill('parcel')
    }
    await save()
    await page.getByRole('dialog').getByRole('button', { name: 'Save as test' }).click()
    await page.getByText('Write a message first').waitFor()
    await visitor.checkAccessible()
    await page.keyboard.press('Escape')
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    const tools = [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }]
    await page.getByLabel('Settings as JSON').fill(JSON.stringify({ tools }))
    await save()
    await page.getByLabel('Expected answer').fill('On its way')
    await page.getByRole('dialog').getByRole('button', { name: 'Save as test' }).click()
    await page.getByText('Saved parcel with the tests of support-bot.').waitFor()
    const { data } = await manage<{ data: unknown[] }>(service, '/presets/support-bot/tests')
    expect(data).toMatchObject([
      { name: 'parcel', messages: [{ role: 'user', content: 'Where is my parcel?' }], tools, expected: 'On its way' },
    ])
    visitor.check()
  })

  test('Code copies the request as a program', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/one&interface=messages', clipboard)
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Code' }).click()
    await page.getByRole('menuitem', { name: 'Copy as Anthropic SDK for Python' }).click()
    await page.getByText('Copied the request as Anthropic SDK for Python.').waitFor()
    expect(String(await page.evaluate(COPIED))).toContain('client.messages.create(')
    await visitor.checkAccessible()
  })

  test('Code, Dry run and Save take the column that is chosen', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=fake/one&model2=sandbox/echo&columns=2', clipboard)
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    const modelCopied = async (): Promise<string> => {
      await page.getByRole('button', { name: 'Code' }).click()
      await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
      await page.getByText('Copied the request as curl.').last().waitFor()
      return (JSON.parse(/-d '(.*)'$/s.exec(String(await page.evaluate(COPIED)))?.[1] ?? '') as { model: string }).model
    }
    expect(await modelCopied()).toBe('fake/one')
    await page.getByLabel('Column that Share, Code, Dry run and Save take').selectOption('Column 2: sandbox/echo')
    expect(await modelCopied()).toBe('sandbox/echo')
    await visitor.checkAccessible()
  })

  test.each([
    ['chat', 'Chat', { type: 'function', function: { name: 'find_parcel' } }],
    ['responses', 'Responses', { type: 'function', name: 'find_parcel' }],
    ['messages', 'Messages', { name: 'find_parcel', input_schema: { type: 'object' } }],
  ])(
    'tools are written as JSON, checked as they are typed, and go into the request, its curl and the preset: %s',
    async (dialect, title, tool) => {
      const { page, ...visitor } = await signedIn(browser, service, '/playground?model=sandbox/echo', clipboard)
      await page.getByRole('button', { name: title, exact: true }).click()
      await page.getByLabel('Stream').uncheck()
      await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
      const tools = page.getByLabel('Tools', { exact: true })
      await tools.fill('[{')
      await page.getByText(/This is no JSON.*the request has the tools before this change/).waitFor()
      await visitor.checkAccessible()
      await tools.fill(JSON.stringify([dialect === 'messages' ? { type: 'function', function: { name: 'one' } } : { name: 'one' }]))
      await page.getByText(/^Tool 1 lacks/).waitFor()
      await tools.fill('')
      await page.getByRole('button', { name: 'Insert an example' }).click()
      expect(JSON.parse(await tools.inputValue())).toMatchObject([tool])
      await page.getByText(/^Tool 1 lacks/).waitFor({ state: 'detached' })
      await visitor.checkAccessible()

      await page.getByRole('button', { name: 'Code' }).click()
      await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
      await page.getByText('Copied the request as curl.').waitFor()
      const curl = String(await page.evaluate(COPIED))
      expect(curl).toContain('-H "Authorization: Bearer $INFERENCE_KEY"')
      expect(JSON.parse(/-d '(.*)'$/s.exec(curl)?.[1] ?? '')).toMatchObject({ tools: [tool] })

      const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().startsWith(service.api))
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      expect((await sent).postDataJSON()).toMatchObject({ tools: [tool] })
      await page.getByRole('region', { name: 'sandbox/echo' }).getByRole('link', { name: 'Request' }).waitFor()

      // The name is looked up first, which gives this status.
      visitor.expectStatus(404)
      await page.getByRole('button', { name: 'Save as preset…' }).click()
      await page.getByLabel('Slug').fill(`parcels-${dialect}`)
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.getByText(`Created parcels-${dialect}.`).waitFor()
      const { data } = await manage<{ data: { config: { tools: unknown[] } } }>(service, `/presets/parcels-${dialect}/versions/1`)
      expect(data.config.tools).toMatchObject([tool])
      visitor.check()
    },
  )
})
