import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'

import { proseAnswer, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { callAs, chat, manage } from './calls.ts'
import { oneProvider } from './one-provider.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()
const upstream = await startFakeUpstream()

describe.skipIf(BROWSER_PATH === null)('one request', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test('a sentence of the service about a provider, such as that the connection broke, is not shown as words of the provider', async () => {
    const own = await services.start({
      config: oneProvider(upstream).replace('good: {', 'fast-one: {').replace('provider: good', 'provider: fast-one'),
    })
    upstream.script((exchange) => exchange.reset())
    const { id } = await chat(own, { model: 'fake/good' })
    upstream.script((exchange) => exchange.answer(503, JSON.stringify({ error: { message: 'The engine burst.' } })))
    const { id: spoken } = await chat(own, { model: 'fake/good' })
    const { page, check } = await signedIn(browser, own, `/requests/${id}`)
    const cause = page.getByRole('group', { name: 'Cause' })
    await cause.getByText('The connection to the provider failed').waitFor()
    expect(await cause.textContent()).not.toContain('said')
    await page.goto(`${own.url}/dashboard/requests/${spoken}`)
    await cause.getByText('Good said: ').waitFor()
    await page.getByRole('region', { name: 'Timeline' }).getByText('503 provider_overloaded: The engine burst.').waitFor()
    const provider = page.getByRole('region', { name: 'Request', exact: true }).getByRole('link', { name: 'Good', exact: true })
    // Filters name a provider by its slug.
    expect(new URL((await provider.getAttribute('href')) ?? '', own.url).searchParams.get('q')).toBe('provider:fast-one')
    check()
  })

  test('its cause stands first: the provider that failed, its sentence, and every attempt with what became of it, also on paper', async () => {
    const failed = await fetch(`${service.api}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.inferenceKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sandbox/error/provider_overloaded',
        models: ['sandbox/error/rate_limit_exceeded'],
        max_tokens: 50,
        messages: [{ role: 'user', content: 'x' }],
      }),
    })
    await failed.text()
    const id = failed.headers.get('x-generation-id')!
    const { page, ...visitor } = await signedIn(browser, service, `/requests/${id}`)
    visitor.expectStatus(404)
    const cause = page.getByRole('group', { name: 'Cause' })
    await cause.waitFor()
    expect(await cause.textContent()).toMatch(/rate_limit_exceeded.*2 attempts were made, all failed.*Sandbox said: .*Rate limit reached/s)
    const timeline = page.getByRole('region', { name: 'Timeline' })
    expect(await timeline.getByRole('listitem').allTextContents()).toEqual([
      expect.stringMatching(/Sandbox.*503 provider_overloaded.*overloaded/s),
      expect.stringMatching(/Sandbox.*429 rate_limit_exceeded.*Rate limit/s),
    ])
    expect(await timeline.locator('.timeline-axis > span').first().textContent()).toBe('0')
    await visitor.checkAccessible()
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    const parts = [timeline, page.getByRole('table'), page.getByRole('link', { name: 'Presets' })]
    const shown = await Promise.all(parts.map((part) => part.isVisible()))
    const color = await page.evaluate('getComputedStyle(document.body).color')
    await page.emulateMedia({ media: 'screen' })
    // The dark text of the light theme, since paper is white.
    expect({ shown, color }).toEqual({ shown: [true, false, false], color: 'rgb(21, 24, 31)' })
  })

  test('the list has the columns that a person chose, the times of UTC where a person wants them, and keys by their names', async () => {
    const made = await manage<{ key: string; data: { hash: string } }>(service, '/keys', { body: { name: 'ada laptop' } })
    await chat(service, { model: 'sandbox/echo' })
    const { id } = await chat({ ...service, inferenceKey: made.key }, { model: 'sandbox/lorem' })
    const { page, ...visitor } = await signedIn(browser, service, '/settings', { timezoneId: 'Asia/Tokyo' })
    await page.getByLabel('Times').selectOption('UTC')
    await page.getByRole('link', { name: 'Requests', exact: true }).click()
    const row = page.locator(`[data-row="${id}"]`)
    await row.waitFor()
    const at = (await row.locator('time').getAttribute('datetime')) ?? ''
    expect(await row.locator('time').textContent()).toContain(at.slice(11, 19))

    const heads = page.getByRole('table', { name: 'Requests', exact: true }).getByRole('columnheader')
    expect(await heads.allTextContents()).toContain('Tries')
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Tries' }).click()
    await visitor.checkAccessible()
    await page.keyboard.press('Escape')
    expect(await heads.allTextContents()).not.toContain('Tries')
    await page.reload()
    await row.waitFor()
    expect(await heads.allTextContents()).not.toContain('Tries')

    const filter = page.getByLabel('Filter')
    await filter.fill('key:"ada laptop"')
    await page.keyboard.press('Enter')
    await page.getByText('These are all.').waitFor()
    await until(async () => (await page.locator('[data-row]').count()) === 1, 'the one request of the key')
    expect(await page.locator('[data-row]').getAttribute('data-row')).toBe(id)
    await filter.fill('')
    await page.keyboard.press('Enter')
    await page.locator('[data-row]').nth(1).waitFor()
    await filter.fill(`key:${made.key.slice(-4)}`)
    await page.keyboard.press('Enter')
    await until(async () => (await page.locator('[data-row]').count()) === 1, 'the one request of the key')
    await filter.fill('key:nobody')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('no key is called so').waitFor()
    await visitor.checkAccessible()
  })

  test('a request whose contents are kept is copied as curl, and repeats itself in a shell', async () => {
    const service = await services.start()
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    const said = `It's "quoted" $HOME \\ and 木`
    const { id } = await chat(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: said }] })
    const { page, check } = await signedIn(browser, service, `/requests/${id}?tab=request`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await page.getByRole('button', { name: 'Show the contents' }).click()
    await page.getByText(said).waitFor()
    await page.locator('#content').getByRole('button', { name: 'Copy as curl' }).last().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const curl = String(await page.evaluate('navigator.clipboard.readText()'))
    const answer = await Bun.$`sh -c ${curl}`
      .env({ PATH: process.env['PATH'], PATCHBAY_URL: service.url, INFERENCE_KEY: service.inferenceKey })
      .quiet()
    expect(JSON.parse(answer.stdout.toString())).toMatchObject({ choices: [{ message: { content: said } }] })
    const { data } = await manage<{ data: unknown[] }>(service, '/generations')
    expect(data).toHaveLength(2)
    check()
  })

  test('Sent upstream shows the body for the provider at the version that served it, and says that it is a dry run of now', async () => {
    upstream.script((exchange) => exchange.answer(200, proseAnswer('On its way.'), { 'content-type': 'application/json' }))
    const service = await services.start({
      config: `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: k }
models:
  fake/one: { endpoints: [{ provider: fake, model: one, prices: { prompt: 3, completion: 7 } }] }
`,
    })
    const save = (temperature: number) =>
      manage(service, '/presets/support-bot/chat/completions', { body: { model: 'fake/one', temperature, max_tokens: 40 } })
    await save(0.25)
    const unkept = await chat(service, { model: '@preset/support-bot' })
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    const kept = await chat(service, { model: '@preset/support-bot', messages: [{ role: 'user', content: 'Where is my parcel?' }] })
    await save(0.75)
    const { page, ...visitor } = await signedIn(browser, service, `/requests/${kept.id}`)
    await page.getByRole('link', { name: 'Sent upstream' }).click()
    await page.getByRole('button', { name: 'Show the contents' }).click()
    await page.getByText('No body for a provider is kept. This is a dry run').waitFor()
    const body = page.locator('#content .code-block')
    await body.getByText('Where is my parcel?').waitFor()
    expect(JSON.parse((await body.textContent()) ?? '')).toMatchObject({ temperature: 0.25, max_tokens: 40 })
    await page.getByText('To Fake (one)').waitFor()
    await visitor.checkAccessible()

    visitor.expectStatus(404)
    await page.goto(`${service.url}/dashboard/requests/${unkept.id}?tab=upstream`)
    await page.getByRole('button', { name: 'Show the contents' }).click()
    await page.getByText('The settings alone were kept').waitFor()
    expect(JSON.parse((await body.textContent()) ?? '')).toMatchObject({ temperature: 0.25, messages: [{ role: 'user', content: '…' }] })
    const { data } = await manage<{ data: unknown[] }>(service, '/generations')
    expect(data).toHaveLength(2)
    await visitor.checkAccessible()
  })

  test('a body of two megabytes with a picture is shown by its size, and none of its data is in the page', async () => {
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    const picture = 'iVBORw0KGgo'.padEnd(2_000_000, 'QUJD')
    const { id } = await chat(service, {
      model: 'sandbox/echo',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
          ],
        },
      ],
    })
    const { page, check } = await signedIn(browser, service, `/requests/${id}?tab=request`)
    await page.getByRole('button', { name: 'Show the contents' }).click()
    await page.getByText(/\[1\.4 MB of data\]/).waitFor()
    await page.getByRole('button', { name: 'As JSON' }).click()
    await page.getByText(/\[1\.4 MB of data\]/).waitFor()
    expect(Number(await page.evaluate('document.body.textContent.length'))).toBeLessThan(100_000)
    check()
  })

  test('what became of each can be told without colours: another mark and another word', async () => {
    const service = await services.start()
    await chat(service, { model: 'sandbox/echo' })
    await chat(service, { model: 'sandbox/error/provider_overloaded' })
    const left = new AbortController()
    const answer = await callAs(service.inferenceKey)(
      `${service.api}/chat/completions`,
      { body: { model: 'sandbox/slow', stream: true, messages: [{ role: 'user', content: 'x' }] } },
      left.signal,
    )
    await answer.body?.getReader().read()
    left.abort()
    await until(
      async () => (await manage<{ data: unknown[] }>(service, '/generations?status=cancelled')).data.length === 1,
      'the record of the request that was left',
    )
    const { page, ...visitor } = await signedIn(browser, service, '/requests')
    await page.locator('[data-row]').nth(2).waitFor()
    const seen = await page.locator('[data-row] .status').allTextContents()
    expect(seen.toSorted((one, other) => (one < other ? -1 : 1))).toEqual(['▲Error', '●OK', '◐Left'])
    await visitor.checkAccessible()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const marks = await page.locator('[data-row] .status > [aria-hidden]').all()
      const pictures: GreyPicture[] = []
      for (const mark of marks) pictures.push(await greyPicture(page, await mark.screenshot()))
      for (const [index, { contrast, dark }] of pictures.entries()) {
        expect(contrast).toBeGreaterThan(3)
        for (const other of pictures.slice(index + 1)) {
          const differs = dark.filter((isDark, at) => isDark !== other.dark[at]).length
          expect(differs / dark.length).toBeGreaterThan(0.05)
        }
      }
    }
  })
})

interface GreyPicture {
  /** The contrast of its darkest and its lightest point, as WCAG defines it. */
  readonly contrast: number
  /** For each point of a 24 by 24 square: true if it is nearer to the darkest point than to the lightest. */
  readonly dark: readonly boolean[]
}

/** A picture without colours. */
const greyPicture = async (page: Page, png: Buffer): Promise<GreyPicture> =>
  await page.evaluate<GreyPicture>(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png.toString('base64')}'
    await image.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: 24, height: 24 })
    const context = canvas.getContext('2d')
    context.drawImage(image, 0, 0, 24, 24)
    const { data } = context.getImageData(0, 0, 24, 24)
    const light = (channel) => (channel <= 10 ? channel / 3294.6 : ((channel / 255 + 0.055) / 1.055) ** 2.4)
    const greys = Array.from({ length: 576 }, (_, at) => 0.2126 * light(data[4 * at]) + 0.7152 * light(data[4 * at + 1]) + 0.0722 * light(data[4 * at + 2]))
    const [least, most] = [Math.min(...greys), Math.max(...greys)]
    return { contrast: (most + 0.05) / (least + 0.05), dark: greys.map((grey) => grey - least < most - grey) }
  })()`)
