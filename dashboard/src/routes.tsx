/**
 * All screens with their paths. The screens that people land on are part of the first script, so that their first rows need no further one;
 * the others are loaded when they are first opened.
 */
import { createRootRoute, createRoute, createRouter, retainSearchParams, type AnyRoute } from '@tanstack/react-router'
import type { FunctionComponent } from 'react'

import { lazyPart } from './lazy-part.ts'
import { ErrorNote } from './parts/error-note.tsx'
import { PAGE_BASE } from './page.ts'
import { readGuardrail, readKey, readPreset } from './read-objects.ts'
import { parseSearch, type Search, stringifySearch, validateSearch } from './search.ts'
import { OverviewScreen } from './screens/overview/overview-screen.tsx'
import { readRequest } from './screens/requests/read-request.ts'
import { RequestScreen } from './screens/requests/request-screen.tsx'
import { RequestsScreen } from './screens/requests/requests-screen.tsx'
import { NoSuchScreen } from './shell/no-such-screen.tsx'
import { Shell } from './shell/shell.tsx'

const root = createRootRoute({
  component: Shell,
  validateSearch,
  // Keeps the chosen workspace in the address from screen to screen.
  search: { middlewares: [retainSearchParams(['workspace'])] },
  notFoundComponent: NoSuchScreen,
  errorComponent: ({ error, reset }) => <ErrorNote error={error} again={reset} />,
})

/** The parameters of the address that name an object beside its list. */
const OBJECTS = ['key', 'guardrail', 'workspace'] as const

/** `read` prefetches what the screen shows, as soon as the pointer is on a link to it. The screen itself shows any error. */
const screen = <Path extends string, Parent extends AnyRoute>(
  parent: Parent,
  path: Path,
  component: FunctionComponent,
  read?: (params: Readonly<Record<string, string>>, search: Search) => void,
) =>
  createRoute({
    getParentRoute: () => parent,
    path,
    component,
    ...(read === undefined
      ? {}
      : {
          loaderDeps: ({ search }: { search: Search }) => Object.fromEntries(OBJECTS.map((name) => [name, search[name]])),
          loader: ({ params, deps }: { params: Readonly<Record<string, string>>; deps: Search }): void => read(params, deps),
        }),
  })

const requests = screen(root, '/requests', RequestsScreen)

const tree = root.addChildren([
  screen(root, '/', OverviewScreen),
  requests.addChildren([screen(requests, '$id', RequestScreen, ({ id = '' }) => void readRequest(id))]),
  screen(
    root,
    '/presets',
    lazyPart(() => import('./screens/presets/presets-screen.tsx'), 'PresetsScreen'),
  ),
  screen(
    root,
    '/presets/$slug',
    lazyPart(() => import('./screens/presets/preset-screen.tsx'), 'PresetScreen'),
    readPreset,
  ),
  screen(
    root,
    '/playground',
    lazyPart(() => import('./screens/playground/playground-screen.tsx'), 'PlaygroundScreen'),
  ),
  screen(
    root,
    '/models',
    lazyPart(() => import('./screens/models/models-screen.tsx'), 'ModelsScreen'),
  ),
  screen(
    root,
    '/keys',
    lazyPart(() => import('./screens/keys/keys-screen.tsx'), 'KeysScreen'),
    readKey,
  ),
  screen(
    root,
    '/spend',
    lazyPart(() => import('./screens/spend/spend-screen.tsx'), 'SpendScreen'),
  ),
  screen(
    root,
    '/guardrails',
    lazyPart(() => import('./screens/guardrails/guardrails-screen.tsx'), 'GuardrailsScreen'),
    readGuardrail,
  ),
  screen(
    root,
    '/setup',
    lazyPart(() => import('./screens/setup/setup-screen.tsx'), 'SetupScreen'),
  ),
  screen(
    root,
    '/workspaces',
    lazyPart(() => import('./screens/workspaces/workspaces-screen.tsx'), 'WorkspacesScreen'),
  ),
  screen(
    root,
    '/audit',
    lazyPart(() => import('./screens/audit/audit-screen.tsx'), 'AuditScreen'),
  ),
  screen(
    root,
    '/settings',
    lazyPart(() => import('./screens/settings/settings-screen.tsx'), 'SettingsScreen'),
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
