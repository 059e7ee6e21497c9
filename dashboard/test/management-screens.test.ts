/** The screens for what an admin manages: each opens, shows what exists, and is accessible. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import type { Locator } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

/** Spend shows what was settled when it was opened. */
const ask = async (service: RunningService): Promise<void> => {
  const { id } = await chat(service, { model: 'sandbox/lorem' })
  const isSettled = async (): Promise<boolean> => {
    const { data } = await manage<{ data: readonly { id: string }[] }>(service, '/generations')
    return data.some((one) => one.id === id)
  }
  await until(isSettled, 'its record')
}

const lastSeen = async (members: Locator, person: string): Promise<string | undefined> => {
  const titles = await members.getByRole('columnheader').allInnerTexts()
  const row = members.getByRole('row').filter({ has: members.page().getByRole('rowheader', { name: person }) })
  return (await row.getByRole('cell').allInnerTexts())[titles.indexOf('Last seen') - 1]
}

/** Types a letter more into the field as soon as the address has `ech`. */
const TYPE_ON = `(() => {
  const replace = history.replaceState
  history.replaceState = function (...given) {
    replace.apply(this, given)
    if (!/q=ech$/.test(given[2])) return
    const field = document.querySelector('input[type=search]')
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, 'echo')
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
})()`

describe.skipIf(BROWSER_PATH === null)('management', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test('spend is grouped, and a group leads deeper until it leads to its requests', async () => {
    await ask(service)
    const { page, ...visitor } = await signedIn(browser, service, '/spend')
    const groups = page.getByRole('table', { name: 'Spend by key' })
    await groups.getByRole('link', { name: 'First inference key' }).click()
    await page.getByRole('table', { name: 'Spend by model' }).getByRole('link', { name: 'sandbox/lorem' }).waitFor()
    await visitor.checkAccessible()
    await page.getByRole('link', { name: 'Their requests' }).click()
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
    expect(page.url()).toContain('q=key')
  })

  test('spend is told apart by two groups together, in its columns, its table and its file, each of them leads deeper, and people have their names', async () => {
    await ask(service)
    const { page, ...visitor } = await signedIn(browser, service, '/spend')
    await page.getByLabel('And by').selectOption({ label: '× model' })
    const groups = page.getByRole('table', { name: 'Spend by key and model', exact: true }).last()
    await groups.getByRole('link', { name: 'sandbox/lorem' }).waitFor()
    expect(await page.getByLabel('And by').locator('option').allTextContents()).not.toContain('× key')
    await page
      .getByRole('columnheader', { name: 'First inference key × sandbox/lorem' })
      .or(page.getByText('First inference key × sandbox/lorem'))
      .first()
      .waitFor({ state: 'attached' })
    await visitor.checkAccessible()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
    expect(file.suggestedFilename()).toBe('spend-by-key-and-model.csv')
    // Excel reads a file without the mark in the character set of its country.
    expect(readFileSync(await file.path(), 'utf8')).toStartWith('\uFEFFtime,key,')
    const [head = '', ...lines] = (await Bun.file(await file.path()).text()).trim().split(/\r?\n/)
    expect(head.split(',')).toEqual(expect.arrayContaining(['key', 'model']))
    expect(lines.join()).toContain('sandbox/lorem')
    await groups.getByRole('link', { name: 'First inference key' }).click()
    await page.getByRole('table', { name: 'Spend by model', exact: true }).last().getByRole('link', { name: 'sandbox/lorem' }).waitFor()
    expect(await page.getByLabel('And by').inputValue()).toBe('')
    await page.goBack()
    // People and workspaces have their names, as everywhere.
    await page.getByLabel('And by').selectOption({ label: '× workspace' })
    await page.getByLabel('Group by').selectOption({ label: 'by person' })
    const people = page.getByRole('table', { name: 'Spend by user and workspace', exact: true }).last()
    await people
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name: 'Owner' }) })
      .getByRole('link', { name: 'Default' })
      .click()
    await page.getByRole('group', { name: 'Narrowed to' }).getByText('Default').waitFor()
    await page.getByLabel('Time range').selectOption({ label: 'Last month, UTC' })
    await page.getByText('Nothing was spent in this time.').waitFor()
    visitor.check()
  })

  test('spend by person has their names at once, from the sums themselves, and moves nothing when a list of people comes', async () => {
    await chat(service, { model: 'sandbox/echo' })
    const { page, check } = await signedIn(browser, service, '/spend')
    await page.getByText('Spend', { exact: true }).first().waitFor()
    const asked: string[] = []
    await page.route('**/api/v1/workspaces/*/members**', (route) => {
      asked.push(route.request().url())
      return route.continue()
    })
    const sums = page.waitForResponse((response) => response.url().includes('group_by=user'))
    await page.getByLabel('Group by').selectOption({ label: 'by person' })
    expect(await (await sums).json()).toMatchObject({
      groups: expect.arrayContaining([expect.objectContaining({ user_name: 'Owner' })]) as unknown,
    })
    await page.getByRole('table', { name: 'Spend by user', exact: true }).last().getByRole('link', { name: 'Owner' }).waitFor()
    expect(asked).toEqual([])
    check()
  })

  test('spend names what the month costs and its budget, where no other workspace is summed with it', async () => {
    const service = await services.start()
    await manage(service, '/workspaces/default/budgets/monthly', { method: 'PUT', body: { limit_usd: 100 } })
    await ask(service)
    const { page, ...visitor } = await signedIn(browser, service, '/spend')
    await page.getByText('Forecast for the month').waitFor()
    const budget = page.locator('.figures > div').filter({ hasText: 'Budget a month' })
    expect(await budget.locator('dd').textContent()).toContain('$100')
    await budget.getByRole('img', { name: 'Budget of the month: 0 %' }).waitFor()
    await visitor.checkAccessible()
    await page.getByRole('table', { name: 'Spend by key' }).getByRole('link', { name: 'First inference key' }).click()
    await budget.waitFor({ state: 'detached' })
    await page.goBack()
    await budget.waitFor()
    await manage(service, '/workspaces', { body: { name: 'Team Search', slug: 'search' } })
    await page.reload()
    await page.getByText('Forecast for the month').waitFor()
    await page.getByLabel('Workspace').waitFor()
    expect(await budget.count()).toBe(0)
    visitor.check()
  })

  test('a guardrail is drafted, tried before it is saved, and saved', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/guardrails')
    await page.getByRole('button', { name: 'New guardrail' }).first().click()
    await page.getByLabel('Name').fill('pii')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByLabel('Add a built-in filter').selectOption('email')
    await page.getByText('Passes, redacted').waitFor()
    await page.getByText('Mail [EMAIL] about card').waitFor()
    await visitor.checkAccessible()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('pii is saved').waitFor()
    await page.getByText('Tried with the saved rules.').waitFor()
  })

  test('each rule of a guardrail says in how many requests of the last 24 hours it found something', async () => {
    const rules = {
      content_filter_builtins: [
        { slug: 'email', action: 'redact' },
        { slug: 'phone', action: 'block' },
      ],
      content_filters: [
        { pattern: 'ACME-[0-9]+', action: 'flag', label: 'ACME' },
        { pattern: 'SECRET', action: 'block' },
        { pattern: 'HIDDEN', action: 'block' },
      ],
    }
    const { data: made } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'counted', ...rules } })
    const { data: keys } = await manage<{ data: { hash: string; kind: string }[] }>(service, '/keys')
    await manage(service, `/guardrails/${made.id}/assignments/keys`, {
      body: { key_hashes: keys.filter(({ kind }) => kind === 'inference').map(({ hash }) => hash) },
    })
    for (const content of ['Mail ada@example.com', 'Mail bo@example.com on ACME-1'])
      await chat(service, { model: 'sandbox/echo', messages: [{ role: 'user', content }] })
    const { page, ...visitor } = await signedIn(browser, service, '/guardrails')
    const row = page.getByRole('table', { name: 'Guardrails' }).getByRole('row').filter({ hasText: 'counted' })
    await row.getByRole('cell', { name: '3', exact: true }).waitFor()
    await row.getByRole('link', { name: 'counted' }).click()
    await page.getByRole('listitem').filter({ hasText: 'email' }).getByText('2 hits in 24 h', { exact: true }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'phone' }).getByText('0 hits in 24 h', { exact: true }).waitFor()
    expect(await page.locator('.filter-rows .hits').allInnerTexts()).toEqual([
      '2 hits in 24 h',
      '0 hits in 24 h',
      '1 hit in 24 h',
      '0 hits in 24 h, with its like',
      '0 hits in 24 h, with its like',
    ])
    await visitor.checkAccessible()
  })

  test('the hits of a guardrail lead to its requests of the same 24 hours, whose stages lead back, and Requests has it as a filter', async () => {
    const service = await services.start()
    const guardrail = async (name: string, flagged: string, blocked: string): Promise<string> => {
      const rules = [
        { pattern: flagged, action: 'flag' },
        { pattern: blocked, action: 'block' },
      ]
      const body = { name, content_filters: rules }
      const { data } = await manage<{ data: { id: string } }>(service, '/guardrails', { body })
      return data.id
    }
    const [hit, unhit] = [await guardrail('names of ACME', 'ACME', 'SECRET'), await guardrail('others', 'OTHER', 'HIDDEN')]
    const { data: keys } = await manage<{ data: { hash: string; kind: string }[] }>(service, '/keys')
    const assign = (id: string) =>
      manage(service, `/guardrails/${id}/assignments/keys`, {
        body: { key_hashes: keys.filter(({ kind }) => kind === 'inference').map(({ hash }) => hash) },
      })
    const say = (content: string) => chat(service, { model: 'sandbox/echo', messages: [{ role: 'user', content }] })
    await assign(unhit)
    await say('OTHER-1')
    await assign(hit)
    const { id } = await say('ACME-1')
    await say('nothing')
    // The request is blocked before a model is called, so it has no record.
    await say('SECRET')
    const { page, ...visitor } = await signedIn(browser, service, '/guardrails')
    const rows = page.locator('[data-row]')
    const onlyHit = async (): Promise<void> => {
      await page.getByText('These are all.').waitFor()
      expect(await rows.evaluateAll((found) => found.map((row) => row.getAttribute('data-row')))).toEqual([id])
    }
    await page.getByRole('row').filter({ hasText: 'names of ACME' }).getByRole('link', { name: '2', exact: true }).click()
    await onlyHit()
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ q: `guardrail:${hit}`, range: '24h' })

    await rows.getByRole('link').first().click()
    await page.getByRole('region', { name: 'Timeline' }).getByRole('link', { name: 'content-filter' }).first().click()
    await page.getByText('A request that is blocked before a model is asked counts as a hit, and has no record to list.').waitFor()
    await visitor.checkAccessible()
    await page.getByRole('link', { name: '2 hits in 24 h' }).first().click()
    await onlyHit()

    const filter = page.getByLabel('Filter')
    await filter.fill('status:ok guardrail:')
    const choices = page.locator('datalist option')
    await choices.nth(1).waitFor({ state: 'attached' })
    expect(await choices.evaluateAll((options) => options.map((option) => option.getAttribute('value')))).toEqual([
      'status:ok guardrail:others',
      'status:ok guardrail:"names of ACME"',
    ])
    await filter.fill('status:ok guardrail:"names of ACME"')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.searchParams.get('q') === 'status:ok guardrail:"names of ACME"')
    await onlyHit()
    await visitor.checkAccessible()
    await filter.fill('guardrail:nobody')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('no guardrail is called so').waitFor()
    await visitor.checkAccessible()
  })

  test('a guardrail is tried on the stored requests before it is saved: which would be blocked is linked, and other rules ask again', async () => {
    const service = await services.start()
    const { page, ...visitor } = await signedIn(browser, service, '/guardrails')
    await page.getByRole('button', { name: 'New guardrail' }).first().click()
    await page.getByLabel('Name').fill('cards')
    await page.getByRole('button', { name: 'Create' }).click()
    await chat(service, { model: 'sandbox/lorem' })
    const tryThem = page.getByRole('button', { name: 'Try on the last 200 stored requests' })
    await tryThem.click()
    await page.getByText('No contents are stored of the last request.').waitFor()
    await visitor.checkAccessible()
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    const messages = [{ role: 'user', content: 'Charge 4111 1111 1111 1111, please.' }]
    const { id } = await chat(service, { model: 'sandbox/lorem', messages })
    await chat(service, { model: 'sandbox/lorem' })
    await page.getByLabel('Add a built-in filter').selectOption('credit-card')
    await page.getByText('No contents are stored of the last request.').waitFor({ state: 'detached' })
    await page
      .getByRole('combobox', { name: /action/i })
      .last()
      .selectOption('block')
    await tryThem.click()
    await page.getByText('1 would be blocked', { exact: true }).waitFor()
    await page.getByText('Of the last 3 requests, 2 have their contents stored.').waitFor()
    await visitor.checkAccessible()
    const found = page.getByRole('table', { name: 'Requests in which something was found' })
    await found.getByText('Blocked').waitFor()
    expect(await found.getByRole('row').count()).toBe(2)
    await found.getByRole('link').click()
    await page.getByText(id).first().waitFor()
    visitor.check()
  })

  test('a pattern that cannot be matched in one pass is explained under its field before it is saved, and another one is not', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/guardrails')
    visitor.expectStatus(400)
    await page.getByRole('button', { name: 'New guardrail' }).first().click()
    await page.getByLabel('Name').fill('codes')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByLabel('Add a built-in filter').selectOption('email')
    await page.getByRole('button', { name: '+ pattern' }).click()
    await page.getByRole('textbox', { name: 'Pattern' }).fill('ACME-\\d+')
    await page.getByRole('button', { name: '+ pattern' }).click()
    const [right, wrong] = [page.getByRole('textbox', { name: 'Pattern' }).first(), page.getByRole('textbox', { name: 'Pattern' }).last()]
    await wrong.fill('(?=x)')
    const fault = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('textbox', { name: 'Pattern' }) })
      .last()
      .getByRole('alert')
    await fault.getByText(/invalid_regex_pattern/).waitFor()
    expect(await wrong.getAttribute('aria-describedby')).toBe(await fault.getAttribute('id'))
    expect([await right.getAttribute('aria-invalid'), await wrong.getAttribute('aria-invalid')]).toEqual(['false', 'true'])
    await visitor.checkAccessible()
    await page.getByRole('button', { name: 'Save' }).click()
    await fault.waitFor()
    await wrong.fill('x')
    await fault.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('codes is saved').waitFor()
    visitor.check()
  })

  test('a workspace is made, and somebody is invited by a link that is shown once', async () => {
    const service = await services.start()
    await manage(service, '/workspaces', { body: { name: 'Other', slug: 'other' } })
    const { page, ...visitor } = await signedIn(browser, service, '/workspaces')
    await page.getByRole('button', { name: 'New workspace' }).click()
    await page.getByLabel('Name').fill('Team Search')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'Team Search' }).waitFor()
    await manage(service, '/workspaces/team-search/budgets/monthly', { method: 'PUT', body: { limit_usd: 100 } })
    await page.reload()
    const row = page.getByRole('table', { name: 'Workspaces' }).getByRole('row').filter({ hasText: 'Team Search' })
    await row.getByRole('cell', { name: '1', exact: true }).waitFor()
    await row.getByRole('cell', { name: '$100.00 a month' }).waitFor()
    await row.getByRole('cell', { name: /^\$0/ }).getByRole('img', { name: 'Budget of team-search: 0 %' }).waitFor()
    await page.getByRole('link', { name: 'Team Search' }).click()
    await page.getByRole('button', { name: 'Invite link' }).first().click()
    await page.getByLabel('Person').fill('ada')
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = page.getByLabel('Opens one session, once')
    await link.waitFor()
    expect(await link.textContent()).toMatch(/\/dashboard\/#login=/)
    await visitor.checkAccessible()
  })

  test('workspaces have their members, keys, spend, budgets and credit, read at once for a whole page, and a role changes once it is confirmed', async () => {
    const service = await services.start()
    for (let number = 0; number < 21; number += 1)
      await manage(service, '/workspaces', { body: { name: `Team ${number}`, slug: `team-${number}` } })
    await manage(service, '/keys?workspace_id=team-20', { body: { name: 'search key' } })
    await manage(service, '/credits?workspace_id=team-20', { body: { amount_usd: 25 } })
    await manage(service, '/workspaces/team-20/budgets/daily', { method: 'PUT', body: { limit_usd: 5 } })
    await manage(service, '/workspaces/default/members/add', { body: { user_ids: ['user_ada'] } })
    const { page, ...visitor } = await signedIn(browser, service, '')
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.replace('/api/v1', '')))
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Workspaces' }).click()
    const row = page.getByRole('table', { name: 'Workspaces' }).getByRole('row').filter({ hasText: 'team-20' })
    await row.waitFor()
    expect(await row.getByRole('cell').allInnerTexts()).toEqual(
      expect.arrayContaining(['team-20', '1', '$0', '$5.00 a day', '$25.00 of $25.00 left', 'not kept']),
    )
    const members = page.getByRole('table', { name: 'Members of Default' })
    await members.waitFor()
    expect(await lastSeen(members, 'Owner')).toMatch(/^(?:just now|\d+ min ago)$/)
    expect(await lastSeen(members, 'user_ada')).toBe('–')
    expect(asked.filter((path) => /^\/workspaces\/.*(?:members|budgets)$/.test(path))).toHaveLength(2)
    // The sums of all members, at once.
    expect(asked.filter((path) => path === '/usage')).toHaveLength(1)
    expect(await members.getByRole('link', { name: '$0', exact: true }).count()).toBe(2)
    // A press of a key in the closed list changes nothing before it is confirmed.
    const role = members.getByLabel('Role of user_ada')
    await role.focus()
    await page.keyboard.press('ArrowUp')
    await page.getByRole('dialog', { name: 'Make user_ada an admin' }).waitFor()
    interface Members {
      readonly data: readonly { readonly user_id: string; readonly role: string }[]
    }
    const roleOfAda = async (): Promise<string | undefined> =>
      (await manage<Members>(service, '/workspaces/default/members')).data.find(({ user_id: id }) => id === 'user_ada')?.role
    expect([await roleOfAda(), await role.inputValue()]).toEqual(['member', 'member'])
    await page.getByRole('button', { name: 'Make user_ada admin' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await roleOfAda()).toBe('admin')
    await row.getByRole('link', { name: '1', exact: true }).click()
    await page.getByRole('link', { name: 'search key' }).waitFor()
    await visitor.checkAccessible()
  })

  test('a provider is tested, and models are found by their name', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/models')
    await page.getByRole('button', { name: 'Test Sandbox', exact: true }).click()
    await page.getByText(/, \$0/).waitFor()
    await visitor.checkAccessible()
    await page.getByRole('link', { name: 'Models', exact: true }).last().click()
    // A letter that is typed just when the address gets those before it stays.
    await page.evaluate(TYPE_ON)
    await page.getByLabel('Find a model').fill('ech')
    await page.waitForURL(/q=echo$/)
    await page.getByRole('button', { name: 'sandbox/echo', exact: true }).waitFor()
    await visitor.checkAccessible()
  })

  test('settings show who is signed in, and switch the theme and the keeping of contents', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/settings')
    await page.getByText('this one').waitFor()
    await page.getByRole('table', { name: 'Effective configuration' }).getByRole('rowheader').first().waitFor()
    await page.getByLabel('Theme').selectOption('dark')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await page.getByLabel('Theme').selectOption('system')
    await page.getByLabel(/Keep requests and answers/).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Contents of new requests are kept').waitFor()
    await visitor.checkAccessible()
  })

  test('an operator chooses a workspace once, and every screen shows that one', async () => {
    await ask(service)
    const { data: team } = await manage<{ data: { id: string } }>(service, '/workspaces', { body: { name: 'Team Search', slug: 'search' } })
    await manage(service, '/keys', { body: { name: 'search key', workspace_id: team.id } })
    const { page, ...visitor } = await signedIn(browser, service, '/keys')
    await page.getByRole('link', { name: 'First inference key' }).waitFor()
    // Keys are those of one workspace, which is named, while requests are those of every workspace.
    const chosen = page.getByLabel('Workspace').locator('option:checked')
    await chosen.and(page.getByText('Default', { exact: true })).waitFor({ state: 'attached' })
    expect(await page.getByLabel('Workspace').locator('option').allTextContents()).toEqual(['Default', 'Team Search'])
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Requests' }).click()
    await chosen.and(page.getByText('every workspace', { exact: true })).waitFor({ state: 'attached' })
    await page.goBack()
    await page.getByLabel('Workspace').selectOption('Team Search')
    await page.getByRole('link', { name: 'First inference key' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'search key' }).waitFor()
    for (const title of ['Presets', 'Guardrails', 'Spend', 'Audit', 'Overview', 'Requests']) {
      await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: title }).click()
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      expect(new URL(page.url()).searchParams.get('workspace')).toBe('search')
    }
    await page.getByText('No requests in this time').waitFor()
    await visitor.checkAccessible()
    await page.getByLabel('Workspace').selectOption('every workspace')
    await page.locator('[data-row]').first().waitFor()
    // The navigation has its last form before the service has said who it is for, so that nothing in it moves.
    const known = Promise.withResolvers<void>()
    await page.route(/\/api\/v1\/(?:sessions\/current|workspaces\b)/, async (route) => {
      await known.promise
      await route.continue()
    })
    await page.reload()
    const audit = page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Audit' })
    await audit.waitFor()
    const before = await audit.boundingBox()
    known.resolve()
    await page.getByLabel('Workspace').getByRole('option', { name: 'Team Search' }).waitFor({ state: 'attached' })
    expect(await audit.boundingBox()).toEqual(before)
    visitor.check()
  })
})
