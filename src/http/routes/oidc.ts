/** Sign-in at an identity provider: the redirect to it, and the way back (docs/contract/sign-in.md#openid-connect). */
import { z } from 'zod'

import { LINK_SECONDS } from '../../contract/sign-in.ts'
import { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import type { Attempts } from '../../sign-in/attempts.ts'
import { type BegunSignIn, type IdentityProvider, Unreached } from '../../sign-in/identity-provider.ts'
import { loginUrl, type LoginLinks } from '../../sign-in/login-links.ts'
import { digestsOf, isSameSecret, type Peppers } from '../../sign-in/secrets.ts'
import type { Log } from '../../telemetry/log.ts'
import type { OwnOrigin } from '../access/own-origin.ts'
import { escapeInTag } from '../../reference/markup.ts'
import { failurePage } from '../response/plain-page.ts'
import type { Route, RouteRequest } from '../route.ts'

export interface OidcRouteParts {
  readonly provider: IdentityProvider
  readonly links: LoginLinks
  readonly attempts: Attempts
  readonly ownOrigin: OwnOrigin
  /** The address under which people reach the service, without a slash at its end. */
  readonly publicUrl: (headers: Headers) => string
  /** They sign what the browser keeps meanwhile. */
  readonly peppers: Peppers
  readonly instanceId: string
  /** The workspace to which people sign in. */
  readonly workspaceId: string
  /** The path that a proxy takes away before it asks us: '' or `/patchbay`. */
  readonly prefix: string
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
}

const common = { tag: 'Sign-in', surface: 'management', policy: 'public', method: 'GET' } as const

/** Where a browser begins, below the root. */
export const OIDC_START = '/auth/oidc/start'

const KEPT_SECONDS = 600

export const oidcRoutes = (parts: OidcRouteParts): readonly Route[] => {
  const { provider, links, ownOrigin, publicUrl, peppers, clock, ids, log, prefix, workspaceId } = parts
  const shared = {
    ...common,
    failurePage: failurePage('You are not signed in', `<a href="${escapeInTag(prefix)}/dashboard">Back to the sign-in page</a>`, ids),
  }
  /** The answer says nothing of how provider and service fail to agree; who runs the service needs it. */
  const logged = async <Found>({ requestId }: RouteRequest, asked: Promise<Found>): Promise<Found> =>
    asked.catch((error: unknown) => {
      log.warn({ request_id: requestId, error }, 'sign-in at the identity provider failed')
      throw error
    })
  // Over TLS its name keeps it from being set by another name of the domain, whose owner could sign people in as somebody else.
  const cookieName = ({ headers }: RouteRequest): string => `${ownOrigin.isSecure(headers) ? '__Host-' : ''}pb_oidc_${parts.instanceId}`
  const redirectUri = ({ headers }: RouteRequest): string => `${publicUrl(headers)}/auth/oidc/callback`
  // The provider's page leads back here by a cross-site redirect, on which a strict cookie would not be sent.
  const cookie = (request: RouteRequest, value: string, seconds: number): string =>
    `${cookieName(request)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${ownOrigin.isSecure(request.headers) ? '; Secure' : ''}`
  const redirect = (location: string, setCookie: string): Response =>
    new Response(null, {
      status: 302,
      headers: { location, 'set-cookie': setCookie, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    })

  return [
    {
      ...shared,
      path: OIDC_START,
      operation: 'beginOidcSignIn',
      summary: 'Go to the identity provider to sign in',
      answers: { 302: { description: 'To the provider.' } },
      errors: [401, 403],
      async handle(request) {
        const { url, begun } = await logged(request, provider.begin(redirectUri(request)))
        const kept = { ...begun, until: clock.now() + KEPT_SECONDS * 1000 }
        return redirect(url, cookie(request, signed(kept, peppers), KEPT_SECONDS))
      },
    },
    {
      ...shared,
      path: '/auth/oidc/callback',
      operation: 'finishOidcSignIn',
      summary: 'Come back from the identity provider',
      answers: { 302: { description: 'To the dashboard, signed in.' } },
      errors: [401, 403, 429],
      async handle(request) {
        const begun = keptIn(request.headers.get('cookie') ?? '', cookieName(request), peppers, clock.now())
        if (begun === null)
          throw new GatewayError('authentication', 'This sign-in was not begun in this browser, or too long ago. Begin it again.')
        const { userId, role } = await parts.attempts.run(
          request.address(),
          () => logged(request, provider.finish(request.query, begun, redirectUri(request))),
          // Neither an outage nor a person who goes back tries a wrong secret, and others behind the same address want to sign in.
          ({ type, cause }) => type === 'authentication' && !(cause instanceof Unreached) && !request.query.has('error'),
        )
        const by = { requestId: request.requestId, userId, keyHash: null }
        const { token } = await links.make({ workspaceId, userId, role, expiresInSeconds: LINK_SECONDS }, by)
        return redirect(loginUrl(publicUrl(request.headers), token), cookie(request, '', 0))
      },
    },
  ]
}

const keptSchema = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), until: z.number() })

const PURPOSE = 'oidc '

const signed = (kept: z.output<typeof keptSchema>, peppers: Peppers): string => {
  const text = Buffer.from(JSON.stringify(kept)).toString('base64url')
  return `${text}.${digestsOf(PURPOSE + text, peppers)[0]}`
}

const keptIn = (cookies: string, name: string, peppers: Peppers, nowMs: number): BegunSignIn | null => {
  const pair = cookies.split(';').find((one) => one.trim().startsWith(`${name}=`))
  const [text = '', signature = ''] = (pair?.trim().slice(name.length + 1) ?? '').split('.')
  if (!digestsOf(PURPOSE + text, peppers).some((digest) => isSameSecret(digest, signature))) return null
  const kept = keptSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  return kept.until > nowMs ? kept : null
}
