/** The screens in their order, with the key that follows `g`. */
export interface Screen {
  readonly to: string
  readonly title: string
  readonly key: string
  /** Members see these too. */
  readonly forMembers: boolean
}

export const SCREENS: readonly Screen[] = [
  { to: '/', title: 'Overview', key: 'o', forMembers: true },
  { to: '/requests', title: 'Requests', key: 'r', forMembers: true },
  { to: '/presets', title: 'Presets', key: 'p', forMembers: true },
  { to: '/playground', title: 'Playground', key: 'y', forMembers: true },
  { to: '/models', title: 'Models', key: 'm', forMembers: false },
  { to: '/keys', title: 'Keys', key: 'k', forMembers: true },
  { to: '/spend', title: 'Spend', key: 's', forMembers: false },
  { to: '/guardrails', title: 'Guardrails', key: 'l', forMembers: false },
  { to: '/setup', title: 'Set up', key: 'u', forMembers: true },
  { to: '/workspaces', title: 'Workspaces', key: 'w', forMembers: false },
  { to: '/audit', title: 'Audit', key: 'a', forMembers: false },
  { to: '/settings', title: 'Settings', key: 't', forMembers: false },
]

export const screensFor = (role: 'admin' | 'member'): readonly Screen[] =>
  SCREENS.filter(({ forMembers }) => role === 'admin' || forMembers)
