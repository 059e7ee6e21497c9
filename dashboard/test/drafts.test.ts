/** Unsaved drafts, and presets made from requests. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

let service: RunningService
beforeAll(async () => {
  if (BROWSER_PATH !== null) service = await services.start()
})

describe.skipIf(BROWSER_PATH === null)('a draft', () => {
  test('is of one preset, of one version that it began with, and of one person, and loses nothing that is typed while it is saved', async () => {
    await savePreset(service, 'support-bot', 'Answer briefly.')
    await savePreset(service, 'support-bot', 'Answer politely.')
    await savePreset(service, 'classifier', 'Name the category.')
    const { page, check, settled } = await signedIn(browser, service, '/presets/support-bot')
    const prompt = page.getByLabel('System prompt')
    await prompt.fill('A thought on v2.')
    await page.getByLabel('Version to begin with').selectOption('1')
    await page.getByText('not live').waitFor()
    expect(await prompt.inputValue()).toBe('Answer briefly.')
    await prompt.fill('A thought on v1.')
    await page.getByText('Draft from v1').waitFor()
    await page.goto(`${service.url}/dashboard/presets/classifier`)
    await page.getByRole('heading', { name: 'classifier' }).waitFor()
    expect(await prompt.inputValue()).toBe('Name the category.')
    await page.goto(`${service.url}/dashboard/presets/support-bot`)
    await page.getByText('Draft from v2').waitFor()
    expect(await prompt.inputValue()).toBe('A thought on v2.')
    await page.getByLabel('Version to begin with').selectOption('1')
    await page.getByText('Draft from v1').waitFor()
    expect(await prompt.inputValue()).toBe('A thought on v1.')

    // A text that is typed while the draft is being saved is a draft of the version that is made.
    const answered = Promise.withResolvers<void>()
    await page.route('**/api/v1/presets/support-bot/chat/completions**', async (route) => {
      await answered.promise
      await route.continue()
    })
    await prompt.press('Control+End')
    const sent = page.waitForRequest('**/api/v1/presets/support-bot/chat/completions**')
    await page.keyboard.press('Control+s')
    await sent
    await page.keyboard.type(' More.')
    answered.resolve()
    await page.getByText('Draft from v3').waitFor()
    expect(await prompt.inputValue()).toBe('A thought on v1. More.')
    await page.keyboard.type(' And more.')
    expect(await prompt.inputValue()).toBe('A thought on v1. More. And more.')
    const { data: versions } = await manage<{ data: readonly object[] }>(service, '/presets/support-bot/versions?order=desc&limit=1')
    expect(JSON.stringify(versions[0])).toContain('"A thought on v1."')

    // A response that is still pending at sign-out is rightly a 401.
    await settled()
    await page.locator('.side-foot button').click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    // A sign-out that is still in progress could end the session of the link, too.
    await page.getByRole('heading', { name: 'Sign in to Patchbay' }).waitFor()
    const { data } = await manage<{ data: { url: string } }>(service, '/login-links', { body: { user_id: 'grace', role: 'admin' } })
    await page.goto(data.url)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.goto(`${service.url}/dashboard/presets/support-bot`)
    await prompt.waitFor()
    expect(await prompt.inputValue()).toBe('Answer politely.')
    expect(await page.getByText('Draft from').count()).toBe(0)
    check()
  })
})

describe.skipIf(BROWSER_PATH === null)('a text and a note that are typed', () => {
  test('while a draft is saved, and until the saved version is shown, become a draft of it', async () => {
    await savePreset(service, 'slow-bot', 'Answer briefly.')
    const { page, expectStatus, check } = await signedIn(browser, service, '/presets/slow-bot')
    await page.getByLabel('System prompt').waitFor()
    expectStatus(500)
    const [saving, fetching] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const path = '**/api/v1/presets/slow-bot'
    await page.route(`${path}/chat/completions**`, async (route) => {
      await saving.promise
      await route.continue()
    })
    // The list of versions cannot be read again, so the new one is fetched alone.
    await page.route(`${path}/versions?**`, (route) => route.fulfill({ status: 500, json: {} }))
    await page.route(`${path}/versions/2**`, async (route) => {
      await fetching.promise
      await route.continue()
    })
    const [prompt, note] = [page.getByLabel('System prompt'), page.getByLabel('Note')]
    await prompt.fill('Answer politely.')
    await note.fill('politer')
    const sent = page.waitForRequest(`${path}/chat/completions**`)
    const asked = page.waitForRequest(`${path}/versions/2**`)
    await page.keyboard.press('Control+s')
    await sent
    await note.fill('and friendly')
    saving.resolve()
    await asked
    await prompt.press('Control+End')
    await page.keyboard.type(' And friendly.')
    await page.getByText('Saved slow-bot as v2').waitFor()
    fetching.resolve()
    await page.getByText('Draft from v2').waitFor()
    expect([await prompt.inputValue(), await note.inputValue()]).toEqual(['Answer politely. And friendly.', 'and friendly'])
    await page.getByLabel('Version to begin with').selectOption('1')
    await page.getByText('Draft from').waitFor({ state: 'detached' })
    expect(await prompt.inputValue()).toBe('Answer briefly.')
    check()
  })
})

describe.skipIf(BROWSER_PATH === null)('a draft that the browser has no room for', () => {
  test('is written and saved all the same, and the page says that it is not kept', async () => {
    await savePreset(service, 'large-bot', 'Answer briefly.')
    const { page, check } = await signedIn(browser, service, '/presets/large-bot')
    const prompt = page.getByLabel('System prompt')
    await prompt.waitFor()
    await page.evaluate(`for (let size = 2 ** 22; size >= 1; size /= 2)
      try { for (;;) localStorage.setItem('filled ' + size + Math.random(), 'x'.repeat(size)) } catch {}`)
    await prompt.fill('Answer at length.')
    await page.getByText('This browser has no room to keep the draft.').waitFor()
    expect(await prompt.inputValue()).toBe('Answer at length.')
    await page.getByRole('button', { name: 'Save draft as v2' }).click()
    await page.getByText('Saved large-bot as v2').waitFor()
    check()
  })
})

describe.skipIf(BROWSER_PATH === null)('Make a preset', () => {
  test('without contents keeps the settings, and says what is missing', async () => {
    const { id } = await chat(service, {
      model: 'sandbox/echo',
      temperature: 0.3,
      messages: [
        { role: 'system', content: 'Cite.' },
        { role: 'user', content: 'x' },
      ],
    })
    const { page, expectStatus, check } = await signedIn(browser, service, `/requests/${id}`)
    expectStatus(404)
    await page.getByRole('button', { name: 'Make a preset' }).click()
    await page.getByLabel('Slug').fill('cited')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText(/Created cited\. It is live now\. .*texts are missing/).waitFor()
    await page.getByRole('heading', { name: 'cited' }).waitFor()
    const { data } = await manage<{ data: { designated_version: object } }>(service, '/presets/cited')
    expect(data.designated_version).toMatchObject({ system_prompt: null, config: { model: 'sandbox/echo', temperature: 0.3 } })
    check()
  })

  test.each([
    ['from a request', 'from-request', '/requests/', ['Make a preset'], 'Create'],
    ['in the list of presets', 'from-list', '/presets', ['New preset', 'From a body…'], 'Create'],
    ['in the playground', 'from-playground', '/playground?model=sandbox/lorem', ['Save as preset…'], 'Save'],
  ] as const)('%s under a name that is there makes a draft, and callers get what they got', async (_, slug, path, begin, action) => {
    await savePreset(service, slug, 'Answer politely.')
    const { id } = await chat(service, { model: 'sandbox/lorem' })
    const { page, expectStatus, check } = await signedIn(browser, service, path.endsWith('/') ? path + id : path)
    expectStatus(404)
    for (const name of begin) await page.getByRole('button', { name }).or(page.getByRole('menuitem', { name })).first().click()
    await page.getByLabel('Slug').fill(slug)
    await page.getByRole('button', { name: action, exact: true }).click()
    await page.getByText(`Saved ${slug} as v2, a draft.`).waitFor()
    await page.getByText('not live').waitFor()
    expect((await chat(service, { model: `@preset/${slug}` })).preset).toBe(`${slug}@1`)
    check()
  })
})

test.skipIf(BROWSER_PATH === null)(
  'a new preset begins where its menu says: with a body, with a file, with a request, in the playground',
  async () => {
    const { page, expectStatus, check, checkAccessible } = await signedIn(browser, service, '/presets')
    expectStatus(404)
    const begin = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'New preset' }).first().click()
      await page.getByRole('menuitem', { name, exact: true }).click()
    }
    await page.getByRole('button', { name: 'New preset' }).first().click()
    await page.getByRole('menuitem', { name: 'From a body…' }).waitFor()
    await checkAccessible()
    await page.keyboard.press('Escape')
    for (const [name, title] of [
      ['From a request', 'Requests'],
      ['In the playground', 'Playground'],
    ] as const) {
      await begin(name)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await page.goBack()
    }
    await begin('Import a file…')
    const body = { model: 'sandbox/lorem', instructions: 'Be brief.' }
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'brief.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(body)) })
    await page.getByLabel('Slug').fill('brief')
    await checkAccessible()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'brief' }).waitFor()
    const { data } = await manage<{ data: { designated_version: object } }>(service, '/presets/brief')
    expect(data.designated_version).toMatchObject({ system_prompt: 'Be brief.', config: { model: 'sandbox/lorem' } })
    check()
  },
)

test.skipIf(BROWSER_PATH === null)('with another workspace chosen, presets, keys and guardrails are made there', async () => {
  const { data: team } = await manage<{ data: { id: string } }>(service, '/workspaces', { body: { name: 'Team Search', slug: 'search' } })
  const { page, expectStatus, check } = await signedIn(browser, service, '/presets?workspace=search')
  expectStatus(404)
  await page.getByRole('button', { name: 'New preset' }).first().click()
  await page.getByRole('menuitem', { name: 'From a body…' }).click()
  const body = page.getByLabel('Body of a request')
  await body.fill(`curl "$URL/api/v1/responses" -H "Authorization: Bearer $KEY" -d '{"model": "sandbox/ehco", "input": "x"}'`)
  expect(await body.inputValue()).toBe('{"model": "sandbox/ehco", "input": "x"}')
  expect(await page.getByLabel('Interface').inputValue()).toBe('responses')
  await page.getByLabel('Slug').fill('found')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('Created found. It is live now. model: The model "sandbox/ehco" does not exist here').waitFor()
  await page.getByRole('heading', { name: 'found' }).waitFor()
  await page.goto(`${service.url}/dashboard/keys?workspace=search`)
  await page.getByRole('button', { name: 'New key' }).first().click()
  await page.getByLabel('Name').fill('search key')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByLabel('The key, shown this once').waitFor()
  await page.goto(`${service.url}/dashboard/guardrails?workspace=search`)
  await page.getByRole('button', { name: 'New guardrail' }).first().click()
  await page.getByLabel('Name').fill('careful')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('link', { name: 'careful' }).waitFor()
  for (const kind of ['presets', 'keys', 'guardrails']) {
    const { data } = await manage<{ data: readonly { workspace_id: string }[] }>(service, `/${kind}?workspace_id=${team.id}`)
    expect({ kind, made: data.length }).toEqual({ kind, made: 1 })
  }
  check()
})
