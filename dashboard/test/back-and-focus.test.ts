/** The Back button: what was written is restored, and the keyboard continues where it was. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

const focusedText = async (page: Page): Promise<string> => String(await page.evaluate('document.activeElement?.textContent ?? ""'))

describe.skipIf(BROWSER_PATH === null)('back', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test('in the playground and in the rules of a guardrail, what was written and not saved is there again', async () => {
    await manage(service, '/guardrails', { body: { name: 'numbers' } })
    const { page, check } = await signedIn(browser, service, '/playground')
    const to = (name: string): Promise<void> => page.getByRole('link', { name, exact: true }).click()
    await page.getByLabel('System').fill('Be brief.')
    await page.getByLabel('Message 1', { exact: true }).fill('What is 2 + 2?')
    await to('Guardrails')
    await to('numbers')
    await page.getByLabel('Add a built-in filter').selectOption('email')
    await page.getByRole('button', { name: 'Save' }).waitFor()
    await to('Keys')
    await page.goBack()
    await page.getByRole('heading', { name: 'Rules of numbers' }).waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).getAttribute('aria-disabled')).toBe('false')
    await to('Playground')
    expect(await page.getByLabel('System').inputValue()).toBe('Be brief.')
    expect(await page.getByLabel('Message 1', { exact: true }).inputValue()).toBe('What is 2 + 2?')
    check()
  })

  test('in a preset, the conversation of the test and the note of the draft are there again, behind another tab and another screen', async () => {
    await savePreset(service, 'tried-bot', 'Answer politely.')
    const { page, check } = await signedIn(browser, service, '/presets/tried-bot')
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('table', { name: 'Versions' }).waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    expect(await page.getByLabel('Message 1', { exact: true }).inputValue()).toBe('Where is my parcel?')
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('table', { name: 'Keys' }).waitFor()
    await page.goBack()
    expect(await page.getByLabel('Message 1', { exact: true }).inputValue()).toBe('Where is my parcel?')
    check()
  })

  test('from an open request leads to its row, by keyboard', async () => {
    const { id } = await chat(service, { model: 'sandbox/echo' })
    const { page, check } = await signedIn(browser, service, '/requests')
    await page.locator(`[data-row="${id}"]`).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await until(async () => (await focusedText(page)) === `Request ${id}`, 'the title of the request')
    await page.keyboard.press('Escape')
    await until(async () => (await page.evaluate('document.activeElement.closest("[data-row]")?.dataset.row')) === id, 'the row')
    check()
  })

  test('from a dialog that a menu opened leads to the button of the menu', async () => {
    const { page, check } = await signedIn(browser, service, '/presets')
    await page.getByRole('button', { name: 'New preset' }).first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'From a body…' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByLabel('Slug').waitFor()
    await page.keyboard.press('Escape')
    await until(async () => (await focusedText(page)).startsWith('New preset'), 'the button of the menu')
    check()
  })

  test('of a discarded draft is offered, and focus stays on the page', async () => {
    await savePreset(service, 'kept-bot', 'Answer politely.')
    const { page, check } = await signedIn(browser, service, '/presets/kept-bot')
    await page.getByLabel('System').first().fill('Answer rudely.')
    await page.getByRole('button', { name: 'Discard' }).click()
    await until(async () => (await page.evaluate('document.activeElement.tagName')) === 'H1', 'the title')
    await page.getByRole('button', { name: 'Undo' }).click()
    await until(async () => (await page.getByLabel('System').first().inputValue()) === 'Answer rudely.', 'the draft')
    check()
  })
})
