/** The page says why something fails to somebody who was called at night, and the next step is one click away. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { dataEvent, proseChunk, say, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { callAs, chat, manage } from './calls.ts'
import { oneProvider } from './one-provider.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()
const upstream = await startFakeUpstream()

describe.skipIf(BROWSER_PATH === null)('somebody who was called at night', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start({ config: oneProvider(upstream) })
  })

  test('finds the version of a preset that fails since it went live: its name on Overview, its figures beside the way back', async () => {
    const save = (system: string) =>
      manage(service, '/presets/support-bot/chat/completions', {
        body: { model: 'fake/good', messages: [{ role: 'system', content: system }] },
      })
    await save('Be kind.')
    upstream.script(say('well'))
    for (let turn = 0; turn < 3; turn += 1) await chat(service, { model: '@preset/support-bot' })
    await save('Be rude.')
    upstream.script((exchange) => exchange.answer(400, JSON.stringify({ error: { message: 'Be polite.' } })))
    for (let turn = 0; turn < 2; turn += 1) await chat(service, { model: '@preset/support-bot' })
    const { page, ...visitor } = await signedIn(browser, service)
    await page
      .getByRole('link', { name: /invalid_request support-bot@2, fake\/good/ })
      .first()
      .waitFor()
    await visitor.checkAccessible()
    await page.goto(`${service.url}/dashboard/presets/support-bot?tab=history`)
    const row = (version: string) =>
      page
        .getByRole('table', { name: 'Versions' })
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader', { name: version }) })
    await row('v2').getByRole('cell', { name: '100 %' }).waitFor()
    await row('v1').getByRole('cell', { name: '0 %', exact: true }).waitFor()
    await row('v1').getByRole('button', { name: 'Roll back to v1' }).waitFor()
    const moves = page.getByRole('table', { name: 'What was live when' })
    expect(await moves.getByRole('rowheader').allInnerTexts()).toEqual([
      expect.stringMatching(/\d\d:\d\d:\d\d$/),
      expect.stringMatching(/\d\d:\d\d:\d\d$/),
    ])
    await visitor.checkAccessible()
    await row('v2').getByRole('link', { name: '2', exact: true }).click()
    await page.getByText('2 found').waitFor()
    visitor.check()
  })

  test('sees the version that is live after a roll back, and is not offered to put the bad one live again', async () => {
    for (const system of ['Be kind.', 'Be rude.'])
      await manage(service, '/presets/rolled-bot/chat/completions', {
        body: { model: 'fake/good', messages: [{ role: 'system', content: system }] },
      })
    const { page, ...visitor } = await signedIn(browser, service, '/presets/rolled-bot')
    const prompt = page.getByLabel('System prompt')
    await prompt.waitFor()
    expect(await prompt.inputValue()).toBe('Be rude.')
    await page.getByRole('button', { name: 'Roll back' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back to v1' }).click()
    await page.getByText('v1 of rolled-bot is live now').waitFor()
    await visitor.settled()
    expect([await prompt.inputValue(), await page.getByRole('button', { name: 'Put live…' }).count()]).toEqual(['Be kind.', 0])
    visitor.check()
  })

  test('reads that an answer broke off after it had begun, and what to do about it in the row of its error', async () => {
    const begun = Promise.withResolvers<void>()
    upstream.script(async (exchange) => {
      await exchange.head(200, { 'content-type': 'text/event-stream' })
      await exchange.piece(dataEvent(proseChunk('Your parcel ')))
      await begun.promise
      exchange.end()
    })
    const body = { model: 'fake/good', stream: true, messages: [{ role: 'user', content: 'Where is my parcel?' }] }
    const answer = await callAs(service.inferenceKey)(`${service.api}/chat/completions`, { body })
    const decoder = new TextDecoder()
    let text = ''
    for await (const bytes of answer.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      if (text.includes('Your parcel')) begun.resolve()
    }
    const id = answer.headers.get('x-generation-id')
    const { page, ...visitor } = await signedIn(browser, service, `/requests/${id}`)
    const cause = page.getByRole('group', { name: 'Cause' })
    await cause.getByText('It broke off after the answer had begun, so no other provider could be asked').waitFor()
    await visitor.checkAccessible()
    const address = (await cause.getByRole('link', { name: 'What to do about' }).getAttribute('href')) ?? ''
    const [path = '', place = ''] = address.split('#')
    const reference = await (await callAs(service.managementKey)(`${new URL(service.url).origin}${path}`, {})).text()
    expect(reference).toContain(`id="${place}"`)
    visitor.check()
  })

  test('does not read that the client has the beginning of an answer that was held back', async () => {
    const judging = await services.start({ config: 'plugins: { alignment: { model: sandbox/lorem } }' })
    const plugins = [{ id: 'alignment', rules: ['Never names a customer.'], max_retries: 0 }]
    const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'x' }], plugins }
    const answer = await callAs(judging.inferenceKey)(`${judging.api}/chat/completions`, { body })
    expect(answer.status).toBe(503)
    const { page, check } = await signedIn(browser, judging, `/requests/${answer.headers.get('x-generation-id')}`)
    await page.getByRole('group', { name: 'Cause' }).getByText('was not delivered').waitFor()
    expect(await page.getByText('It broke off').count()).toBe(0)
    check()
  })

  test('finds how requests fail most and for which key, however little that costs; each row leads to its failed requests, on Overview, Requests and Spend', async () => {
    const failing = await services.start()
    const { key } = await manage<{ key: string }>(failing, '/keys', { body: { name: 'checkout' } })
    const ask = async (model: string, as = key): Promise<void> => {
      const body = { model, messages: [{ role: 'user', content: 'x' }] }
      await (await callAs(as)(`${failing.api}/chat/completions`, { body })).text()
    }
    for (let turn = 0; turn < 3; turn += 1) await ask('sandbox/error/provider_overloaded')
    await ask('sandbox/error/timeout')
    await ask('sandbox/error/timeout', failing.inferenceKey)
    for (let turn = 0; turn < 3; turn += 1) await ask('sandbox/echo', failing.inferenceKey)
    const { page, ...visitor } = await signedIn(browser, failing)
    // A chart has a hidden table of the same name.
    const table = (name: string) => page.getByRole('table', { name, exact: true }).and(page.locator('.table'))
    const rowsOf = async (name: string): Promise<unknown> => {
      await table(name).waitFor()
      return (await table(name).locator('tbody tr').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())
    }
    const types = ['provider_overloaded 3', 'timeout 2']
    const keys = ['checkout 4 100 %', 'First inference key 1 25.0 %']
    expect(await rowsOf('Failures by type')).toEqual(types)
    expect(await rowsOf('Failures by key')).toEqual(keys)
    await visitor.checkAccessible()
    await table('Failures by key').getByRole('link', { name: 'checkout' }).click()
    await page.getByText('4 found').waitFor()
    await page.getByRole('button', { name: 'Failures by type and key' }).click()
    expect(await rowsOf('Failures by type')).toEqual(['provider_overloaded 3', 'timeout 1'])
    await visitor.checkAccessible()
    await table('Failures by type').getByRole('link', { name: 'timeout' }).click()
    await page.getByText('1 found').waitFor()
    await page.goto(`${failing.url}/dashboard/?failed=model`)
    await table('Failures by model').getByRole('link', { name: 'sandbox/error/timeout' }).click()
    await page.getByText('2 found').waitFor()
    await page.goto(`${failing.url}/dashboard/spend?of=errors&group=error_type`)
    await table('Spend by error_type').getByRole('row').filter({ hasText: 'timeout' }).getByRole('link', { name: '2' }).first().click()
    await page.getByText('2 found').waitFor()
    await page.goto(`${failing.url}/dashboard/spend?of=errors`)
    expect(await rowsOf('Spend by key')).toEqual([expect.stringMatching(/^checkout /), expect.stringMatching(/^First inference key /)])
    await table('Spend by key')
      .getByRole('row')
      .filter({ hasText: 'First inference key' })
      .getByRole('link', { name: '1', exact: true })
      .click()
    await page.getByText('1 found').waitFor()
    visitor.check()
  })

  test('reads the beginning of a name that is read from the right, where there is no room for all of it', async () => {
    const name = 'מפתח של דנה לצוות התמיכה הראשי בתל אביב ובחיפה'
    const { key } = await manage<{ key: string }>(service, '/keys', { body: { name } })
    upstream.script(say('well'))
    await (
      await callAs(key)(`${service.api}/chat/completions`, { body: { model: 'fake/good', messages: [{ role: 'user', content: 'x' }] } })
    ).text()
    const { page, check } = await signedIn(browser, service, '/requests')
    const cell = page.getByRole('cell', { name })
    await cell.waitFor()
    const look = await cell.evaluate((one) => {
      const { direction, textAlign } = getComputedStyle(one)
      return { direction, textAlign, isCut: one.scrollWidth > one.clientWidth }
    })
    expect(look).toEqual({ direction: 'rtl', textAlign: 'left', isCut: true })
    check()
  })
})
