import { describe, expect, test } from 'bun:test'

import { until, useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('one request', () => {
  test('its cause stands first: the provider that failed, its sentence, and every attempt with what became of it', async () => {
    const service = await services.start()
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
    await visitor.checkAccessible()
  })

  test('the list has the columns that a person chose, the times of UTC where a person wants them, and keys by their names', async () => {
    const service = await services.start()
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
    await filter.fill(`key:${made.key.slice(-4)}`)
    await page.keyboard.press('Enter')
    await until(async () => (await page.locator('[data-row]').count()) === 1, 'the one request of the key')
    await filter.fill('key:nobody')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('no key is called so').waitFor()
    await visitor.checkAccessible()
  })
})
