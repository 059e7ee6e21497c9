/** Management of API keys, and what a key may know of itself (docs/contract/keys-and-workspaces.md#key-resource). */
import { z } from 'zod'

import { scopeOf } from '../../canonical/reach.ts'
import { onceHeaders } from '../../contract/idempotency.ts'
import { apiKey, createKeyBody, createdKey, currentKey, keyHash, updateKeyBody } from '../../contract/key.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/workspace.ts'
import { currentKeyResource, keyResource } from '../../keys/key-resource.ts'
import { spenderOf, type Keys, type MadeKey, type NewKey } from '../../keys/keys.ts'
import { keyBudgets } from '../../ledger/key-budgets.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../lib/clock.ts'
import { readJsonObject } from '../../lib/json-body.ts'
import { nanosOf } from '../../lib/money.ts'
import type { KeyPatch } from '../../storage/key-store.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { answerOnce, type Onceness } from '../answer-once.ts'
import { jsonResponse } from '../json-response.ts'
import { callerOf, changedBy, principalOf, reachOf, type Route, type RouteRequest } from '../route.ts'
import { workspaceForNew } from '../workspace-scope.ts'

const shared = { tag: 'Keys', policy: 'management', surface: 'management' } as const

const hashOf = (request: RouteRequest): string => validate(keyHash, request.params['hash'], ['hash'])

export interface KeyRouteParts {
  readonly keys: Keys
  readonly workspaces: Workspaces
  readonly onceness: Onceness
}

const LIST_PAGE = 100

const listQuery = z.object({
  include_disabled: z.enum(['true', 'false']).optional(),
  offset: z
    .string()
    .regex(/^\d{1,9}$/, 'Use a whole number.')
    .optional(),
  ...inWorkspace,
})

export const keysList = (keys: Keys): Route => ({
  ...shared,
  method: 'GET',
  path: '/keys',
  operation: 'listKeys',
  summary: 'List API keys, newest first, 100 at a time',
  query: listQuery.shape,
  answers: { 200: { description: 'Keys; never the keys themselves.', schema: z.object({ data: z.array(apiKey) }) } },
  errors: [400, 404],
  async handle(request) {
    const query = validate(listQuery, Object.fromEntries([...request.query].filter(([, value]) => value !== '')))
    const found = await keys.list({
      workspaceId: reachOf(request).workspaceId,
      includeDisabled: query.include_disabled === 'true',
      offset: Number(query.offset ?? 0),
      limit: LIST_PAGE,
    })
    return jsonResponse({ data: found.map(keyResource) })
  },
})

export const keysCreate = ({ keys, workspaces, onceness }: KeyRouteParts): Route => ({
  ...shared,
  method: 'POST',
  path: '/keys',
  operation: 'createKeys',
  summary: 'Create an API key; the answer is the only place that shows it',
  query: inWorkspace,
  headers: onceHeaders,
  body: createKeyBody,
  answers: { 201: { description: 'The key.', schema: createdKey } },
  errors: [404],
  async handle(request) {
    const bodyText = await request.text()
    const body = validate(createKeyBody, readJsonObject(bodyText))
    const workspaceId = await workspaceForNew(request, workspaces, body.workspace_id)
    const { userId } = callerOf(request)
    const creatorUserId = body.creator_user_id ?? userId
    // Whose key it is decides what it may spend and use, so nobody is named who has no part in the workspace.
    if (creatorUserId !== userId) await workspaces.requireMember(workspaceId, creatorUserId)
    const made: NewKey = {
      kind: body.kind,
      name: body.name,
      workspaceId,
      creatorUserId,
      limitNanos: nanosOrNull(body.limit),
      limitReset: body.limit_reset ?? null,
      includeByokInLimit: body.include_byok_in_limit,
      strict: body.strict,
      rpmLimit: body.rpm_limit ?? null,
      tpmLimit: body.tpm_limit ?? null,
      providerFailure: body.provider_failure ?? null,
      externalUser: body.external?.user ?? null,
      expiresAt: body.expires_at ?? null,
    }
    return answerOnce<MadeKey>(
      { request, operation: 'createKeys', bodyText },
      onceness,
      (once) => keys.create(made, changedBy(request), once),
      ({ key, ...rest }) => ({ data: keyResource(rest), key }),
    )
  },
})

export const keysGet = (keys: Keys): Route => ({
  ...shared,
  method: 'GET',
  path: '/keys/:hash',
  operation: 'getKey',
  summary: 'Read an API key',
  params: { hash: keyHash },
  query: inWorkspace,
  answers: { 200: { description: 'The key, without itself.', schema: z.object({ data: apiKey }) } },
  errors: [400, 404],
  async handle(request) {
    const hash = hashOf(request)
    return jsonResponse({ data: keyResource(await keys.get(scopeOf(reachOf(request)), hash)) })
  },
})

export const keysUpdate = (keys: Keys): Route => ({
  ...shared,
  method: 'PATCH',
  path: '/keys/:hash',
  operation: 'updateKeys',
  summary: 'Rename, disable or limit an API key; it takes effect at once',
  params: { hash: keyHash },
  query: inWorkspace,
  body: updateKeyBody,
  answers: { 200: { description: 'The changed key.', schema: z.object({ data: apiKey }) } },
  errors: [404, 409],
  async handle(request) {
    const hash = hashOf(request)
    const { name, disabled, limit, limit_reset, include_byok_in_limit, strict, rpm_limit, tpm_limit, provider_failure, expires_at } =
      validate(updateKeyBody, readJsonObject(await request.text()))
    const patch: KeyPatch = {
      ...(name === undefined ? {} : { name }),
      ...(disabled === undefined ? {} : { disabled }),
      ...(limit === undefined ? {} : { limitNanos: nanosOrNull(limit) }),
      ...(limit_reset === undefined ? {} : { limitReset: limit_reset }),
      ...(include_byok_in_limit === undefined ? {} : { includeByokInLimit: include_byok_in_limit }),
      ...(strict === undefined ? {} : { strict }),
      ...(rpm_limit === undefined ? {} : { rpmLimit: rpm_limit }),
      ...(tpm_limit === undefined ? {} : { tpmLimit: tpm_limit }),
      ...(provider_failure === undefined ? {} : { providerFailure: provider_failure }),
      ...(expires_at === undefined ? {} : { expiresAt: expires_at }),
    }
    return jsonResponse({ data: keyResource(await keys.update(scopeOf(reachOf(request)), hash, patch, changedBy(request))) })
  },
})

export const keysDelete = (keys: Keys): Route => ({
  ...shared,
  method: 'DELETE',
  path: '/keys/:hash',
  operation: 'deleteKeys',
  summary: 'Revoke an API key, at once and for ever',
  params: { hash: keyHash },
  query: inWorkspace,
  answers: { 200: { description: 'Revoked.', schema: z.object({ deleted: z.literal(true) }) } },
  errors: [400, 404, 409],
  async handle(request) {
    const hash = hashOf(request)
    await keys.revoke(scopeOf(reachOf(request)), hash, changedBy(request))
    return jsonResponse({ deleted: true })
  },
})

/** `/auth/key` is an older name that tools still use. */
export const keyCurrent = (
  path: '/key' | '/auth/key',
  parts: { keys: Keys; clock: Clock; flush: () => Promise<void>; figures: Ledger['figures'] },
): Route => ({
  tag: 'Keys',
  surface: 'management',
  policy: 'key',
  method: 'GET',
  path,
  operation: path === '/key' ? 'getCurrentKey' : 'getCurrentKeyAlias',
  summary: 'Read the key that asks: its use and what bounds it',
  answers: { 200: { description: 'The key.', schema: z.object({ data: currentKey }) } },
  errors: [],
  async handle(request) {
    await parts.flush()
    const principal = principalOf(request)
    const nowMs = parts.clock.now()
    const budgets = keyBudgets(await parts.figures(spenderOf(principal), nowMs), nowMs)
    return jsonResponse({ data: currentKeyResource(await parts.keys.get(principal.workspaceId, principal.hash), budgets) })
  },
})

const nanosOrNull = (limit: number | null | undefined): number | null => (limit === null || limit === undefined ? null : nanosOf(limit))
