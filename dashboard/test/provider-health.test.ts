/** The screen to open when a provider fails. */
import { describe, expect, test } from 'bun:test'

import { say, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage } from './calls.ts'
import { open } from './going-on.ts'
import { oneProvider } from './one-provider.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const TIMES = { ttft_p50: 412, ttft_p95: 700, ttft_p99: 1900 }

describe.skipIf(BROWSER_PATH === null)('providers', () => {
  test('one that fails has its failures by half hour, its key, and the presets and keys that are affected, whose dialog wraps', async () => {
    const upstream = await startFakeUpstream()
    const service = await services.start({ config: oneProvider(upstream) })
    await manage(service, '/presets/support-bot/chat/completions', {
      body: { model: 'fake/good', messages: [{ role: 'system', content: 'Be brief.' }] },
    })
    upstream.script(say('well'))
    const { page, ...visitor } = await signedIn(browser, service, '/models')
    await page.getByRole('img', { name: 'Good: no requests in 24 hours' }).waitFor()
    await chat(service, { model: '@preset/support-bot' })
    await page.getByRole('img', { name: 'Good: no failure in 24 hours' }).waitFor()
    expect(await page.getByText(/affected/).count()).toBe(0)

    upstream.script((exchange) => exchange.answer(500, JSON.stringify({ error: { message: 'The engine burst.' } })))
    await chat(service, { model: 'fake/good' })
    await page.getByRole('img', { name: /^Good: failures in 1 of 48 half hours, the last one at / }).waitFor()
    const row = page.getByRole('table', { name: 'Providers' }).getByRole('row').filter({ hasText: 'Good' })
    await row.getByRole('cell', { name: /500 server\s*The engine burst\.$/ }).waitFor()
    await row.getByRole('button', { name: '1 preset, 1 key affected' }).click()
    const dialog = page.getByRole('dialog', { name: 'Who is affected by Good' })
    await dialog.getByText('They asked fake/good of Good in the last 24 hours.').waitFor()
    await dialog.getByRole('table', { name: 'Keys that are affected' }).getByRole('link', { name: 'First inference key' }).waitFor()
    await visitor.checkAccessible()
    // Its button is in a cell that does not.
    expect(await dialog.evaluate((element) => getComputedStyle(element).whiteSpace)).toBe('normal')
    await dialog.getByRole('table', { name: 'Presets that are affected' }).getByRole('link', { name: 'support-bot' }).click()
    await page.getByRole('heading', { name: 'support-bot', level: 1 }).waitFor()
    visitor.check()
  })

  test('one with half of its answers failed has the mark of a part, a word and the number, after its last failure too, on each screen', async () => {
    const upstream = await startFakeUpstream()
    const service = await services.start({ config: oneProvider(upstream) })
    upstream.script((exchange) => exchange.answer(500, JSON.stringify({ error: { message: 'The engine burst.' } })))
    await chat(service, { model: 'fake/good' })
    upstream.script(say('well'))
    await chat(service, { model: 'fake/good' })
    const { page, ...visitor } = await signedIn(browser, service, '/settings')
    // Ten minutes later it is ok again.
    const { data } = await manage<{ data: readonly { endpoints: readonly object[] }[] }>(service, '/providers/health')
    const later = data.map((one) => ({ ...one, status: 'ok', endpoints: one.endpoints.map((own) => ({ ...own, status: 'ok' })) }))
    await page.route('**/api/v1/providers/health', (route) => route.fulfill({ json: { data: later } }))
    const half = (text: string) => page.getByRole('row').filter({ hasText: text }).locator('.status.left')
    await page.goto(`${service.url}/dashboard`)
    await page.getByRole('row', { name: 'Good Failed at times 50.0 %' }).waitFor()
    expect(await half('Good').innerText()).toMatch(/^◐/)
    await visitor.checkAccessible()
    await open(page, '/models')
    await half('Good').getByText('Failed at times').waitFor()
    await page.getByRole('row').filter({ hasText: 'Good' }).getByRole('cell', { name: '50.0 %' }).waitFor()
    expect(await page.locator('.health-strip .part').count()).toBe(1)
    await visitor.checkAccessible()
    await open(page, '/models?tab=models')
    await page.getByRole('row').filter({ hasText: 'fake/good' }).getByText('50.0 % failed').last().waitFor()
    expect(await half('fake/good').last().innerText()).toMatch(/^◐/)
    await visitor.checkAccessible()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('rowheader', { name: 'fake/good' }).getByText('50.0 % failed').waitFor()
    await visitor.checkAccessible()
    visitor.check()
  })

  test('the lists of providers and of models have the middle and the slow end of the time to the first token', async () => {
    const upstream = await startFakeUpstream()
    const service = await services.start({ config: oneProvider(upstream) })
    upstream.script(say('well'))
    await chat(service, { model: 'fake/good' })
    const { page, ...visitor } = await signedIn(browser, service, '/settings')
    for (const [tab, name, dimension] of [
      ['providers', 'Good', 'provider'],
      ['models', 'fake/good', 'model'],
    ] as const) {
      const used = await manage<{ groups: readonly object[] }>(service, `/usage?group_by=${dimension}`)
      expect(used.groups).toMatchObject([Object.fromEntries(Object.keys(TIMES).map((time) => [time, expect.any(Number)]))])
      await page.route(
        (url) => url.pathname === '/api/v1/usage' && url.searchParams.get('group_by') === dimension,
        (route) => route.fulfill({ json: { ...used, groups: used.groups.map((group) => ({ ...group, ...TIMES })) } }),
      )
      await open(page, `/models?tab=${tab}`)
      await page.getByRole('columnheader', { name: 'First token, p50, p99' }).waitFor()
      await page.getByRole('row').filter({ hasText: name }).getByRole('cell', { name: '412 ms, 1.9 s' }).waitFor()
      await visitor.checkAccessible()
    }
  })

  test('all are tested by one button, and each has its own outcome', async () => {
    const upstream = await startFakeUpstream()
    const service = await services.start({
      config: oneProvider(upstream, 'prices: { prompt: 0.000001, completion: 0.000005 }')
        .replace('sandbox: false', 'sandbox: true')
        .replace(
          'models:',
          `  other: { name: Other, dialects: [openai-chat], base_url: "${upstream.url}", api_key: sk-upstream-secret-0123456789 }\nmodels:\n  fake/other: { endpoints: [{ provider: other, model: burst, prices: { prompt: 0.000001, completion: 0.000005 } }] }`,
        ),
    })
    upstream.script((exchange) =>
      exchange.body.model === 'burst'
        ? exchange.answer(500, JSON.stringify({ error: { message: 'The engine burst.' } }))
        : say('w')(exchange),
    )
    const { page, ...visitor } = await signedIn(browser, service, '/models')
    await page.getByRole('button', { name: 'Test all' }).click()
    const row = (name: string) => page.getByRole('table', { name: 'Providers' }).getByRole('row').filter({ hasText: name })
    await row('Sandbox').getByText(/, \$0/).waitFor()
    await row('Good').getByRole('status').getByText(', <$0.000001').waitFor()
    await row('Other').getByRole('status').getByText('500 server').waitFor()
    expect(await row('Other').getByRole('status').textContent()).toMatch(/500 server\s+The engine burst\.$/)
    // Its one model fails on purpose.
    expect(await row('Sandbox Spare').getByRole('status').textContent()).toBe('')
    await visitor.checkAccessible()
    visitor.check()
  })

  test('a test that the service refuses by itself is no failure of the provider: it says that nothing was tested, and why', async () => {
    const upstream = await startFakeUpstream()
    const service = await services.start({ config: oneProvider(upstream) })
    await manage(service, '/workspaces/default/budgets/monthly', { method: 'PUT', body: { limit_usd: 5 } })
    const { page, ...visitor } = await signedIn(browser, service, '/models')
    await page.getByRole('button', { name: 'Test all' }).click()
    const outcome = page.getByRole('table', { name: 'Providers' }).getByRole('status')
    await outcome.getByText('Not tested').waitFor()
    await outcome.getByText(/No price is configured for fake\/good/).waitFor()
    expect(await outcome.locator('.failed, .status.error').count()).toBe(0)
    await visitor.checkAccessible()
    visitor.check()
  })

  test('a provider whose failures touched nobody has that as plain text, which leads nowhere', async () => {
    const upstream = await startFakeUpstream()
    const service = await services.start({ config: oneProvider(upstream).replace('sandbox: false', 'sandbox: true') })
    upstream.script((exchange) => exchange.answer(500, JSON.stringify({ error: { message: 'The engine burst.' } })))
    await chat(service, { model: 'fake/good', models: ['sandbox/echo'] })
    const { page, ...visitor } = await signedIn(browser, service, '/models')
    await page.getByText('0 presets, 0 keys affected').waitFor()
    expect(await page.getByRole('button', { name: /affected/ }).count()).toBe(0)
    expect(await page.getByText('Only the sandbox answers').count()).toBe(0)
    await visitor.checkAccessible()
    visitor.check()
  })

  test('while only the sandbox is there, the list of providers says how to add one', async () => {
    const service = await services.start()
    const { page, ...visitor } = await signedIn(browser, service)
    await page.getByRole('link', { name: 'Add a provider' }).click()
    await page.getByText('To add a provider, set its key, such as OPENAI_API_KEY').waitFor()
    await page.getByRole('table', { name: 'Providers' }).getByRole('link', { name: 'Sandbox', exact: true }).waitFor()
    await visitor.checkAccessible()
    visitor.check()
  })
})
