/**
 * A person who signed in earlier: the browser has both halves of the session, as the sign-in page leaves them. If the page shows the
 * dashboard of this service already, the visit goes on in its document.
 */
import type { RunningService } from '../../test/support/started-service.ts'
import type { useBrowser, Visitor } from './browser.ts'
import { enter } from './going-on.ts'

type Browser = ReturnType<typeof useBrowser>

/** On the screen at `path`: `/requests?q=status:error`. */
export const signedIn = async (
  browser: Browser,
  service: RunningService,
  path = '',
  options: Parameters<Browser['visit']>[1] = {},
): Promise<Visitor> => {
  const address = `${service.url}/dashboard${path}`
  const visitor = await browser.visit(address, {
    ...options,
    enter: (page) => enter(page, address, service.managementKey),
    async remembered(page) {
      const answer = await page.request.post(`${service.api}/sessions`, { data: { key: service.managementKey } })
      const { csrf } = (await answer.json()) as { csrf: string }
      return { 'patchbay.csrf': csrf }
    },
  })
  await screensAreThere(visitor)
  return visitor
}

/** Signs in on the page that people use. */
export const signInByPage = async (visitor: Visitor, key: string): Promise<void> => {
  await visitor.page.getByLabel('Management key or sign-in link').fill(key)
  await visitor.page.getByRole('button', { name: 'Sign in' }).click()
  await screensAreThere(visitor)
}

/** The last screen of an administrator is shown when the page knows who is signed in and handles all keys. */
const screensAreThere = ({ page }: Visitor): Promise<void> =>
  page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Settings' }).waitFor()
