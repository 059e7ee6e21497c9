import { describe, expect, test } from 'bun:test'

import { say, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage } from './calls.ts'
import { oneProvider } from './one-provider.ts'
import { signedIn } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('the overview', () => {
  test('names a provider that fails with its last error by itself, and no longer once the provider answers again', async () => {
    const upstream = await startFakeUpstream()
    const service = await services.start({ config: oneProvider(upstream) })
    upstream.script(say('well'))
    await chat(service, { model: 'fake/good' })
    const { page, ...visitor } = await signedIn(browser, service)
    const providers = page.getByRole('table', { name: 'Providers' })
    await providers.getByRole('link', { name: /^Good\s*, Answers$/ }).waitFor()
    const trouble = page.getByRole('link', { name: /^▲?\s*Good/ }).and(page.locator('.trouble'))
    expect(await trouble.count()).toBe(0)

    upstream.script((exchange) => exchange.answer(500, JSON.stringify({ error: { message: 'The engine burst.' } })))
    await chat(service, { model: 'fake/good' })
    await trouble.waitFor()
    expect(await trouble.textContent()).toMatch(/of attempts failed in this half hour · 500 server at [\d:]+: The engine burst\.$/s)
    await visitor.checkAccessible()
    await trouble.click()
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
    await page.getByRole('table', { name: 'Providers' }).getByText('Fails at times').waitFor()
    await page.goBack()
    await trouble.waitFor()

    upstream.script(say('well'))
    await chat(service, { model: 'fake/good' })
    await trouble.waitFor({ state: 'detached' })
    visitor.check()
  })

  test('heads of columns begin with a capital letter, whatever the sums are grouped by', async () => {
    const service = await services.start()
    await chat(service, { model: 'sandbox/echo' })
    const { page, check } = await signedIn(browser, service, '/?by=model')
    await page.getByRole('table', { name: 'Top spend by model' }).waitFor()
    const head = (name: string) => page.getByRole('columnheader', { name, exact: true }).waitFor()
    await head('Model')
    await page.goto(`${service.url}/dashboard/spend?group=user&and=model`)
    await head('Person')
    await head('Model')
    check()
  })

  test('says what the month costs of its budget, and nothing where there is none', async () => {
    const service = await services.start()
    const { page, ...visitor } = await signedIn(browser, service)
    const figures = page.locator('.figures > div')
    const ofBudget = figures.filter({ hasText: 'Spend this month, of its budget' })
    await figures.first().waitFor()
    await page.waitForLoadState('networkidle')
    expect(await ofBudget.count()).toBe(0)
    await manage(service, '/workspaces/default/budgets/monthly', { method: 'PUT', body: { limit_usd: 500 } })
    await page.reload()
    await ofBudget.waitFor()
    expect(await ofBudget.getByRole('link').textContent()).toBe('$0 of $500.00')
    await visitor.checkAccessible()
    await ofBudget.getByRole('link').click()
    await page.getByText('Forecast for the month').waitFor()
    visitor.check()
  })
})
