/** Trying models and presets, seen from both ends: what the page shows, and what the provider receives. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { dataEvent, FINISH_CHUNK, proseChunk, say, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()
const upstream = await startFakeUpstream()

const config = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: k }
models:
  fake/one: { endpoints: [{ provider: fake, model: one, prices: { prompt: 3, completion: 7 } }] }
`

const USE = { usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } }

describe.skipIf(BROWSER_PATH === null)('on the page', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start({ config })
  })

  test('Run both streams the live version and the unsaved draft side by side, each with its time, tokens, cost and warnings', async () => {
    await manage(service, '/presets/tried/responses', {
      body: { model: 'fake/one', instructions: 'Answer briefly.', truncation: 'auto' },
    })
    const release = Promise.withResolvers<void>()
    upstream.script(async (exchange) => {
      const [first] = exchange.body.messages
      await exchange.head(200, { 'content-type': 'text/event-stream' })
      await exchange.piece(dataEvent(proseChunk(`Asked: ${String(first?.content)}`)))
      await release.promise
      await exchange.piece(
        dataEvent(proseChunk(' And so on.')) + dataEvent(FINISH_CHUNK.replace(/\}$/, `,${JSON.stringify(USE).slice(1)}`)),
      )
      await exchange.piece('data: [DONE]\n\n')
      await exchange.done()
    })
    const { page, ...visitor } = await signedIn(browser, service, '/presets/tried')
    await page.getByLabel('System prompt').fill('Answer at length.')
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    await page.getByRole('button', { name: 'Run both' }).click()
    const live = page.getByRole('region', { name: 'v1 live' })
    const draft = page.getByRole('region', { name: 'Draft' })
    // Neither has ended, and both show what has arrived so far.
    await live.getByText('Asked: Answer briefly.').waitFor()
    await draft.getByText('Asked: Answer at length.').waitFor()
    for (const answer of [live, draft]) expect(await answer.getAttribute('aria-busy')).toBe('true')
    release.resolve()
    for (const answer of [live, draft]) {
      await answer.getByText('And so on.').waitFor()
      await answer.getByText('7 → 3 tokens').waitFor()
      await answer.getByText('$0.000042').waitFor()
      await answer.getByText(/first token \d/).waitFor()
      await answer
        .getByRole('list', { name: /\d warning/ })
        .getByText('truncation')
        .waitFor()
    }
    const { data } = await manage<{ data: { latest_version: number } }>(service, '/presets/tried')
    expect(data.latest_version).toBe(1)
    await visitor.checkAccessible()
  })

  test('Stop ends the request at the provider, and what has come stays', async () => {
    upstream.script(async (exchange) => {
      await exchange.head(200, { 'content-type': 'text/event-stream' })
      await exchange.piece(dataEvent(proseChunk('The first words')))
    })
    const { page, check } = await signedIn(browser, service, '/playground?model=fake/one')
    await page.getByLabel('Message 1', { exact: true }).fill('Count.')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('The first words').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped.').waitFor()
    expect(await upstream.last.gone).toBeGreaterThan(0)
    expect(await page.getByText('The first words').isVisible()).toBe(true)
    await until(
      async () => (await manage<{ data: unknown[] }>(service, '/generations?status=cancelled')).data.length === 1,
      'the record of the request that was stopped',
    )
    check()
  })

  test.each([
    ['refused', 'reject', '@preset/locked-reject', 'chat'],
    ['overruled', 'keep', '@preset/locked-keep@1', 'responses'],
  ])('the playground marks what a preset locks, and says that a request that sets it is %s', async (fate, onLocked, model, dialect) => {
    upstream.script(say('well'))
    const slug = `locked-${onLocked}`
    await manage(service, `/presets/${slug}/chat/completions`, {
      body: { model: 'fake/one', max_tokens: 50, locked: ['max_tokens', 'tools'], on_locked: onLocked },
    })
    await manage(service, `/presets/${slug}/chat/completions`, {
      body: { model: 'fake/one', max_tokens: 60, locked: model.endsWith('@1') ? [] : ['max_tokens', 'tools'], on_locked: onLocked },
    })
    const { page, ...visitor } = await signedIn(browser, service, `/playground?interface=${dialect}&model=${model}`)
    visitor.expectStatus(400)
    await page.getByText(`${model} keeps to itself: max_tokens, tools. A request that sets one of them is ${fate}.`).waitFor()
    const field = page.getByLabel('Max tokens')
    // Both locked settings have a field.
    expect(await page.getByText(`Locked by ${model}: a request that sets it is ${fate}.`).count()).toBe(2)
    await visitor.checkAccessible()
    await field.fill('99')
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const answer = page.getByRole('region', { name: model })
    if (fate === 'refused') await answer.getByRole('alert').getByText('max_tokens').waitFor()
    else {
      await answer.getByText('well').waitFor()
      expect(upstream.last.body).toMatchObject({ max_tokens: 50 })
      await answer.getByRole('list', { name: '1 warning' }).getByText('max_output_tokens').waitFor()
    }
    await page.getByLabel('Model', { exact: true }).fill('fake/one')
    await page.getByText('keeps to itself').waitFor({ state: 'detached' })
    visitor.check()
  })
})
