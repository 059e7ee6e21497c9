/** Management of API keys, and what a key may know of itself (contract 6). */
import { z } from 'zod'

import { apiKey, createKeyBody, createdKey, currentKey, keyHash, updateKeyBody } from '../../contract/key.ts'
import { validate } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import { currentKeyResource, keyResource } from '../../keys/key-resource.ts'
import { spenderOf, type Keys } from '../../keys/keys.ts'
import { keyBudgets } from '../../ledger/key-budgets.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../lib/clock.ts'
import { readJsonObject } from '../../lib/json-body.ts'
import { nanosOf } from '../../lib/money.ts'
import { jsonResponse } from '../json-response.ts'
import { principalOf, type Route, type RouteRequest } from '../route.ts'

const shared = { tag: 'Keys', policy: 'management', surface: 'management' } as const

const hashOf = (request: RouteRequest): string => validate(keyHash, request.params['hash'], ['hash'])

const LIST_PAGE = 100

const listQuery = z.object({
  include_disabled: z.enum(['true', 'false']).optional(),
  offset: z
    .string()
    .regex(/^\d{1,9}$/, 'Use a whole number.')
    .optional(),
  workspace_id: z.string().optional(),
})

export const keysList = (keys: Keys): Route => ({
  ...shared,
  method: 'GET',
  path: '/keys',
  operation: 'listKeys',
  summary: 'List API keys, newest first, 100 at a time',
  query: listQuery.shape,
  answers: { 200: { description: 'Keys; never the keys themselves.', schema: z.object({ data: z.array(apiKey) }) } },
  errors: [400],
  async handle(request) {
    const query = validate(listQuery, Object.fromEntries([...request.query].filter(([, value]) => value !== '')))
    const { workspaceId } = principalOf(request)
    checkWorkspace(query.workspace_id, workspaceId)
    const found = await keys.list({
      workspaceId,
      includeDisabled: query.include_disabled === 'true',
      offset: Number(query.offset ?? 0),
      limit: LIST_PAGE,
    })
    return jsonResponse({ data: found.map(keyResource) })
  },
})

export const keysCreate = (keys: Keys): Route => ({
  ...shared,
  method: 'POST',
  path: '/keys',
  operation: 'createKeys',
  summary: 'Create an API key; the answer is the only place that shows it',
  body: createKeyBody,
  answers: { 201: { description: 'The key.', schema: createdKey } },
  errors: [404],
  async handle(request) {
    const body = validate(createKeyBody, readJsonObject(await request.text()))
    const { workspaceId, userId } = principalOf(request)
    checkWorkspace(body.workspace_id, workspaceId)
    const { key, record } = await keys.create({
      kind: body.kind,
      name: body.name,
      workspaceId,
      creatorUserId: body.creator_user_id ?? userId,
      limitNanos: nanosOrNull(body.limit),
      limitReset: body.limit_reset ?? null,
      includeByokInLimit: body.include_byok_in_limit,
      strict: body.strict,
      expiresAt: body.expires_at ?? null,
    })
    return jsonResponse({ data: keyResource(await keys.get(workspaceId, record.hash)), key }, { status: 201 })
  },
})

export const keysGet = (keys: Keys): Route => ({
  ...shared,
  method: 'GET',
  path: '/keys/:hash',
  operation: 'getKey',
  summary: 'Read an API key',
  params: { hash: keyHash },
  answers: { 200: { description: 'The key, without itself.', schema: z.object({ data: apiKey }) } },
  errors: [400, 404],
  handle: async (request) => jsonResponse({ data: keyResource(await keys.get(principalOf(request).workspaceId, hashOf(request))) }),
})

export const keysUpdate = (keys: Keys): Route => ({
  ...shared,
  method: 'PATCH',
  path: '/keys/:hash',
  operation: 'updateKeys',
  summary: 'Rename, disable or limit an API key; it takes effect at once',
  params: { hash: keyHash },
  body: updateKeyBody,
  answers: { 200: { description: 'The changed key.', schema: z.object({ data: apiKey }) } },
  errors: [404, 409],
  async handle(request) {
    const hash = hashOf(request)
    const { name, disabled, limit, limit_reset, include_byok_in_limit, strict } = validate(
      updateKeyBody,
      readJsonObject(await request.text()),
    )
    const changed = await keys.update(principalOf(request).workspaceId, hash, {
      ...(name === undefined ? {} : { name }),
      ...(disabled === undefined ? {} : { disabled }),
      ...(limit === undefined ? {} : { limitNanos: nanosOrNull(limit) }),
      ...(limit_reset === undefined ? {} : { limitReset: limit_reset }),
      ...(include_byok_in_limit === undefined ? {} : { includeByokInLimit: include_byok_in_limit }),
      ...(strict === undefined ? {} : { strict }),
    })
    return jsonResponse({ data: keyResource(changed) })
  },
})

export const keysDelete = (keys: Keys): Route => ({
  ...shared,
  method: 'DELETE',
  path: '/keys/:hash',
  operation: 'deleteKeys',
  summary: 'Revoke an API key, at once and for ever',
  params: { hash: keyHash },
  answers: { 200: { description: 'Revoked.', schema: z.object({ deleted: z.literal(true) }) } },
  errors: [400, 404, 409],
  async handle(request) {
    await keys.revoke(principalOf(request).workspaceId, hashOf(request))
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
  policy: 'any-key',
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

/** There is one workspace so far; another's id is as unknown as none. */
const checkWorkspace = (asked: string | null | undefined, own: string): void => {
  if (asked !== undefined && asked !== null && asked !== own) throw new GatewayError('not_found', 'There is no workspace with this id.')
}
