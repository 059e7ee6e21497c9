/** The frame around every screen: navigation, the palette, the state of the connection. */
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { Suspense, useEffect, useRef, useState } from 'react'

import { connection } from '../api/connection.ts'
import { currentSession, signOut } from '../api/session.ts'
import { lastNavigation, rememberNavigation } from '../last-navigation.ts'
import { lazyPart } from '../lazy-part.ts'
import { COMMAND_KEY } from '../parts/command-key.ts'
import { focusTitle, keepFocus } from '../parts/keep-focus.ts'
import { Menu } from '../parts/menu.tsx'
import { FaultBoundary } from '../parts/panel.tsx'
import { Person } from '../parts/person.tsx'
import { Skeleton } from '../parts/loaded.tsx'
import { useCurrentInView } from '../parts/use-current-in-view.ts'
import { createStore, useStore } from '../store.ts'
import { theme, THEMES } from '../theme.ts'
import { ForAdmins } from './for-admins.tsx'
import { KeysHelp, helpOpen } from './keys-help.tsx'
import { Logo } from './logo.tsx'
import { closedToMembers, listedFor, openTo } from './navigation.ts'
import type { PaletteProps } from './palette.tsx'
import { PaletteOpening, typedAhead } from './palette-opening.tsx'
import { useShellKeys } from './shell-keys.ts'
import { WorkspaceSwitch } from './workspace-switch.tsx'

const Palette = lazyPart<PaletteProps>(() => import('./palette.tsx'), 'Palette')

const paletteOpen = createStore(false)
const closePalette = (): void => {
  paletteOpen.set(false)
  typedAhead.set('')
}

export const Shell = () => {
  const session = useQuery(currentSession)
  const known = session.data?.role
  const isOperator = session.data?.is_operator === true
  const [before] = useState(lastNavigation)
  // Until the person's role is known, the navigation is that of last time, or has only what everyone may open.
  const role = known ?? (before === undefined || before === 'member' ? 'member' : 'admin')
  useEffect(() => {
    if (known === 'member' || (known === 'admin' && (!isOperator || lastNavigation() !== 'operator'))) rememberNavigation(known)
  }, [known, isOperator])
  const [screens, open] = [listedFor(role), openTo(role)]
  const isOpen = useStore(paletteOpen)
  const navigate = useNavigate()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const closed = session.data?.role === 'member' ? closedToMembers(path) : undefined
  const navigation = useCurrentInView(`${path} of ${screens.length}`)
  useShellKeys({ screens: open, openPalette: () => paletteOpen.set(true), openHelp: () => helpOpen.set(true) })
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="side">
        <div className="brand">
          <Logo />
          <span>Patchbay</span>
          <button type="button" className="palette-button" onClick={() => paletteOpen.set(true)}>
            <span className="hidden-text">Search and commands </span>
            <span className="wide-only">{COMMAND_KEY}K</span>
            <span className="narrow-only" aria-hidden="true">
              Search
            </span>
          </button>
        </div>
        <WorkspaceSwitch />
        <nav ref={navigation} aria-label="Screens">
          <ul>
            {screens.map(({ to, title }) => (
              <li key={to}>
                <Link to={to} className="nav-link" activeOptions={{ exact: to === '/', includeSearch: false }}>
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className="side-foot">
          <Menu
            label="You"
            button={<Person id={session.data?.user_id ?? '…'} />}
            items={[
              ...THEMES.map((one) => ({ label: `Theme: ${one}`, onSelect: () => theme.set(one) })),
              // Members have Settings nowhere else: themes are not all that it sets for this browser.
              { label: 'Settings', onSelect: () => void navigate({ to: '/settings' }) },
              { label: 'Keys of the keyboard', onSelect: () => helpOpen.set(true) },
              { label: 'Sign out', onSelect: () => void signOut() },
            ]}
          />
        </div>
      </header>
      <main id="content" className="content" tabIndex={-1}>
        <ConnectionBar />
        <FocusOnArrival />
        {isOpen ? (
          <FaultBoundary>
            <Suspense fallback={<PaletteOpening onClose={closePalette} />}>
              <Palette onClose={closePalette} screens={open} />
            </Suspense>
          </FaultBoundary>
        ) : null}
        <FaultBoundary>
          <Suspense fallback={<Skeleton rows={8} />}>{closed === undefined ? <Outlet /> : <ForAdmins title={closed.title} />}</Suspense>
        </FaultBoundary>
      </main>
      <KeysHelp screens={open} />
    </div>
  )
}

/** Always on the page, since screen readers announce only changes of what is there. */
const ConnectionBar = () => {
  const isAway = useStore(connection) === 'unreached'
  const [wasAway, setWasAway] = useState(false)
  if (isAway && !wasAway) setWasAway(true)
  return (
    <p className={isAway ? 'connection-bar' : 'hidden-text'} role="status">
      {isAway
        ? 'The service cannot be reached. What you see is what was last known; it is asked again by itself.'
        : wasAway
          ? 'The service answers again.'
          : ''}
    </p>
  )
}

/** Announces a new screen by moving the focus to its title. */
const FocusOnArrival = () => {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const before = useRef<string | null>(null)
  useEffect(() => {
    // A request opens beside its list, and takes the focus itself.
    const screen = path.replace(/(?<=\/requests)\/.*/, '')
    const last = before.current
    before.current = screen
    if (last === null || last === screen) return
    const timer = setTimeout(focusTitle, 0)
    return () => clearTimeout(timer)
  }, [path])
  useEffect(keepFocus, [])
  return null
}
