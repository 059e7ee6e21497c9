import { describe, expect, test } from 'bun:test'

import { useServices } from '../../test/support/started-service.ts'
import { SNIPPETS, withModel } from '../src/snippets.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('setting up a client', () => {
  test('the page makes a key, fills in the snippet, and turns green with the first request', async () => {
    const service = await services.start()
    const { page, ...visitor } = await signedIn(browser, service, '/setup')
    await page.getByText('Waiting for the first request').waitFor()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('The key stands in the snippet below').waitFor()
    await visitor.checkAccessible()
    const shell = `${await page.getByLabel('In the shell, first').textContent()}\n${await page.getByLabel('curl: then').textContent()}`
    await Bun.$`sh -c ${shell}`.quiet()
    await page.getByText('First request seen').waitFor()
    await visitor.checkAccessible()
  })
})

test.each(SNIPPETS.map((snippet) => [snippet.name, snippet] as const))(
  'the snippet of %s names the chosen model, and no other',
  (_, snippet) => {
    const text = withModel(snippet, '@preset/support-bot')
    expect(text).toContain('@preset/support-bot')
    expect(text).not.toMatch(/gpt-5\.4|claude-opus|deepseek/)
  },
)
