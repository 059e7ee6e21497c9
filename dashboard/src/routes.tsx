/** Every screen with its path. A screen is loaded when it is first opened. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

import { Empty } from './parts/empty.tsx'
import { ErrorNote } from './parts/error-note.tsx'
import { PAGE_BASE } from './page.ts'
import { parseSearch, stringifySearch, validateSearch } from './search.ts'
import { Shell } from './shell/shell.tsx'

const root = createRootRoute({
  component: Shell,
  validateSearch,
  notFoundComponent: () => <Empty>There is no such screen.</Empty>,
  errorComponent: ({ error, reset }) => <ErrorNote error={error} again={reset} />,
})

const screen = <Path extends string, Parent extends AnyRoute>(
  parent: Parent,
  path: Path,
  component: ReturnType<typeof lazyRouteComponent>,
) => createRoute({ getParentRoute: () => parent, path, component })

const requests = screen(
  root,
  '/requests',
  lazyRouteComponent(() => import('./screens/requests/requests-screen.tsx'), 'RequestsScreen'),
)

const tree = root.addChildren([
  screen(
    root,
    '/',
    lazyRouteComponent(() => import('./screens/overview/overview-screen.tsx'), 'OverviewScreen'),
  ),
  requests.addChildren([
    screen(
      requests,
      '$id',
      lazyRouteComponent(() => import('./screens/requests/request-screen.tsx'), 'RequestScreen'),
    ),
  ]),
  screen(
    root,
    '/presets',
    lazyRouteComponent(() => import('./screens/presets/presets-screen.tsx'), 'PresetsScreen'),
  ),
  screen(
    root,
    '/presets/$slug',
    lazyRouteComponent(() => import('./screens/presets/preset-screen.tsx'), 'PresetScreen'),
  ),
  screen(
    root,
    '/playground',
    lazyRouteComponent(() => import('./screens/playground/playground-screen.tsx'), 'PlaygroundScreen'),
  ),
  screen(
    root,
    '/models',
    lazyRouteComponent(() => import('./screens/models/models-screen.tsx'), 'ModelsScreen'),
  ),
  screen(
    root,
    '/keys',
    lazyRouteComponent(() => import('./screens/keys/keys-screen.tsx'), 'KeysScreen'),
  ),
  screen(
    root,
    '/spend',
    lazyRouteComponent(() => import('./screens/spend/spend-screen.tsx'), 'SpendScreen'),
  ),
  screen(
    root,
    '/guardrails',
    lazyRouteComponent(() => import('./screens/guardrails/guardrails-screen.tsx'), 'GuardrailsScreen'),
  ),
  screen(
    root,
    '/setup',
    lazyRouteComponent(() => import('./screens/setup/setup-screen.tsx'), 'SetupScreen'),
  ),
  screen(
    root,
    '/workspaces',
    lazyRouteComponent(() => import('./screens/workspaces/workspaces-screen.tsx'), 'WorkspacesScreen'),
  ),
  screen(
    root,
    '/audit',
    lazyRouteComponent(() => import('./screens/audit/audit-screen.tsx'), 'AuditScreen'),
  ),
  screen(
    root,
    '/settings',
    lazyRouteComponent(() => import('./screens/settings/settings-screen.tsx'), 'SettingsScreen'),
  ),
])

export const router = createRouter({
  routeTree: tree,
  basepath: PAGE_BASE,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
