import { describe, expect, test } from 'bun:test'

import { useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
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
})
