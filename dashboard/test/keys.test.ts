import { describe, expect, test } from 'bun:test'

import { useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('keys', () => {
  test('a key with $20 a month is made by three presses, is shown once with a snippet that works, and is gone after a reload', async () => {
    const service = await services.start()
    const { page, ...visitor } = await signedIn(browser, service, '/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('ada laptop')
    await page.getByLabel('Limit in dollars').fill('$20')
    await page.getByRole('button', { name: 'Create' }).click()
    const made = page.getByLabel('The key, shown this once')
    await made.waitFor()
    const key = (await made.textContent())?.trim() ?? ''
    await visitor.checkAccessible()

    const shell = `${await page.getByLabel('In the shell, first').textContent()}\n${await page.getByLabel('curl: then').textContent()}`
    const answer = await Bun.$`sh -c ${shell}`.quiet()
    expect(JSON.parse(answer.stdout.toString())).toMatchObject({ choices: [{ message: { content: 'Hello!' } }] })

    // Leaving asks once, since it was not copied.
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

  test('a key is revoked by its name, and its next request is 401', async () => {
    const service = await services.start()
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
