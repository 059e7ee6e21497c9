import { beforeAll, describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { callAs, chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

/** The pixels by which the palette is wider than its place. */
const WIDER = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog[open]'))`

describe.skipIf(BROWSER_PATH === null)('the palette', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test('opens what was pasted: a generation, a request, the last four of a key; and what is named, however long: a preset, a model, a person', async () => {
    await savePreset(service, 'support-bot', 'Answer briefly.')
    const made = await manage<{ key: string; data: { label: string } }>(service, '/keys', { body: { name: 'ada laptop' } })
    await manage(service, '/workspaces/default/members/add', { body: { user_ids: ['ada@example.com'] } })
    const { id } = await chat(service, { model: 'sandbox/echo' })
    const answer = await callAs(service.inferenceKey)(`${service.api}/chat/completions`, {
      body: { model: 'sandbox/lorem', messages: [{ role: 'user', content: 'x' }] },
    })
    await answer.text()
    const [requestId, requested] = [answer.headers.get('x-request-id') ?? '', answer.headers.get('x-generation-id') ?? '']
    const { page, check } = await signedIn(browser, service)
    const open = async (text: string, option: string | RegExp): Promise<void> => {
      await page.keyboard.press('Control+k')
      await page.getByPlaceholder('A screen, a name').fill(text)
      await page.getByRole('option', { name: option }).first().waitFor()
      expect(await page.evaluate(WIDER)).toBe(0)
      await page.keyboard.press('Enter')
    }
    await open(id, id)
    await page.getByRole('heading', { level: 1, name: new RegExp(id) }).waitFor()
    await open(requestId, /request$/)
    await page.getByRole('heading', { level: 1, name: new RegExp(requested) }).waitFor()
    await open(made.key.slice(-4), 'ada laptop')
    await page.getByRole('button', { name: 'Actions for ada laptop' }).first().waitFor()
    await open('support-b', 'support-bot')
    await page.getByRole('heading', { level: 1, name: 'support-bot' }).waitFor()
    const long = 'summariser-of-long-conversations-for-the-weekly-report-to-the-whole-team'
    await savePreset(service, long, 'Summarise.')
    await open('summariser', long)
    await page.getByRole('heading', { level: 1, name: long }).waitFor()
    await open('sandbox/lorem', /sandbox|Sandbox|lorem/i)
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor()
    await page.getByRole('button', { name: /sandbox\/lorem$/ }).waitFor()
    await page.getByText('sandbox/echo', { exact: true }).waitFor({ state: 'detached' })
    await open('ada@exam', 'ada@example.com')
    await page.getByRole('heading', { level: 1, name: 'Workspaces' }).waitFor()
    await page.getByLabel('Role of ada@example.com').waitFor()
    const members = page.getByRole('table', { name: 'Members of Default' }).getByRole('row')
    // The table is called so when the name of the workspace is there.
    await members.first().waitFor()
    expect(await members.count()).toBe(2)
    await page.getByRole('link', { name: 'show all members' }).click()
    await until(async () => (await members.count()) > 2, 'the other members')
    await open('audit', 'Audit')
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor()
    check()
    expect(page.url()).toEndWith('/dashboard/audit')
  })

  test('finds nothing of another workspace', async () => {
    const { data: team } = await manage<{ data: { id: string } }>(service, '/workspaces', { body: { name: 'Search', slug: 'search' } })
    const { id } = await chat(service, { model: 'sandbox/echo' })
    const { data } = await manage<{ data: { url: string } }>(service, '/login-links', {
      body: { user_id: 'bo', role: 'admin', workspace_id: team.id },
    })
    const parts = Promise.withResolvers<void>()
    const { page, check, expectStatus } = await browser.visit(data.url, {
      async before(opening) {
        await opening.route('**/assets/chunk-*.js', async (route) => {
          await parts.promise
          await route.continue()
        })
      },
    })
    await page.getByRole('navigation', { name: 'Screens' }).waitFor()
    await page.keyboard.press('Control+k')
    // The palette's code has not come yet. No letter may be lost, or act as a key of the page.
    await page.keyboard.type('First inference')
    parts.resolve()
    await page.getByText('Nothing has that name or id.').waitFor()
    expect(await page.getByPlaceholder('A screen, a name').inputValue()).toBe('First inference')
    expectStatus(404)
    await page.getByPlaceholder('A screen, a name').fill(id)
    await page.keyboard.press('Enter')
    await page.getByText('There is no request with this id here').waitFor()
    check()
  })
})
