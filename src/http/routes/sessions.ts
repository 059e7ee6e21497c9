/** People sign in, see where they are signed in, and sign out (docs/contract/sign-in.md). */
import { z } from 'zod'

import {
  createLoginLinkBody,
  currentSession,
  type CurrentSessionResource,
  loginLink,
  openedSession,
  openSessionBody,
  session,
  sessionId,
  signInMethods,
  type SessionResource,
  type SignInMethodsResource,
} from '../../contract/session.ts'
import { onceHeaders } from '../../contract/idempotency.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { isPerson, type Caller, type Person } from '../../keys/caller.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import type { SessionRecord, SessionScope } from '../../storage/workspaces/session-store.ts'
import type { Attempts } from '../../sign-in/attempts.ts'
import { loginUrl, type LoginLinks, type MadeLink } from '../../sign-in/login-links.ts'
import type { Sessions } from '../../sign-in/sessions.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { answerOnce, type Onceness } from '../answer-once.ts'
import { jsonResponse } from '../response/json-response.ts'
import { callerOf, changedBy, personOf, reachOf, type Route, type RouteRequest } from '../route.ts'
import type { SessionDoor } from '../access/session-door.ts'
import { workspaceForNew } from '../workspace-scope.ts'
import { OIDC_START } from './oidc.ts'

export interface SessionRouteParts {
  readonly sessions: Sessions
  readonly links: LoginLinks
  readonly door: SessionDoor
  readonly attempts: Attempts
  readonly workspaces: Workspaces
  readonly onceness: Onceness
  /** The address under which people reach the service, without a slash at its end. */
  readonly publicUrl: (headers: Headers) => string
  /** The identity provider's issuer name; null if there is none. */
  readonly oidcIssuer: string | null
}

const shared = { tag: 'Sign-in', surface: 'management' } as const

const NO_STORE = { 'cache-control': 'no-store' }

export const sessionRoutes = (parts: SessionRouteParts): readonly Route[] => {
  const { sessions, door, workspaces } = parts

  const shown = async (record: SessionRecord): Promise<CurrentSessionResource> => {
    const person: Person = { kind: record.role, workspaceId: record.workspace_id, userId: record.user_id, sessionId: record.id }
    const { id, slug, name } = await workspaces.reach(person, null)
    return {
      ...sessionResource(record, person),
      user_name: await sessions.nameOf(record),
      workspace: { id, slug, name },
      is_operator: workspaces.reachesAll(person),
    }
  }

  return [
    {
      ...shared,
      policy: 'public',
      method: 'POST',
      path: '/sessions',
      operation: 'createSession',
      summary: 'Sign in with the token of a sign-in link, or with a management key',
      body: openSessionBody,
      answers: {
        201: { description: 'Signed in. The cookie is the first half of the session, `csrf` the second.', schema: openedSession },
      },
      errors: [401, 403, 429],
      async handle(request) {
        const { token, key } = validate(openSessionBody, readJsonObject(await request.text()))
        // Checked before a request that cannot keep the cookie uses anything up.
        door.requireSignInFromHere(request.headers)
        const opening = { requestId: request.requestId, userAgent: request.headers.get('user-agent') }
        const opened = await parts.attempts.run(
          request.address(),
          () => (token === undefined ? sessions.openByKey(key ?? '', opening) : sessions.openByLink(token, opening)),
          ({ type }) => type === 'authentication',
        )
        return jsonResponse(
          { csrf: opened.csrf, data: await shown(opened.session) },
          { status: 201, headers: { ...NO_STORE, 'set-cookie': door.cookieFor(request.headers, opened) } },
        )
      },
    },
    {
      ...shared,
      policy: 'public',
      method: 'GET',
      path: '/sessions/methods',
      operation: 'listSignInMethods',
      summary: 'Read how people sign in here',
      answers: { 200: { description: 'The ways to sign in.', schema: z.object({ data: signInMethods }) } },
      errors: [],
      handle(request) {
        const issuer = parts.oidcIssuer
        const oidc = issuer === null ? null : { issuer, url: parts.publicUrl(request.headers) + OIDC_START }
        return jsonResponse({ data: { link: true, key: true, oidc } satisfies SignInMethodsResource }, { headers: NO_STORE })
      },
    },
    {
      ...shared,
      policy: 'session',
      method: 'GET',
      path: '/sessions/current',
      operation: 'getCurrentSession',
      summary: 'Read who is signed in',
      answers: { 200: { description: 'The session that asks.', schema: z.object({ data: currentSession }) } },
      errors: [],
      handle: async (request) => jsonResponse({ data: await shown(await sessions.current(personOf(request))) }, { headers: NO_STORE }),
    },
    {
      ...shared,
      policy: 'session',
      method: 'DELETE',
      path: '/sessions/current',
      operation: 'deleteCurrentSession',
      summary: 'Sign out',
      answers: { 200: { description: 'Signed out.', schema: z.object({ deleted: z.literal(true) }) } },
      errors: [409],
      async handle(request) {
        await sessions.signOut(personOf(request), changedBy(request))
        return jsonResponse({ deleted: true }, { headers: { ...NO_STORE, 'set-cookie': door.endedCookie(request.headers) } })
      },
    },
    {
      ...shared,
      policy: 'own',
      method: 'GET',
      path: '/sessions',
      operation: 'listSessions',
      summary: 'List who is signed in, the last ones first; members see their own sessions',
      query: inWorkspace,
      answers: { 200: { description: 'At most 100 sessions.', schema: z.object({ data: z.array(session) }) } },
      errors: [400, 404],
      async handle(request) {
        const caller = callerOf(request)
        const found = await sessions.list(sessionScope(request))
        return jsonResponse({ data: found.map((record) => sessionResource(record, caller)) })
      },
    },
    {
      ...shared,
      policy: 'own',
      method: 'DELETE',
      path: '/sessions/:id',
      operation: 'deleteSession',
      summary: 'End a session at once; members end their own',
      params: { id: sessionId },
      query: inWorkspace,
      answers: { 200: { description: 'Ended.', schema: z.object({ deleted: z.literal(true) }) } },
      errors: [400, 404, 409],
      async handle(request) {
        const id = validate(sessionId, request.params['id'], ['id'])
        await sessions.revoke(sessionScope(request), id, changedBy(request))
        return jsonResponse({ deleted: true })
      },
    },
    {
      ...shared,
      policy: 'management',
      method: 'POST',
      path: '/login-links',
      operation: 'createLoginLink',
      summary: 'Make a link that signs a person in, once; somebody new becomes a member',
      headers: onceHeaders,
      body: createLoginLinkBody,
      answers: { 201: { description: 'The link; the answer is the only place that shows it.', schema: z.object({ data: loginLink }) } },
      errors: [404, 409],
      async handle(request) {
        const bodyText = await request.text()
        const body = validate(createLoginLinkBody, readJsonObject(bodyText))
        const workspaceId = await workspaceForNew(request, workspaces, body.workspace_id)
        const wanted = { workspaceId, userId: body.user_id, role: body.role ?? null, expiresInSeconds: body.expires_in }
        const response = await answerOnce<MadeLink>(
          { request, operation: 'createLoginLink', asked: () => bodyText },
          parts.onceness,
          (once) => parts.links.make(wanted, changedBy(request), once),
          ({ link: { id, workspace_id, user_id, role, expires_at }, token }) => ({
            data: { id, url: loginUrl(parts.publicUrl(request.headers), token), workspace_id, user_id, role, expires_at },
          }),
        )
        response.headers.set('cache-control', NO_STORE['cache-control'])
        return response
      },
    },
  ]
}

/** For a member, their own sessions; for an admin, those of the workspace. */
const sessionScope = (request: RouteRequest): SessionScope => {
  const { workspaceId, everywhere, onlyUserId } = reachOf(request)
  return { workspaceId: everywhere ? null : workspaceId, userId: onlyUserId }
}

const sessionResource = (record: SessionRecord, caller: Caller): SessionResource => ({
  id: record.id,
  workspace_id: record.workspace_id,
  user_id: record.user_id,
  role: record.role,
  key_hash: record.key_hash,
  user_agent: record.user_agent,
  created_at: record.created_at,
  last_used_at: record.last_used_at,
  expires_at: record.expires_at,
  is_current: isPerson(caller) && caller.sessionId === record.id,
})
