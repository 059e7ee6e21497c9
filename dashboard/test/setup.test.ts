import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { SNIPPETS, withModel } from '../src/snippets.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { open } from './going-on.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

let service: RunningService
beforeAll(async () => {
  service = await services.start()
})

describe.skipIf(BROWSER_PATH === null)('setting up a client', () => {
  test('the page makes a key, fills in the snippet, and turns green with the first request', async () => {
    const { page, ...visitor } = await signedIn(browser, service, '/setup')
    await page.getByText('Waiting for the first request').waitFor()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('The key stands in the snippet below').waitFor()
    await visitor.checkAccessible()
    const shell = `${await page.getByLabel('In the shell, first').textContent()}\n${await page.getByLabel('Then, by curl').textContent()}`
    await Bun.$`sh -c ${shell}`.quiet()
    await page.getByText('First request seen').waitFor()
    await visitor.checkAccessible()
  })

  test('a run in the playground connects no client: the step stays open', async () => {
    const fresh = await services.start()
    const { page, check } = await signedIn(browser, fresh, '/playground?model=sandbox/echo')
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('link', { name: 'Request', exact: true }).waitFor()
    await open(page, '')
    const step = page.getByRole('region', { name: 'First steps' }).getByRole('link', { name: 'Connect a client' })
    await step.waitFor()
    expect(await step.innerText()).toContain('3')
    await chat(fresh, { model: 'sandbox/echo' })
    await until(async () => {
      const { data } = await manage<{ data: readonly { purpose: unknown; last_used_at: string | null }[] }>(fresh, '/keys?kind=inference')
      return data.some(({ purpose, last_used_at: usedAt }) => purpose === null && usedAt !== null)
    }, 'the use of the key')
    await page.goto(`${fresh.url}/dashboard`)
    await step.filter({ hasText: '(done)' }).waitFor()
    check()
  })

  test('the model is a preset where there is one; its field can be emptied, and the snippet has what is typed', async () => {
    await savePreset(service, 'greeter', 'Be kind.')
    const { page, check } = await signedIn(browser, service, '/presets/greeter?tab=used')
    await page.getByRole('link', { name: 'Connect a client' }).click()
    await page.getByText('"model": "@preset/greeter"').waitFor()
    await page.goto(`${service.url}/dashboard/setup`)
    await page.getByText('"model": "@preset/greeter"').waitFor()
    const model = page.getByLabel('Model or preset')
    await model.fill('')
    await page.getByText('"model": ""').waitFor()
    expect(await model.inputValue()).toBe('')
    await model.fill('@preset/support-bot')
    await page.getByText('"model": "@preset/support-bot"').waitFor()
    check()
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

const MODULES = join(import.meta.dirname, '../../node_modules')
const IMPORTS = /from '([^']+)'/g

/** The snippets of other languages and packages are installed and run by `npm run test:clients`. */
const RUNNABLE = SNIPPETS.filter(
  ({ language, text }) =>
    language === 'js' && [...text.matchAll(IMPORTS)].every(([, name = '']) => name.startsWith('node:') || existsSync(join(MODULES, name))),
)

test('the snippets of JavaScript whose packages are installed are those of the SDKs of OpenAI and Anthropic, and more', () => {
  expect(RUNNABLE.map(({ id }) => id)).toEqual(expect.arrayContaining(['openai-node', 'anthropic-node']))
})

describe('run as it is shown', () => {
  test.each(RUNNABLE.map((snippet) => [snippet.name, snippet] as const))(
    'the snippet of %s prints the answer of the model when it is run as it is shown',
    async (_, snippet) => {
      const directory = services.directory()
      symlinkSync(MODULES, join(directory, 'node_modules'))
      writeFileSync(join(directory, 'snippet.mjs'), withModel(snippet, 'sandbox/echo'))
      const ran = await Bun.$`${process.execPath} snippet.mjs`
        .cwd(directory)
        .env({ PATH: process.env['PATH'], HOME: directory, PATCHBAY_URL: service.url, INFERENCE_KEY: service.inferenceKey })
        .quiet()
      expect(ran.stdout.toString()).toContain('Hello!')
    },
  )
})
