import { beforeAll, describe, expect, test } from 'bun:test'

import { proseAnswer, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()
const upstream = await startFakeUpstream()

const ITEMS = ['Where is my parcel?', 'A refund for my <b>parcel</b>, please.'].map((content) => ({
  messages: [{ role: 'user', content }],
}))

interface State {
  readonly data: { readonly id: string; readonly state: string; readonly passed: boolean | null }
}

/** Runs one to its end; answers echo the input and so contain its words. */
const evaluate = async (service: RunningService, slug: string, body: Readonly<Record<string, unknown>>): Promise<State['data']> => {
  const { data } = await manage<State>(service, `/presets/${slug}/evaluations`, { body: { items: ITEMS, ...body } })
  for (;;) {
    const { data: now } = await manage<State>(service, `/presets/${slug}/evaluations/${data.id}`)
    if (now.state !== 'running') return now
    await Bun.sleep(20)
  }
}

const contains = (text: string) => ({ checks: [{ type: 'contains', text }] })

const PRICED = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: sk-upstream-secret-0123456789 }
models:
  fake/one: { endpoints: [{ provider: fake, model: up, prices: { prompt: 1, completion: 1 }, max_completion_tokens: 1000 }] }
`

const saveTest = (service: RunningService, slug: string, name: string): Promise<unknown> =>
  manage(service, `/presets/${slug}/tests`, { body: { name, messages: [{ role: 'user', content: `Where is my ${name}?` }] } })

describe.skipIf(BROWSER_PATH === null)('evaluations of a preset', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start({ config: PRICED })
  })

  test('are listed with what they came to, shown item by item, and compared: what became worse comes first', async () => {
    await savePreset(service, 'listed-bot', 'Answer briefly.')
    const { page, checkAccessible, check } = await signedIn(browser, service, '/presets/listed-bot?tab=evaluations')
    await page.getByText('No evaluations yet').waitFor()
    expect(await evaluate(service, 'listed-bot', { version: 1, name: 'parcels', ...contains('parcel') })).toMatchObject({ passed: true })
    expect(await evaluate(service, 'listed-bot', { version: 1, name: 'refunds', ...contains('refund') })).toMatchObject({ passed: false })
    await page.reload()
    const list = page.getByRole('table', { name: 'Evaluations' })
    await list.getByRole('row', { name: /^parcels of v1.* passed/ }).waitFor()
    await list.getByRole('row', { name: /^refunds of v1.* failed/ }).waitFor()
    await page.getByText('v1 passes 50').waitFor()
    // The newest evaluation is shown, and the texts of models as plain text.
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
    await page.goto(`${service.url}/dashboard/presets/listed-bot?tab=evaluations&evaluation=evaluation-that-is-gone`)
    await page.getByText('The evaluation that the address names is not in this list').waitFor()
    await page.goBack()
    // The address contains the compared evaluations.
    await page.reload()
    await page.getByText('0 better, 1 worse').waitFor()
    check()
  })

  test('say why a judge gave no score, and lead to the request of each answer', async () => {
    await savePreset(service, 'judged-bot', 'Answer briefly.')
    await evaluate(service, 'judged-bot', {
      version: 1,
      checks: [{ type: 'judge', model: 'sandbox/echo', rubric: 'It is polite.', min_score: 4 }],
    })
    const { page, check } = await signedIn(browser, service, '/presets/judged-bot?tab=evaluations')
    const item = page.getByRole('table', { name: 'Items' }).getByRole('row', { name: /Where is my parcel/ })
    await item.getByText('judge: The judge did not answer as it was asked to.').waitFor()
    await item.getByRole('link', { name: 'Request' }).click()
    await page.getByRole('heading', { name: /^Request gen-/ }).waitFor()
    check()
  })

  test('can be required: a version without one does not go live, and says what to do; with one it does', async () => {
    await savePreset(service, 'held-bot', 'Answer briefly.')
    const { page, checkAccessible, expectStatus } = await signedIn(browser, service, '/presets/held-bot?tab=settings')
    await page.getByRole('button', { name: 'Require an evaluation' }).click()
    await page.getByText('A version goes live only once it has passed an evaluation').waitFor()
    await checkAccessible()
    await manage(service, '/presets/held-bot/chat/completions?designate=false', {
      body: { model: 'sandbox/echo', messages: [{ role: 'system', content: 'Answer at length.' }] },
    })
    expectStatus(412)
    await page.getByRole('link', { name: 'History' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Put v2 live' }).click()
    const dialog = page.getByRole('dialog', { name: 'Put v2 of held-bot live' })
    await dialog.getByRole('button', { name: 'Put v2 live' }).click()
    await dialog.getByText('patchbay eval held-bot --version 2').waitFor()
    expect(await dialog.getByRole('link', { name: 'Evaluate v2' }).getAttribute('href')).toContain('tab=evaluations&start=2')
    expect((await chat(service, { model: '@preset/held-bot' })).preset).toBe('held-bot@1')
    await evaluate(service, 'held-bot', { version: 2, ...contains('parcel') })
    await dialog.getByRole('button', { name: 'Put v2 live' }).click()
    await page.getByText('v2 of held-bot is live now').waitFor()
    expect((await chat(service, { model: '@preset/held-bot' })).preset).toBe('held-bot@2')
  })

  test('one is started from a draft over saved tests, says before what it may cost, shows how far it is, is stopped and resumed', async () => {
    await manage(service, '/presets/cited-bot/chat/completions', { body: { model: 'fake/one' } })
    for (const name of ['parcel', 'refund']) await saveTest(service, 'cited-bot', name)
    const held = Promise.withResolvers<void>()
    upstream.script(async (exchange) => {
      const said = String(exchange.body.messages.at(-1)?.content)
      if (said.includes('refund')) await held.promise
      await exchange.answer(200, proseAnswer(`About ${said}`), { 'content-type': 'application/json' })
    })
    const { page, tabTo, checkAccessible, check } = await signedIn(browser, service, '/presets/cited-bot')
    await page.getByLabel('System prompt').fill('Cite the article.')
    await page.getByRole('button', { name: 'Evaluate…' }).click()
    const dialog = page.getByRole('dialog', { name: 'New evaluation of cited-bot' })
    expect(await dialog.getByLabel('Version', { exact: true }).inputValue()).toBe('2')
    expect(await dialog.getByLabel('Beside it').inputValue()).toBe('1')
    await dialog.getByText('2: parcel, refund').waitFor()
    // Two items, two versions, at most 1,000 tokens at a dollar per million.
    await dialog.getByText(/2 items, 4 requests\. It costs \$0\.0[\d.$]+ to \$0\.[\d.$]+$/).waitFor()
    expect(upstream.exchanges).toHaveLength(0)
    await checkAccessible()
    // The address contains the open form, and the rest is done with the keyboard only.
    await page.reload()
    await dialog.getByLabel('Beside it').focus()
    await page.keyboard.press('n')
    await tabTo('Text')
    await page.keyboard.type('ABOUT')
    await tabTo('Name')
    await page.keyboard.type('nightly')
    await page.keyboard.press('Enter')
    await page.getByText('The evaluation of v2 runs over 2 items.').waitFor()
    await page.getByRole('status').getByText('1 of 2 items are done.').waitFor()
    await page.getByRole('row', { name: /^nightly of v2.* running/ }).waitFor()
    await checkAccessible()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('row', { name: /^nightly of v2.* cancelled/ }).waitFor()
    held.resolve()
    await page.getByRole('button', { name: 'Resume' }).click()
    const again = page.getByRole('dialog', { name: 'Resume the evaluation' })
    await again.getByLabel('Budget in dollars').fill('2')
    await checkAccessible()
    await again.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('row', { name: /^nightly of v2.* passed/ }).waitFor()
    await page.getByText('v2 passes 100').waitFor()
    check()
  })

  test('one is started over recorded requests where contents are kept, and over a file that somebody uploads', async () => {
    await savePreset(service, 'recorded-bot', 'Answer briefly.')
    const { page, expectStatus, checkAccessible, check } = await signedIn(browser, service, '/presets/recorded-bot?tab=evaluations')
    await page.getByRole('button', { name: 'New evaluation' }).click()
    const dialog = page.getByRole('dialog', { name: 'New evaluation of recorded-bot' })
    expectStatus(400)
    await dialog.getByText('There are none yet').waitFor()
    await dialog.getByText('nothing was found to run').waitFor()
    await dialog.getByLabel('Recorded requests').check()
    await dialog.getByText('Contents are not kept in this workspace.').waitFor()

    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    await chat(service, { model: '@preset/recorded-bot' })
    await page.reload()
    await dialog.getByLabel('Recorded requests').check()
    await dialog.getByLabel('What was answered then is what each item expects').check()
    await dialog.getByText('1 item, 1 request. It costs $0.').waitFor()
    await checkAccessible()
    await dialog.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('row', { name: /^Evaluation of v1.* passed 1 / }).waitFor()

    await page.getByRole('button', { name: 'New evaluation' }).click()
    await dialog.getByLabel('A file').check()
    const upload = (name: string, text: string): Promise<void> =>
      dialog.getByLabel('File', { exact: true }).setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) })
    await upload('set.jsonl', '{"messages":[]}\nno <b>JSON</b>')
    await dialog.getByRole('alert').getByText('line 2').waitFor()
    await dialog.getByRole('button', { name: 'Start' }).click()
    expect(await dialog.isVisible()).toBe(true)
    await upload('set.json', JSON.stringify({ items: ITEMS, checks: [] }))
    await dialog.getByText('2 items. Not taken from the file: checks.').waitFor()
    await dialog.getByRole('button', { name: 'Remove check 1' }).click()
    await dialog.getByRole('status').getByText('Add a check').waitFor()
    await dialog.getByRole('button', { name: 'Add a check' }).click()
    await dialog.getByLabel('Text').fill('parcel')
    await dialog.getByLabel('Name').fill('by file')
    await dialog.getByText('2 items, 2 requests.').waitFor()
    await checkAccessible()
    await dialog.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('row', { name: /^by file of v1.* passed 2 / }).waitFor()
    check()
  })

  test('one is started on a phone of 390 pixels: nothing of the form is cut', async () => {
    await savePreset(service, 'phone-bot', 'Answer briefly.')
    await saveTest(service, 'phone-bot', 'parcel')
    const { page, check } = await signedIn(browser, service, '/presets/phone-bot?tab=evaluations&start=1', {
      viewport: { width: 390, height: 780 },
    })
    const dialog = page.getByRole('dialog', { name: 'New evaluation of phone-bot' })
    const check1 = dialog.getByLabel('Check 1', { exact: true })
    // Texts are read at once without waiting, so the form must be present first.
    await check1.waitFor()
    const types = await check1.getByRole('option').allTextContents()
    expect(types).not.toEqual([])
    for (const type of types) {
      await check1.selectOption(type)
      expect({ type, wide: await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth) }).toEqual({ type, wide: 0 })
    }
    await check1.selectOption('contains')
    await dialog.getByLabel('Text').fill('parcel')
    await dialog.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('row', { name: /^Evaluation of v1.* passed/ }).waitFor()
    check()
  })
})
