/** The dashboard: its page at every path below /dashboard, since the browser's own router reads the rest of the path, and its files. */
import { GatewayError } from '../../errors.ts'
import type { IdSource } from '../../lib/id.ts'
import type { DashboardFiles } from '../dashboard/files.ts'
import { dashboardPolicy, PAGE_HEADERS } from '../dashboard/policy.ts'
import type { Route, RouteRequest } from '../route.ts'

export interface DashboardParts {
  readonly files: DashboardFiles
  /** The path prefix that a proxy strips before it forwards to us: '' or `/patchbay`. */
  readonly prefix: string
  readonly ids: IdSource
}

const shared = { method: 'GET', tag: 'Service', policy: 'public', surface: 'management' } as const

export const dashboardRoutes = (parts: DashboardParts): readonly Route[] => {
  const page = {
    ...shared,
    answers: { 200: { description: 'The page.', types: ['text/html'] } },
    errors: [503],
    handle: () => pageOf(parts),
  }
  return [
    { ...page, path: '/dashboard', operation: 'dashboard', summary: 'The dashboard, for people' },
    { ...page, path: '/dashboard/*', operation: 'dashboardScreen', summary: 'One of its screens' },
    {
      ...shared,
      path: '/dashboard/assets/:file',
      operation: 'dashboardFile',
      summary: 'A script, style sheet or font of the dashboard',
      answers: { 200: { description: 'The file. Its name holds a hash of its content: it never changes.', types: ['*/*'] } },
      errors: [404],
      handle: (request) => assetOf(parts.files, request),
    },
  ]
}

const pageOf = ({ files, prefix, ids }: DashboardParts): Response => {
  const page = files.page()
  if (page === null)
    return new Response(NOT_BUILT, { status: 503, headers: { ...PAGE_HEADERS, 'content-security-policy': "default-src 'none'" } })
  const nonce = Buffer.from(ids.bytes(16)).toString('base64url')
  return new Response(page.replaceAll('%BASE%', `${prefix}/dashboard`).replace('%NONCE%', nonce), {
    headers: { ...PAGE_HEADERS, 'content-security-policy': dashboardPolicy(nonce) },
  })
}

const NOT_BUILT =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Patchbay</title><p>The dashboard was not built when this package was installed: run <code>npm install --include=dev && npm run prepare</code> in its folder, then reload this page.</p></html>'

const assetOf = (files: DashboardFiles, request: RouteRequest): Response => {
  const file = files.asset(request.params['file'] ?? '', request.headers.get('accept-encoding') ?? '')
  if (file === null) throw new GatewayError('not_found', 'The dashboard has no such file; it may be of another version.')
  return new Response(file.body, {
    headers: {
      'content-type': file.type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
      ...(file.encoding === null ? {} : { 'content-encoding': file.encoding }),
    },
  })
}
