/** The cost of one request, line by line, and what a preset's editor says of its locked fields. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { proseAnswer, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()
const upstream = await startFakeUpstream()
const engine = await startFakeUpstream()

const config = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: k }
models:
  fake/one: { endpoints: [{ provider: fake, model: one, prices: { prompt: 3, completion: 7 } }] }
tools:
  web_search:
    engines:
      house: { kind: searxng, url: "${engine.url.slice(0, -'/v1'.length)}", price_per_request: 0.005 }
`

interface RecordWire {
  readonly total_cost: number
  readonly native_tokens_prompt: number
  readonly native_tokens_completion: number
}

describe.skipIf(BROWSER_PATH === null)('on the page', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start({ config })
    upstream.script((exchange) => exchange.answer(200, proseAnswer('Priced.'), { 'content-type': 'application/json' }))
    engine.script((exchange) =>
      exchange.answer(200, JSON.stringify({ query: 'q', results: [{ url: 'https://a.example/', title: 'A', content: 'B', engine: 'x' }] })),
    )
  })

  test.each([
    ['a priced model', { model: 'fake/one' }, 1],
    [
      'two searches of a loop',
      {
        model: 'sandbox/agent',
        tools: [{ type: 'service:web_search' }],
        sandbox: {
          script: [
            { call: { name: 'service:web_search', arguments: { query: 'one' } } },
            { call: { name: 'service:web_search', arguments: { query: 'two' } } },
            { text: 'Done.' },
          ],
        },
      },
      3,
    ],
  ])('the cost lines of %s add up to its total, and its tokens are those of the record', async (_, body, lines) => {
    const { id } = await chat(service, body)
    const { page, check } = await signedIn(browser, service, `/requests/${id}?tab=cost`)
    const cells = (table: string) => page.getByRole('table', { name: table }).locator('tbody tr')
    await cells('Cost').first().waitFor()
    const amounts = (await cells('Cost').locator('td').allInnerTexts()).map((text) => Math.round(Number(text.slice(1)) * 1e9))
    const { data } = await manage<{ data: RecordWire }>(service, `/generation?id=${id}`)
    expect(data.total_cost).toBeGreaterThan(0)
    expect(amounts).toHaveLength(lines + 1)
    expect(amounts.slice(0, -1).reduce((sum, amount) => sum + amount, 0)).toBe(amounts.at(-1) ?? 0)
    expect(amounts.at(-1)).toBe(Math.round(data.total_cost * 1e9))
    const tokens = (await cells('Tokens').allInnerTexts()).join('\n')
    expect(tokens).toMatch(new RegExp(`Input\\s+${data.native_tokens_prompt}\\b`))
    expect(tokens).toMatch(new RegExp(`Output\\s+${data.native_tokens_completion}\\b`))
    check()
  })

  test.each([
    ['reject', 'Locked: a request that sets it is refused.'],
    ['keep', 'Locked: a request that sets it is overruled.'],
  ])('the editor marks locked fields, and says what a request that sets them gets: %s', async (onLocked, words) => {
    const slug = `locked-${onLocked}`
    await manage(service, `/presets/${slug}/chat/completions`, {
      body: { model: 'sandbox/echo', temperature: 0.5, locked: ['temperature'], on_locked: onLocked },
    })
    const { page, checkAccessible } = await signedIn(browser, service, `/presets/${slug}`)
    await page.getByText(words).waitFor()
    expect(await page.getByText(words).count()).toBe(1)
    expect(await page.getByLabel('Temperature').inputValue()).toBe('0.5')
    await checkAccessible()
  })
})
