/** Applications get a key from a person who allows it, by OAuth with PKCE (docs/contract/sign-in.md#applications). */
import { z } from 'zod'

import { authCode, consentQuery, createCodeBody, exchangeBody, exchangedKey } from '../../contract/oauth.ts'
import { invalidRequest, validate } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import type { Guardrails } from '../../guardrails/guardrails.ts'
import { isAdministrator, isPerson, type Caller } from '../../keys/caller.ts'
import type { Keys } from '../../keys/keys.ts'
import type { IdSource } from '../../lib/id.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import type { ApplicationCodes, OauthSettings } from '../../sign-in/application-codes.ts'
import type { Attempts } from '../../sign-in/attempts.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { consentPage } from '../oauth/consent-page.ts'
import { CONSENT_SCRIPT } from '../oauth/consent-script.ts'
import { jsonResponse } from '../response/json-response.ts'
import { failurePage } from '../response/plain-page.ts'
import { callerOf, type Route } from '../route.ts'
import { workspaceForNew } from '../workspace-scope.ts'

export interface OauthRouteParts {
  readonly codes: ApplicationCodes
  readonly settings: OauthSettings
  readonly attempts: Attempts
  readonly workspaces: Workspaces
  readonly keys: Pick<Keys, 'get'>
  readonly guardrails: Pick<Guardrails, 'effective'>
  readonly ids: IdSource
  /** The path prefix that a proxy strips before it forwards to us: '' or `/patchbay`. */
  readonly prefix: string
}

const shared = { tag: 'Sign-in', surface: 'management' } as const
const NO_STORE = { 'cache-control': 'no-store' }

/** Routes below the root, to which a browser is sent. */
export const consentRoutes = ({ codes, settings, ids, prefix }: OauthRouteParts): readonly Route[] => [
  {
    ...shared,
    policy: 'public',
    method: 'GET',
    path: '/auth',
    operation: 'showConsent',
    summary: 'The page on which a person allows an application a key',
    query: consentQuery,
    answers: { 200: { description: 'The page.', types: ['text/html'] } },
    errors: [400],
    failurePage: failurePage(
      'The application asks in a way that cannot be answered',
      'Nothing was allowed. Go back to the application, and tell those who make it.',
      ids,
    ),
    handle(request) {
      requireEachOnce(request.query)
      const given = Object.fromEntries([...request.query].filter(([, value]) => value !== ''))
      const requested = validate(z.object(consentQuery), given)
      codes.requireAllowed(requested, settings)
      return consentPage(requested, { prefix, ids })
    },
  },
  {
    ...shared,
    policy: 'public',
    method: 'GET',
    path: '/auth/consent.js',
    operation: 'consentScript',
    summary: 'What that page runs',
    answers: { 200: { description: 'The script.', types: ['text/javascript'] } },
    errors: [],
    handle: () =>
      new Response(CONSENT_SCRIPT, {
        headers: { ...NO_STORE, 'content-type': 'text/javascript; charset=utf-8', 'x-content-type-options': 'nosniff' },
      }),
  },
]

export const oauthRoutes = ({ codes, settings, attempts, workspaces, keys, guardrails }: OauthRouteParts): readonly Route[] => [
  {
    ...shared,
    policy: 'any-key',
    // A person identified by the cookie alone did not press Allow on our page: that is no consent (RFC 6749, 10.12).
    unproven: 'permission_denied',
    method: 'POST',
    path: '/auth/keys/code',
    operation: 'createAuthCode',
    summary: 'Allow an application a key: make the code that it exchanges',
    body: createCodeBody,
    answers: { 200: { description: 'The code; it works once, within ten minutes.', schema: z.object({ data: authCode }) } },
    errors: [403, 404],
    async handle(request) {
      const { workspace_id, ...requested } = validate(createCodeBody, readJsonObject(await request.text()))
      const caller = callerOf(request)
      codes.requireAllowed(requested, settings)
      await requireUnbounded(caller, { keys, guardrails })
      const workspaceId = await workspaceForNew(request, workspaces, workspace_id)
      const { code, appId, createdAt } = await codes.make(requested, {
        workspaceId,
        userId: caller.userId,
        by: isPerson(caller) ? { sessionId: caller.sessionId } : { keyHash: caller.hash },
        isMember: caller.kind === 'member',
      })
      return jsonResponse({ data: { id: code, app_id: appId, created_at: createdAt } }, { headers: NO_STORE })
    },
  },
  {
    ...shared,
    policy: 'public',
    anyOrigin: true,
    method: 'POST',
    path: '/auth/keys',
    operation: 'exchangeAuthCode',
    summary: 'Exchange a code for a key, once',
    body: exchangeBody,
    answers: { 200: { description: 'The key.', schema: exchangedKey } },
    errors: [403, 429],
    async handle(request) {
      const { code, code_verifier, code_challenge_method: method = null } = validate(exchangeBody, readJsonObject(await request.text()))
      if (method !== null && method !== 'S256' && method !== 'plain') {
        throw new GatewayError('invalid_request', 'Invalid code_challenge_method')
      }
      const { key, userId } = await attempts.run(
        request.address(),
        () => codes.exchange({ code, verifier: code_verifier ?? null, method, requestId: request.requestId }),
        ({ type }) => type === 'permission_denied',
      )
      return jsonResponse({ key, user_id: userId }, { headers: NO_STORE })
    },
  },
]

/** With a repeated parameter, the page could show one value while its script uses the other. */
const requireEachOnce = (query: URLSearchParams): void => {
  const repeated = Object.keys(consentQuery).filter((name) => query.getAll(name).length > 1)
  if (repeated.length > 0) throw invalidRequest(repeated.map((path) => ({ path, message: 'Name it once.' })))
}

/** A key with restrictions of its own must not create a key without them. */
const requireUnbounded = async (caller: Caller, { keys, guardrails }: Pick<OauthRouteParts, 'keys' | 'guardrails'>): Promise<void> => {
  if (isPerson(caller)) return
  if (caller.isReplaced) {
    throw new GatewayError('permission_denied', 'This key was replaced by a rotation, so it cannot create other keys. Use the new one.')
  }
  if (isAdministrator(caller)) return
  const { record } = await keys.get(caller.workspaceId, caller.hash)
  // A person allowed one application one key. Further keys would stay when the person takes that one back.
  if (record.purpose === 'application') {
    throw new GatewayError('permission_denied', 'This is the key of an application, so it cannot create other keys. Its person can.')
  }
  const applied = (await guardrails.effective(caller))?.applied ?? []
  const isBounded =
    caller.limit !== null ||
    caller.rpmLimit !== null ||
    caller.tpmLimit !== null ||
    caller.strict ||
    record.expiresAt !== null ||
    record.allowedModels !== null ||
    applied.some(({ scope }) => scope === 'api-key')
  if (isBounded) {
    throw new GatewayError(
      'permission_denied',
      'This key has restrictions, so it cannot create other keys. Use a management key, or sign in.',
    )
  }
}
