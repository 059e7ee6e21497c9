import { beforeAll, describe, expect, test } from 'bun:test'

import { OIDC_CLIENT, startIdentityProvider } from '../../test/support/identity-provider.ts'
import { type RunningService, useServices } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { signedIn, signInByPage } from './signed-in.ts'

const services = useServices()
const browser = useBrowser()

const provider = startIdentityProvider()
const withProvider = `auth: { oidc: { issuer: "${provider.issuer}", client_id: ${OIDC_CLIENT.id}, client_secret: "${OIDC_CLIENT.secret}", trusted_hosts: ["${provider.host}"] } }`

describe.skipIf(BROWSER_PATH === null)('signing in', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
  })

  test('the page asks for a link or a key, loads nothing from elsewhere, and can be used by everybody', async () => {
    const visitor = await browser.visit(`${service.url}/dashboard`)
    await visitor.page.getByRole('heading', { name: 'Sign in to Patchbay' }).waitFor()
    await visitor.checkAccessible()
  })

  test('what is no key is refused in a sentence, and nothing is kept', async () => {
    const visitor = await browser.visit(`${service.url}/dashboard`)
    visitor.expectStatus(401, 404)
    await visitor.page.getByLabel('Management key or sign-in link').fill('pb_mgmt_nonsense')
    await visitor.page.getByRole('button', { name: 'Sign in' }).click()
    await visitor.page.getByRole('alert').waitFor()
    expect(await visitor.page.evaluate('localStorage.length')).toBe(0)
    visitor.check()
  })

  test('at the identity provider is one press, and leads to the dashboard; without a provider there is no such button', async () => {
    const { url } = await services.start({ config: withProvider })
    const visitor = await browser.visit(`${url}/dashboard`)
    const button = visitor.page.getByRole('link', { name: `Sign in with ${provider.host}` })
    await button.waitFor()
    await visitor.checkAccessible()
    visitor.expectOrigin(provider.issuer)
    await button.click()
    await visitor.page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(visitor.page.url()).not.toContain('login')
    visitor.check()

    const without = await browser.visit(`${service.url}/dashboard`)
    await without.page.getByRole('heading', { name: 'Sign in to Patchbay' }).waitFor()
    await without.settled()
    expect(await without.page.getByRole('link', { name: /^Sign in with/ }).count()).toBe(0)
  })

  test('who is not let in at the identity provider reads why, goes back, and comes to the page that they wanted', async () => {
    const { url } = await services.start({ config: withProvider })
    provider.claims = { aud: 'somebody-else' }
    const visitor = await browser.visit(`${url}/dashboard/requests?q=status:error`)
    visitor.expectOrigin(provider.issuer)
    visitor.expectStatus(401)
    const button = visitor.page.getByRole('link', { name: `Sign in with ${provider.host}` })
    await button.click()
    await visitor.page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
    await visitor.checkAccessible()
    provider.claims = {}
    await visitor.page.getByRole('link', { name: 'Back to the sign-in page' }).click()
    await button.click()
    await visitor.page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
    expect(new URL(visitor.page.url()).searchParams.get('q')).toBe('status:error')
    visitor.check()
  })

  test('a session that ends is begun again at the identity provider in another tab, and this one keeps what was written', async () => {
    const own = await services.start({ config: withProvider })
    provider.claims = {}
    const visitor = await browser.visit(`${own.url}/dashboard/playground`, { alone: true })
    visitor.expectOrigin(provider.issuer)
    visitor.expectStatus(401)
    const { page } = visitor
    await page.getByRole('link', { name: `Sign in with ${provider.host}` }).click()
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    await page.evaluate(`localStorage.setItem('patchbay.csrf', 'of-a-session-that-has-ended')`)
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await dialog.waitFor()
    await visitor.checkAccessible()
    const opened = page.waitForEvent('popup')
    await dialog.getByRole('link', { name: `Sign in with ${provider.host}` }).click()
    const other = await opened
    await other.getByRole('heading', { name: 'Overview' }).waitFor()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Message 1', { exact: true }).inputValue()).toBe('Where is my parcel?')
    visitor.check()
  })

  test('the screen of the address is shown after a sign-in, also where the address changed while nobody was signed in', async () => {
    const visitor = await browser.visit(`${service.url}/dashboard/keys`)
    await signInByPage(visitor, service.managementKey)
    const { page, check, settled } = visitor
    await page.getByRole('link', { name: 'Spend', exact: true }).click()
    await page.getByRole('heading', { name: 'Spend', level: 1 }).waitFor()
    await settled()
    await page.locator('.side-foot button').click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Patchbay' }).waitFor()
    await page.goBack()
    await signInByPage(visitor, service.managementKey)
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/dashboard/keys')
    check()
  })

  test('a link opens the page once, leaves the address at once, and the page it opened signs out', async () => {
    const printed = await services.run(['login', '--data-dir', service.dataDir, '--config', service.configPath])
    const link = `${service.url}/dashboard/${new URL(printed.stdout.trim()).hash}`
    const { page, check, settled } = await browser.visit(link)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(page.url()).not.toContain('login')
    // A request that is still pending at sign-out is rightly a 401.
    await settled()
    await page.locator('.side-foot button').click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Patchbay' }).waitFor()
    check()

    const second = await browser.visit(link)
    second.expectStatus(401)
    await second.page.getByRole('alert').waitFor()
    second.check()
  })

  test('a link that somebody is made to open ends no session unasked: the person stays signed in, or uses it', async () => {
    const { page, check, checkAccessible, expectStatus } = await signedIn(browser, service, '/')
    const name = page.locator('.side-foot button').filter({ hasText: /^Owner$/ })
    await name.waitFor()
    const printed = await services.run(['login', '--data-dir', service.dataDir, '--config', service.configPath])
    const open = async (): Promise<void> => {
      await page.goto('about:blank')
      await page.goto(`${service.url}/dashboard/${new URL(printed.stdout.trim()).hash}`)
      await page.getByRole('heading', { name: 'Use this sign-in link?' }).waitFor()
      expect(page.url()).not.toContain('login')
    }
    await open()
    await checkAccessible()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await name.waitFor()

    await open()
    await page.getByRole('button', { name: 'Use the link' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    check()

    // It is used up now.
    expectStatus(401)
    await open()
    await page.getByRole('button', { name: 'Use the link' }).click()
    await page.getByText('The link was not used:').waitFor()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    check()
  })

  test('a link is opened at once where the session that the browser holds is over', async () => {
    const { page, check, expectStatus } = await signedIn(browser, service, '/')
    const printed = await services.run(['login', '--data-dir', service.dataDir, '--config', service.configPath])
    await page.context().clearCookies()
    await page.goto('about:blank')
    expectStatus(401)
    await page.goto(`${service.url}/dashboard/${new URL(printed.stdout.trim()).hash}`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    check()
  })
})
