/**
 * The navigation that the person had last in this browser. A page begins with it, so that nothing moves from under a click when the service
 * has said who is signed in. It is forgotten when the person signs out.
 */
import { storeWhatFits } from './store-what-fits.ts'

const NAME = 'patchbay.navigation'

/** `operator`: an admin who chooses among workspaces. */
type Navigation = 'member' | 'admin' | 'operator'

export const lastNavigation = (): Navigation | undefined =>
  (['member', 'admin', 'operator'] as const).find((known) => known === localStorage.getItem(NAME))

export const rememberNavigation = (navigation: Navigation): void => {
  if (lastNavigation() !== navigation) storeWhatFits(localStorage, NAME, navigation)
}

export const forgetNavigation = (): void => localStorage.removeItem(NAME)
