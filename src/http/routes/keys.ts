/** Management of API keys, and what a key may read about itself (docs/contract/keys-and-workspaces.md#key-resource). */
import { z } from 'zod'

import { scopeOf } from '../../canonical/reach.ts'
import { onceHeaders } from '../../contract/idempotency.ts'
import { pageOf } from '../../contract/cursor.ts'
import { apiKey, createKeyBody, createdKey, currentKey, keyDetail, rotateKeyBody, updateKeyBody } from '../../contract/key.ts'
import { keyHash } from '../../contract/key-hash.ts'
import { keyCursor, keyListQuery, readKeyQuery } from '../../contract/key-query.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { currentKeyResource, keyResource } from '../../keys/key-resource.ts'
import { principalOf as principalOfKey, spenderOf } from '../../keys/principal.ts'
import type { Keys, MadeKey, NewKey } from '../../keys/keys.ts'
import { keyBudgets, keyLimits } from '../../ledger/key-budgets.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../lib/clock.ts'
import { readJsonObject, readOptionalObject } from '../../lib/json/json-body.ts'
import { nanosOf } from '../../lib/money.ts'
import type { KeyPatch } from '../../storage/keys/key-record.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { answerOnce, type Onceness } from '../answer-once.ts'
import { jsonResponse } from '../response/json-response.ts'
import { callerOf, changedBy, principalOf, reachOf, type Route, type RouteRequest } from '../route.ts'
import type { SealedCursors } from '../sealed-cursors.ts'
import { workspaceForNew } from '../workspace-scope.ts'

const shared = { tag: 'Keys', policy: 'management', surface: 'management' } as const

const hashOf = (request: RouteRequest): string => validate(keyHash, request.params['hash'], ['hash'])

export interface KeyRouteParts {
  readonly keys: Keys
  readonly workspaces: Workspaces
  readonly onceness: Onceness
  readonly clock: Clock
  readonly cursors: SealedCursors
  /** Resolves when everything that was answered before is counted. */
  readonly flush: () => Promise<void>
  readonly figures: Ledger['figures']
}

export const keysList = ({ keys, cursors }: Pick<KeyRouteParts, 'keys' | 'cursors'>): Route => ({
  ...shared,
  policy: 'own',
  method: 'GET',
  path: '/keys',
  operation: 'listKeys',
  summary: 'List API keys, by default newest first; members see their own',
  query: keyListQuery,
  answers: { 200: { description: "The keys' settings and use, without their secrets.", schema: pageOf(apiKey) } },
  errors: [400, 404],
  async handle(request) {
    const { limit, ...filter } = readKeyQuery(cursors.opened(request.query))
    const { workspaceId, onlyUserId } = reachOf(request)
    const { items, next } = await keys.list({ ...filter, workspaceId, onlyUserId, limit })
    return jsonResponse({
      data: items.map(keyResource),
      next_cursor: next === null ? null : cursors.seal(keyCursor(filter.sort, next.value, next.hash)),
    })
  },
})

export const keysCreate = ({ keys, workspaces, onceness }: Pick<KeyRouteParts, 'keys' | 'workspaces' | 'onceness'>): Route => ({
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
    // A key's owner determines what it may spend and use, so only a member of the workspace can be named.
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
      purpose: null,
      allowedModels: body.allowed_models ?? null,
      expiresAt: body.expires_at ?? null,
    }
    return answerOnce<MadeKey>(
      { request, operation: 'createKeys', asked: () => bodyText },
      onceness,
      (once) => keys.create(made, changedBy(request), once),
      createdView,
    )
  },
})

export const keysGet = (keys: Keys, { figures, flush, clock }: Pick<KeyRouteParts, 'figures' | 'flush' | 'clock'>): Route => ({
  ...shared,
  policy: 'own',
  method: 'GET',
  path: '/keys/:hash',
  operation: 'getKey',
  summary: 'Read an API key, and everything that bounds it',
  params: { hash: keyHash },
  query: inWorkspace,
  answers: { 200: { description: "The key's settings and use, without its secret.", schema: z.object({ data: keyDetail }) } },
  errors: [400, 404],
  async handle(request) {
    const hash = hashOf(request)
    await flush()
    const reach = reachOf(request)
    const found = await keys.get(scopeOf(reach), hash, reach.onlyUserId)
    const atMs = clock.now()
    const limits = keyLimits(await figures(spenderOf(principalOfKey(found.record)), atMs), atMs)
    return jsonResponse({ data: { ...keyResource(found), limits } })
  },
})

export const keysRotate = ({ keys, onceness }: Pick<KeyRouteParts, 'keys' | 'onceness'>): Route => ({
  ...shared,
  method: 'POST',
  path: '/keys/:hash/rotate',
  operation: 'rotateKey',
  summary: 'Give an API key a new secret; its hash, limits and history stay',
  params: { hash: keyHash },
  query: inWorkspace,
  headers: onceHeaders,
  body: rotateKeyBody,
  answers: { 200: { description: 'The key; the answer is the only place that shows it.', schema: createdKey } },
  errors: [404, 409],
  async handle(request) {
    const hash = hashOf(request)
    const bodyText = await request.text()
    const { grace_seconds } = validate(rotateKeyBody, readOptionalObject(bodyText))
    const response = await answerOnce<MadeKey>(
      { request, operation: 'rotateKey', asked: () => `${hash}\n${bodyText}`, status: 200 },
      onceness,
      (once) => keys.rotate(scopeOf(reachOf(request)), hash, grace_seconds, changedBy(request), once),
      createdView,
    )
    response.headers.set('cache-control', 'no-store')
    return response
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

const createdView = ({ key, ...rest }: MadeKey) => ({ data: keyResource(rest), key })

const nanosOrNull = (limit: number | null | undefined): number | null => (limit === null || limit === undefined ? null : nanosOf(limit))
