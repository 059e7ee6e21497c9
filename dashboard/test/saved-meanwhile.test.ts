/** Somebody else saves an object while a person edits it. */
import { beforeAll, describe, expect, test } from 'bun:test'

import type { Locator, Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

/** Simulates a person who comes back to the page after a while, so that it reads everything again. */
const comeBack = (page: Page): Promise<unknown> =>
  page.evaluate(`const now = Date.now
    Date.now = () => now() + 60000
    dispatchEvent(new Event('visibilitychange'))`)

describe.skipIf(BROWSER_PATH === null)('what is typed stays if somebody else saves the object meanwhile, and the page says so', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  const patch = (path: string, body: object): Promise<unknown> => manage(service, path, { method: 'PATCH', body })

  test('in the logging of a workspace', async () => {
    await patch('/workspaces/default', { is_observability_io_logging_enabled: true })
    const { page, checkAccessible, check } = await signedIn(browser, service, '/settings')
    const logging = page.getByRole('region', { name: 'Logging' })
    const [days, share] = [logging.getByLabel('Deleted after days'), logging.getByLabel('Share of the requests')]
    await days.fill('7')
    await patch('/workspaces/default', { io_logging_sampling_rate: 0.5 })
    await comeBack(page)
    await logging
      .getByText('was changed by somebody else after you began. What you wrote is kept, and Save keeps what they changed.')
      .waitFor()
    expect([await days.inputValue(), await share.inputValue()]).toEqual(['7', '50'])
    await checkAccessible()
    await logging.getByRole('button', { name: 'Show what is saved' }).click()
    expect([await days.inputValue(), await share.inputValue()]).toEqual(['30', '50'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await logging.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Contents of new requests are kept').waitFor()
    expect(await logging.getByText(/was changed by somebody else|Not saved/).count()).toBe(0)
    expect(await manage(service, '/workspaces/default')).toMatchObject({
      data: { io_logging_sampling_rate: 0.5, io_logging_retention_days: 7 },
    })
    check()
  })

  test('in the rules of a guardrail, as a form and as JSON', async () => {
    const { data } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'numbers' } })
    const pattern = (text: string) => ({ content_filters: [{ pattern: text, label: null, action: 'flag', applies_to: 'both' }] })
    const { page, check } = await signedIn(browser, service, `/guardrails?guardrail=${data.id}`)
    await page.getByRole('button', { name: '+ pattern' }).click()
    await page.getByLabel('Pattern', { exact: true }).fill('MINE-1')
    await patch(`/guardrails/${data.id}`, { name: 'all numbers' })
    await comeBack(page)
    await page.getByRole('heading', { name: 'Rules of all numbers' }).waitFor()
    expect(await page.getByText('was changed by somebody else').count()).toBe(0)
    await patch(`/guardrails/${data.id}`, pattern('THEIRS'))
    await comeBack(page)
    await page
      .getByText('all numbers was changed by somebody else after you began. What you wrote is kept; Save puts it in the place')
      .waitFor()
    expect(await page.getByLabel('Pattern', { exact: true }).inputValue()).toBe('MINE-1')
    await page.getByRole('button', { name: 'JSON' }).click()
    await page.getByLabel('Rules as JSON').getByText('MINE-1').waitFor()
    await page.getByRole('button', { name: 'Show what is saved' }).click()
    await page.getByLabel('Rules as JSON').getByText('THEIRS').waitFor()
    await patch(`/guardrails/${data.id}`, pattern('NEWER'))
    await comeBack(page)
    await page.getByLabel('Rules as JSON').getByText('NEWER').waitFor()
    check()
  })

  test('in rules that are no valid JSON yet, even if nothing else was written before them', async () => {
    const { data } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'words' } })
    const rules = (pattern: string) => ({ content_filters: [{ pattern, action: 'flag' }] })
    const { page, check } = await signedIn(browser, service, `/guardrails?guardrail=${data.id}`)
    await page.getByRole('button', { name: 'JSON' }).click()
    await page.locator('.cm-editor').waitFor()
    const text = page.getByRole('textbox', { name: 'Rules as JSON' })
    const theirs = page.getByText('words was changed by somebody else')
    await text.fill('{"content_filters": [MINE')
    await patch(`/guardrails/${data.id}`, rules('THEIRS'))
    await comeBack(page)
    await theirs.waitFor()
    await page.getByRole('button', { name: 'Show what is saved' }).click()
    await text.getByText('THEIRS').waitFor()
    expect([await theirs.count(), await page.getByText('This is no JSON').count()]).toEqual([0, 0])
    await text.fill('{"content_filters": [MINE')
    await patch(`/guardrails/${data.id}`, rules('NEWER'))
    await comeBack(page)
    await theirs.waitFor()
    await text.fill(JSON.stringify(rules('MINE')))
    await page.getByText('This is no JSON').waitFor({ state: 'detached' })
    expect(await theirs.count()).toBe(1)
    check()
  })

  test('in what is typed during a save', async () => {
    await savePreset(service, 'busy-bot', 'Answer briefly.')
    const { page, check } = await signedIn(browser, service, '/presets/busy-bot?tab=settings')
    const saving = Promise.withResolvers<void>()
    await page.route('**/api/v1/presets/busy-bot', async (route) => {
      if (route.request().method() === 'PATCH') await saving.promise
      await route.continue()
    })
    const description = page.getByLabel('Description')
    await description.fill('Mine.')
    const sent = page.waitForRequest((request) => request.method() === 'PATCH')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await sent
    await description.fill('Mine again.')
    saving.resolve()
    await page.getByText('Saved; it is in force now.').waitFor()
    await page.getByText('Not saved yet.').waitFor()
    expect(await page.getByText('was changed by somebody else').count()).toBe(0)
    await patch('/presets/busy-bot', { description: 'Theirs.' })
    await comeBack(page)
    await page
      .getByText('busy-bot was changed by somebody else after you began. What you wrote is kept; Save puts it in the place')
      .waitFor()
    expect(await description.inputValue()).toBe('Mine again.')
    check()
  })

  test('in the name of a preset', async () => {
    await savePreset(service, 'support-bot', 'Answer briefly.')
    const { page, check } = await signedIn(browser, service, '/presets/support-bot?tab=settings')
    await page.getByLabel('Description').fill('Mine.')
    await patch('/presets/support-bot', { name: 'Support' })
    await comeBack(page)
    await page.getByText('support-bot was changed by somebody else').waitFor()
    expect([await page.getByRole('textbox', { name: 'Name' }).inputValue(), await page.getByLabel('Description').inputValue()]).toEqual([
      'Support',
      'Mine.',
    ])
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved; it is in force now.').waitFor()
    expect(await manage(service, '/presets/support-bot')).toMatchObject({ data: { name: 'Support', description: 'Mine.' } })
    check()
  })
})

describe.skipIf(BROWSER_PATH === null)('what is not saved is not taken for what is in force', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test('in the logging of a workspace: the page says so, and forgets it with the screen', async () => {
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    const { page, checkAccessible, check } = await signedIn(browser, service, '/settings')
    const logging = page.getByRole('region', { name: 'Logging' })
    const box = logging.getByRole('checkbox', { name: 'Keep requests and answers' })
    await box.uncheck()
    await logging.getByText('Not saved yet.').waitFor()
    await checkAccessible()
    const screens = page.getByRole('navigation', { name: 'Screens' })
    await screens.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    await screens.getByRole('link', { name: 'Settings' }).click()
    await box.waitFor()
    expect([await box.isChecked(), await logging.getByText('Not saved yet.').count()]).toEqual([true, 0])
    await logging.getByLabel('Deleted after days').fill('7')
    await logging.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Contents of new requests are kept').waitFor()
    expect(await manage(service, '/workspaces/default')).toMatchObject({
      data: { is_observability_io_logging_enabled: true, io_logging_retention_days: 7 },
    })
    check()
  })

  test('in the description of a preset and in rules that are no valid JSON: kept over a reload, marked, and discarded by a button', async () => {
    await savePreset(service, 'support-bot', 'Answer briefly.')
    const { page, check } = await signedIn(browser, service, '/presets/support-bot?tab=settings')
    const mark = page.getByText('Not saved yet.')
    await page.getByLabel('Description').fill('Mine.')
    await page.reload()
    await mark.waitFor()
    expect(await page.getByLabel('Description').inputValue()).toBe('Mine.')
    await page.getByRole('button', { name: 'Discard' }).click()
    await mark.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Description').inputValue()).toBe('')

    const { data } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'words' } })
    await page.goto(`${service.url}/dashboard/guardrails?guardrail=${data.id}`)
    await page.getByRole('button', { name: 'JSON' }).click()
    await page.locator('.cm-editor').waitFor()
    const text = page.getByRole('textbox', { name: 'Rules as JSON' })
    await text.fill('{"content_filters": [MINE')
    await mark.waitFor()
    await page.reload()
    await text.getByText('MINE').waitFor()
    await page.getByText('This is no JSON').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await mark.waitFor({ state: 'detached' })
    await text.getByText('MINE').waitFor({ state: 'detached' })
    check()
  })

  test('in rules that an older page kept in another shape: the screen opens without them', async () => {
    const { data } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'before' } })
    const { page, check } = await signedIn(browser, service, '/')
    const session = page.waitForResponse('**/sessions/current')
    await page.reload()
    const { data: person } = (await (await session).json()) as { data: { user_id: string } }
    const row = { id: 2000, slug: null, pattern: 'OLD', label: '', action: 'flag', side: 'both' }
    await page.evaluate(
      `sessionStorage.setItem('patchbay.kept.${person.user_id} rules of ${data.id}', ${JSON.stringify(JSON.stringify([row]))})`,
    )
    await page.goto(`${service.url}/dashboard/guardrails?guardrail=${data.id}`)
    await page.getByRole('heading', { name: 'Rules of before' }).waitFor()
    await page.getByRole('button', { name: '+ pattern' }).click()
    await page.getByLabel('Pattern', { exact: true }).fill('NEW')
    await page.getByText('Not saved yet.').waitFor()
    check()
  })
})

/** Until the pointer moves, the note does not expire: it goes only because the page takes it away. */
const holdNote = (note: Locator): Promise<void> => note.hover()

describe.skipIf(BROWSER_PATH === null)('what is discarded can be had back for as long as its form is there', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test('JSON that is not valid yet, after the form was chosen in its place', async () => {
    const { data } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'words' } })
    const { page, check } = await signedIn(browser, service, `/guardrails?guardrail=${data.id}`)
    await page.getByRole('button', { name: 'JSON' }).click()
    await page.locator('.cm-editor').waitFor()
    const text = page.getByRole('textbox', { name: 'Rules as JSON' })
    await text.fill('{"content_filters": [MINE')
    await page.getByText('This is no JSON').waitFor()
    await page.getByRole('button', { name: 'Form' }).click()
    await page.getByText('The JSON is not valid yet: the form has the rules from before.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await text.getByText('MINE').waitFor()
    check()
  })

  test('edits of the logging, which end with the screen: so does the offer to undo', async () => {
    const { page, check } = await signedIn(browser, service, '/settings')
    await page.getByRole('region', { name: 'Logging' }).getByRole('checkbox', { name: 'Keep requests and answers' }).check()
    await page.getByRole('button', { name: 'Discard' }).click()
    const note = page.getByText('What you wrote is discarded.')
    await holdNote(note)
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Keys' }).press('Enter')
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    await note.waitFor({ state: 'detached' })
    check()
  })

  test('edits of the logging and of the name of a preset, until something is written anew', async () => {
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    await savePreset(service, 'support-bot', 'Answer briefly.')
    const { page, check } = await signedIn(browser, service, '/settings')
    for (const [path, label] of [
      ['/settings', 'Deleted after days'],
      ['/presets/support-bot?tab=settings', 'Description'],
    ] as const) {
      await page.goto(`${service.url}/dashboard${path}`)
      const field = page.getByLabel(label)
      await field.fill('9')
      await page.getByRole('button', { name: 'Discard' }).click()
      await page.getByRole('button', { name: 'Undo' }).click()
      expect(await field.inputValue()).toBe('9')
      await page.getByRole('button', { name: 'Discard' }).click()
      const note = page.getByText('What you wrote is discarded.')
      await holdNote(note)
      await field.fill('11')
      await note.waitFor({ state: 'detached' })
    }
    check()
  })

  test('rules of a guardrail, as JSON too, until they are written further or saved', async () => {
    const filters = (pattern: string) => ({ content_filters: [{ pattern, action: 'flag' }] })
    const { data } = await manage<{ data: { id: string } }>(service, '/guardrails', { body: { name: 'codes', ...filters('FIRST') } })
    const { page, check } = await signedIn(browser, service, `/guardrails?guardrail=${data.id}`)
    const [json, form] = [page.getByRole('button', { name: 'JSON' }), page.getByRole('button', { name: 'Form' })]
    const text = page.getByRole('textbox', { name: 'Rules as JSON' })
    const left = page.getByText('The JSON is not valid yet: the form has the rules from before.')
    const discarded = page.getByText('What you wrote is discarded.')
    const pattern = page.getByLabel('Pattern', { exact: true })
    const leaveInvalid = async (): Promise<void> => {
      await json.click()
      await page.locator('.cm-editor').waitFor()
      await text.fill('{"content_filters": [MINE')
      await page.getByText('This is no JSON').waitFor()
      await form.click()
      await holdNote(left)
    }
    await leaveInvalid()
    await pattern.fill('SECOND')
    await left.waitFor({ state: 'detached' })

    await leaveInvalid()
    await page.getByRole('button', { name: 'Save', exact: true }).press('Enter')
    await page.getByText('codes is saved: in force now.').waitFor()
    await left.waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)

    await json.click()
    await text.fill(JSON.stringify(filters('THIRD')))
    await page.getByRole('button', { name: 'Discard' }).click()
    await text.getByText('SECOND').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await text.getByText('THIRD').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await holdNote(discarded)
    await text.fill(JSON.stringify(filters('FOURTH')))
    await discarded.waitFor({ state: 'detached' })
    check()
  })
})
