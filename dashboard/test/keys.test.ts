import { beforeAll, describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { dataEvent, proseChunk, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { callAs, manage } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()
const upstream = await startFakeUpstream()

describe.skipIf(BROWSER_PATH === null)('keys', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test('a key with $20 a month is made by three presses, is shown once with a snippet that works, and is gone after a reload', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('ada laptop')
    await page.getByLabel('Limit in dollars').fill('$20')
    await page.getByRole('button', { name: 'Create' }).click()
    const made = page.getByLabel('The key, shown this once')
    await made.waitFor()
    const key = (await made.textContent())?.trim() ?? ''
    await visitor.checkAccessible()

    const shell = `${await page.getByLabel('In the shell, first').textContent()}\n${await page.getByLabel('Then, by curl').textContent()}`
    const answer = await Bun.$`sh -c ${shell}`.quiet()
    expect(JSON.parse(answer.stdout.toString())).toMatchObject({ choices: [{ message: { content: 'Hello!' } }] })

    expect(await page.evaluate('document.activeElement.textContent')).toBe('Copy')
    // Closing asks for confirmation once, since the key was not copied.
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('The key was not copied').waitFor()
    await page.getByRole('button', { name: 'Leave without it' }).click()
    await page.reload()
    await page.getByRole('link', { name: 'ada laptop' }).click()
    await page.getByText('$0 of $20.00').first().waitFor()
    expect(await page.content()).not.toContain(key)
    expect(await page.evaluate('JSON.stringify(localStorage) + JSON.stringify(sessionStorage)')).not.toContain(key)
    await visitor.checkAccessible()
  })

  test('a limit that may be read as two amounts, and a number of requests that is none, make no key, and the dialog says what to write', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('with a comma')
    await page.getByLabel('Limit in dollars').fill('12,50')
    await page.keyboard.press('Enter')
    await page.getByText('Limit: "12,50" is no amount. Write it as 20 or 12.50.').waitFor()
    await page.getByLabel('Limit in dollars').fill('12.50')
    await page.getByText('More', { exact: true }).click()
    await page.getByLabel('Requests a minute').fill('sixty')
    await page.keyboard.press('Enter')
    await page.getByText('Requests a minute: write a whole number above 0').waitFor()
    const { data } = await manage<{ data: { name: string }[] }>(service, '/keys')
    expect(data.filter(({ name }) => name === 'with a comma')).toEqual([])
    visitor.check()
  })

  test('the list has the limit of requests a minute, the name of the person, and the guardrails that are assigned to either; a search finds that person, whose name another may have', async () => {
    const service = await services.start()
    const make = (body: object) => manage<{ data: { hash: string; creator_user_id: string } }>(service, '/keys', { body })
    const { data: key } = await make({ name: 'checkout', rpm_limit: 60 })
    await manage(service, '/workspaces/default/members/add', { body: { user_ids: ['ada'] } })
    await manage(service, '/workspaces/default/members/ada', { method: 'PATCH', body: { name: 'Ada Lovelace' } })
    await make({ name: 'ada laptop', creator_user_id: 'ada' })
    await manage(service, '/workspaces/default/members/add', { body: { user_ids: ['u-2'] } })
    await manage(service, '/workspaces/default/members/u-2', { method: 'PATCH', body: { name: 'Ada Lovelace', email: 'al@example.org' } })
    await make({ name: 'billing', creator_user_id: 'u-2' })
    await make({ name: 'playground (user_a51f2301-f148-4b2b-8751-e834934d1051)', limit: 12.34, limit_reset: 'monthly' })
    const guardrail = async (name: string): Promise<string> =>
      (await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name } })).data.id
    const [ofKey, ofPerson] = [await guardrail('pii-strict'), await guardrail('of-ada')]
    await manage(service, `/guardrails/${ofKey}/assignments/keys`, { body: { key_hashes: [key.hash] } })
    await manage(service, `/guardrails/${ofPerson}/assignments/members`, { body: { member_user_ids: ['ada'] } })
    const { page, ...visitor } = await signedIn(browser, service, '/keys')
    const row = (name: string) => page.getByRole('row', { name })
    await row('checkout').getByRole('link', { name: 'pii-strict' }).waitFor()
    expect(await row('checkout').textContent()).toContain('rpm 60')
    await row('ada laptop').getByRole('link', { name: 'of-ada' }).waitFor()
    expect(await row('ada laptop').textContent()).not.toContain('pii-strict')
    await row('ada laptop').getByText('Ada Lovelace, ada').waitFor()
    await row('billing').getByText('Ada Lovelace, al@example.org').waitFor()
    await page.getByRole('link', { name: 'ada laptop' }).click()
    await page.getByRole('region', { name: 'ada laptop' }).getByText('Ada Lovelace').waitFor()
    await page.getByRole('link', { name: 'Close' }).click()
    const frame = page.locator('.table-frame', { has: page.getByRole('table', { name: 'Keys' }) })
    expect(await frame.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
    await visitor.checkAccessible()
    await page.getByLabel('Find a key').fill('lovelace')
    await row('checkout').waitFor({ state: 'detached' })
    await row('billing').waitFor()
    expect(await page.getByRole('rowheader').allTextContents()).toEqual(['billing', 'ada laptop'])
    await page.getByLabel('Find a key').fill('')
    await row('checkout').getByRole('link', { name: 'pii-strict' }).click()
    await page.getByRole('heading', { name: 'Guardrails', exact: true }).waitFor()
    visitor.check()
  })

  test('guardrails of keys that could not be loaded are not shown as none', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/keys', {
      async before(page) {
        await page.route('**/guardrails/assignments/keys*', (route) => route.fulfill({ status: 400, body: '{}' }))
      },
    })
    visitor.expectStatus(400)
    const row = page.getByRole('table', { name: 'Keys' }).getByRole('row', { name: /First inference key/ })
    await row.getByText('not loaded').waitFor()
    await visitor.checkAccessible()
  })

  test('a name with characters that nobody sees is written out where it must be typed, and moves nothing in a sentence', async () => {
    const { data: made } = await manage<{ data: { hash: string } }>(service, '/keys', { body: { name: 'two  words\u200b \u200fyek' } })
    const { page, ...visitor } = await signedIn(browser, service, `/keys?key=${made.hash}`)
    const listed = page.getByRole('table', { name: 'Keys' }).getByRole('link', { name: /^two/ })
    expect(await listed.innerText()).toMatch(/^two\s+wordsU\+200B U\+200Fyek$/)
    await page.getByRole('button', { name: /^Actions for two/ }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    const seen = 'two wordsU+200B U+200Fyek'
    await page.getByLabel(`Type ${seen} to confirm`).fill(seen)
    await page.getByRole('button', { name: `Revoke ${seen}` }).click()
    const said = page.locator('.toast', { hasText: 'is revoked' })
    await said.waitFor()
    expect(await said.innerText()).not.toContain('\u200f')
    expect(new URL(page.url()).search).toBe('')
    visitor.check()
  })

  test('a key shows every limit above it with what is held now, the tightest first, each with when it begins anew', async () => {
    const service = await services.start({
      config: `
budgets: { credits: true }
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: k }
models:
  fake/one: { endpoints: [{ provider: fake, model: one, prices: { prompt: 10, completion: 100 } }] }
`,
    })
    await manage(service, '/credits', { body: { amount_usd: 9 } })
    await manage(service, '/workspaces/default/budgets/daily', { method: 'PUT', body: { limit_usd: 2 } })
    await manage(service, '/workspaces/default/budgets/monthly', { method: 'PUT', body: { limit_usd: 500 } })
    const made = await manage<{ key: string; data: { hash: string } }>(service, '/keys', {
      body: { name: 'checkout', limit: 20, limit_reset: 'monthly' },
    })
    const { data: guardrail } = await manage<{ data: { id: string } }>(service, '/guardrails', {
      body: { name: 'small', limit_usd: 1, reset_interval: 'weekly' },
    })
    await manage(service, `/guardrails/${guardrail.id}/assignments/keys`, { body: { key_hashes: [made.data.hash] } })
    upstream.script(async (exchange) => {
      await exchange.head(200, { 'content-type': 'text/event-stream' })
      await exchange.piece(dataEvent(proseChunk('One moment')))
    })
    const left = new AbortController()
    const running = await callAs(made.key)(
      `${service.api}/chat/completions`,
      { body: { model: 'fake/one', max_tokens: 1000, stream: true, messages: [{ role: 'user', content: 'x' }] } },
      left.signal,
    )
    await running.body?.getReader().read()
    const { page, checkAccessible } = await signedIn(browser, service, `/keys?key=${made.data.hash}`)
    const chain = page.locator('.chain > li')
    await chain.first().waitFor()
    expect((await chain.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/^Guardrail of the key ?tightest \$0 of \$1\.00 resets .+; \$0\.1\d* held by requests that run/),
      expect.stringMatching(/^Workspace \$0 of \$2\.00 resets .+; \$0\.1\d* held/),
      expect.stringMatching(/^Credit of the workspace \$0 of \$9\.00 for its whole life; \$0\.1\d* held/),
      expect.stringMatching(/^This key \$0 of \$20\.00 resets \d+ [A-Z][a-z]{2,3} \d{4}, [\d:]{8} \S+; \$0\.1\d* held/),
      expect.stringMatching(/^Workspace \$0 of \$500\.00 resets .+; \$0\.1\d* held/),
    ])
    // A target of 24 pixels (WCAG 2.2, 2.5.8).
    expect((await page.getByRole('link', { name: 'Close' }).boundingBox())?.width).toBeGreaterThanOrEqual(24)
    await checkAccessible()
    left.abort()
  })

  test('a key is revoked by its name, and its next request is 401', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/keys', { viewport: { width: 390, height: 844 } })
    await page.getByRole('link', { name: 'First inference key' }).click()
    await page.getByRole('button', { name: 'Actions for First inference key' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await visitor.checkAccessible()
    await page.getByLabel('Type First inference key to confirm').fill('First inference key')
    await page.getByRole('button', { name: 'Revoke First inference key' }).click()
    await page.getByText('is revoked').waitFor()
    const refused = await fetch(`${service.api}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.inferenceKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'x' }] }),
    })
    expect(refused.status).toBe(401)
  })
})
