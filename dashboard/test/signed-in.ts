/** A person who signed in before: the browser has both halves of the session, as the sign-in page leaves them. */
import type { StartedService } from '../../test/support/started-service.ts'
import type { useBrowser, Visitor } from './browser.ts'

type Browser = ReturnType<typeof useBrowser>

/** On the screen at `path`: `/requests?q=status:error`. */
export const signedIn = async (
  browser: Browser,
  service: StartedService,
  path = '',
  options: Parameters<Browser['visit']>[1] = {},
): Promise<Visitor> => {
  const visitor = await browser.visit(`${service.url}/dashboard${path}`, {
    ...options,
    async begin(page) {
      const answer = await page.request.post(`${service.api}/sessions`, { data: { key: service.managementKey } })
      const { csrf } = (await answer.json()) as { csrf: string }
      await page.evaluate(`localStorage.setItem('patchbay.csrf', ${JSON.stringify(csrf)})`)
    },
  })
  await screensAreThere(visitor)
  return visitor
}

/** By the page that people sign in by. */
export const signInByPage = async (visitor: Visitor, key: string): Promise<void> => {
  await visitor.page.getByLabel('Management key or sign-in link').fill(key)
  await visitor.page.getByRole('button', { name: 'Sign in' }).click()
  await screensAreThere(visitor)
}

/** The last screen of an administrator: the page knows who it is, and takes all keys. */
const screensAreThere = ({ page }: Visitor): Promise<void> =>
  page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Settings' }).waitFor()
