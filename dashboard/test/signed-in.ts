/** A person who is signed in, by the page that people sign in by. */
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
  const visitor = await browser.visit(`${service.url}/dashboard${path}`, options)
  await visitor.page.getByLabel('Management key or sign-in link').fill(service.managementKey)
  await visitor.page.getByRole('button', { name: 'Sign in' }).click()
  // The last screen of an administrator: the page knows who it is, and takes all keys.
  await visitor.page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Settings' }).waitFor()
  return visitor
}
