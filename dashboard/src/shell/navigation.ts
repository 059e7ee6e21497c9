/** The screens in the order of the navigation, each with the key that follows `g`. */
export interface Screen {
  readonly to: string
  readonly title: string
  readonly key: string
  /** `listed`: in a member's navigation; `open`: reachable by address; `closed`: all its requests would be refused. */
  readonly members: 'listed' | 'open' | 'closed'
}

const SCREENS: readonly Screen[] = [
  { to: '/', title: 'Overview', key: 'o', members: 'listed' },
  { to: '/requests', title: 'Requests', key: 'r', members: 'listed' },
  { to: '/presets', title: 'Presets', key: 'p', members: 'listed' },
  { to: '/playground', title: 'Playground', key: 'y', members: 'listed' },
  { to: '/models', title: 'Models', key: 'm', members: 'closed' },
  { to: '/keys', title: 'Keys', key: 'k', members: 'listed' },
  { to: '/spend', title: 'Spend', key: 's', members: 'open' },
  { to: '/guardrails', title: 'Guardrails', key: 'l', members: 'closed' },
  { to: '/setup', title: 'Set up', key: 'u', members: 'listed' },
  { to: '/workspaces', title: 'Workspaces', key: 'w', members: 'closed' },
  { to: '/audit', title: 'Audit', key: 'a', members: 'closed' },
  { to: '/settings', title: 'Settings', key: 't', members: 'open' },
]

type Role = 'admin' | 'member'

/** The screens of the navigation. */
export const listedFor = (role: Role): readonly Screen[] => SCREENS.filter(({ members }) => role === 'admin' || members === 'listed')

/** The screens that the palette and the keyboard lead to. */
export const openTo = (role: Role): readonly Screen[] => SCREENS.filter(({ members }) => role === 'admin' || members !== 'closed')

/** `path`: with or without the prefix of the service. */
export const closedToMembers = (path: string): Screen | undefined =>
  SCREENS.find(({ to, members }) => members === 'closed' && path.replace(/\/$/, '').endsWith(to))
