/** The rules of a guardrail as JSON. */
import { describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { filterJson, readFilterJson } from '../src/screens/guardrails/filter-json.ts'
import type { FilterRow } from '../src/screens/guardrails/filter-rows.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const ROWS: readonly FilterRow[] = [
  { id: 0, slug: 'email', pattern: '', label: '', action: 'redact', side: 'both' },
  { id: 1, slug: 'regex-prompt-injection', pattern: '', label: '', action: 'block', side: 'input', scanScope: 'user_only' },
  { id: 1000, slug: null, pattern: 'ACME-\\d+', label: 'ACME', action: 'flag', side: 'output' },
]

describe('the text of rules', () => {
  test('is read as the rows that it was made of', () => {
    expect(readFilterJson(filterJson(ROWS), ROWS)).toEqual({ rows: ROWS.map((row) => ({ scanScope: undefined, ...row })) })
    expect(readFilterJson('{}', ROWS)).toEqual({ rows: [] })
  })

  test('keeps the row of a rule that moved, and gives a new rule a row of its own', () => {
    const text = JSON.stringify({
      content_filters: [
        { pattern: 'new', action: 'block' },
        { pattern: 'ACME-\\d+', label: 'ACME', action: 'block', applies_to: 'both' },
      ],
      content_filter_builtins: [{ slug: 'email', label: '[EMAIL]', action: 'block' }],
    })
    const read = readFilterJson(text, ROWS)
    expect('rows' in read && read.rows.map(({ id, action, side }) => [id, action, side])).toEqual([
      [2000, 'block', 'both'],
      [1000, 'block', 'both'],
      [0, 'block', 'both'],
    ])
  })

  test.each([
    ['{', 'This is no JSON'],
    ['[]', 'Write an object'],
    ['{"filters": []}', 'There is no member filters'],
    ['{"content_filters": {}}', 'content_filters is no list'],
    ['{"content_filters": ["a"]}', 'content_filters[0]: it is no object'],
    ['{"content_filters": [{"pattern": "", "action": "block"}]}', 'content_filters[0]: its pattern is missing'],
    ['{"content_filters": [{"pattern": "a", "action": "drop"}]}', 'action is one of block, redact, flag'],
    ['{"content_filters": [{"pattern": "a", "action": "flag", "side": "input"}]}', 'there is no member side'],
    ['{"content_filters": [{"pattern": 3, "action": "flag"}]}', 'pattern is no text'],
    ['{"content_filter_builtins": [{"slug": "mail", "action": "flag"}]}', 'slug is one of email'],
    ['{"content_filter_builtins": [{"slug": "email", "action": "flag", "__proto__x": "a"}]}', 'there is no member __proto__x'],
  ])('%s is refused with a sentence', (text, sentence) => {
    const read = readFilterJson(text, ROWS)
    expect('fault' in read && read.fault).toContain(sentence)
  })
})

describe.skipIf(BROWSER_PATH === null)('the rules of a guardrail', () => {
  test('are edited as JSON and saved; a text that says none is not, and what the form has no field for is kept', async () => {
    const service = await services.start()
    const rule = { slug: 'regex-prompt-injection', action: 'block', scan_scope: 'user_only' }
    const { data: made } = await manage<{ data: { id: string } }>(service, '/guardrails', {
      body: { name: 'pii', content_filter_builtins: [rule] },
    })
    const saved = async () =>
      (
        await manage<{
          data: { content_filter_builtins: readonly object[] | null; content_filters: readonly { pattern: string }[] | null }
        }>(service, `/guardrails/${made.id}`)
      ).data
    const { page, ...visitor } = await signedIn(browser, service, `/guardrails?guardrail=${made.id}`)
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await page.getByLabel('Add a built-in filter').selectOption('email')
    await save.click()
    await page.getByText('pii is saved').waitFor()
    expect((await saved()).content_filter_builtins).toMatchObject([rule, { slug: 'email', action: 'redact' }])

    await page.getByRole('group', { name: 'Rules as' }).getByRole('button', { name: 'JSON' }).click()
    const text = page.getByRole('textbox', { name: 'Rules as JSON' })
    await page.locator('.cm-editor').waitFor()
    await text.fill('{"content_filters": [{"pattern": "ACME"}]}')
    await page.getByText('content_filters[0]: its action is missing.').waitFor()
    expect(await save.getAttribute('aria-disabled')).toBe('true')
    await visitor.checkAccessible()
    await text.fill('{"content_filters": [{"pattern": "ACME", "action": "flag"}]}')
    await page.getByText('its action is missing').waitFor({ state: 'detached' })
    const written = page.waitForResponse((response) => response.request().method() === 'PATCH')
    await save.click()
    await written
    expect(await saved()).toMatchObject({ content_filter_builtins: null, content_filters: [{ pattern: 'ACME', action: 'flag' }] })
    await page.getByRole('group', { name: 'Rules as' }).getByRole('button', { name: 'Form' }).click()
    expect(await page.getByLabel('Pattern', { exact: true }).inputValue()).toBe('ACME')
    visitor.check()
  })
})
