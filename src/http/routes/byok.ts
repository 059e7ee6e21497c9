/** Customers' own provider keys (docs/contract/keys-and-workspaces.md#customer-keys). */
import { z } from 'zod'

import { byokResource, type ProviderKeys } from '../../byok/provider-keys.ts'
import { byokId, byokKey, createByokBody, updateByokBody } from '../../contract/byok.ts'
import { onceHeaders } from '../../contract/idempotency.ts'
import { listOf, listPaging } from '../../contract/paging.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { GatewayError } from '../../errors.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import type { ByokRecord } from '../../storage/keys/byok-store.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { answerOnce, type Onceness } from '../answer-once.ts'
import { jsonResponse } from '../response/json-response.ts'
import { changedBy, reachOf, type Route, type RouteRequest } from '../route.ts'
import { workspaceForNew } from '../workspace-scope.ts'

const shared = { tag: 'Provider keys', policy: 'management', surface: 'management' } as const
const one = { ...shared, path: '/byok/:id', params: { id: byokId }, query: inWorkspace } as const
const providerQuery = z.string().max(64).optional().meta({ description: 'Keys of this provider only.' })

const idOf = (request: RouteRequest): string => validate(byokId, request.params['id'], ['id'])

export const byokRoutes = ({
  providerKeys,
  workspaces,
  onceness,
}: {
  providerKeys: ProviderKeys
  workspaces: Workspaces
  onceness: Onceness
}): readonly Route[] => [
  {
    ...shared,
    method: 'GET',
    path: '/byok',
    operation: 'listProviderKeys',
    summary: "List a workspace's own keys of providers, in the order in which each provider's are tried",
    query: { ...inWorkspace, provider: providerQuery, ...listPaging.query },
    answers: { 200: { description: 'Keys, masked.', schema: listOf(byokKey) } },
    errors: [400, 404],
    async handle(request) {
      const provider = validate(providerQuery, request.query.get('provider') || undefined, ['provider'])
      const page = await providerKeys.list(reachOf(request), { provider, ...listPaging.read(request.query) })
      return jsonResponse({ data: page.items.map(byokResource), total_count: page.totalCount })
    },
  },
  {
    ...shared,
    method: 'POST',
    path: '/byok',
    operation: 'createProviderKey',
    summary: 'Enter a key of a provider; it is sealed, and no answer ever shows it',
    query: inWorkspace,
    headers: onceHeaders,
    body: createByokBody,
    answers: { 201: { description: 'The key, masked.', schema: z.object({ data: byokKey }) } },
    errors: [403, 404],
    async handle(request) {
      const bodyText = await request.text()
      const body = validate(createByokBody, readJsonObject(bodyText))
      if (body.workspace_id === null && !reachOf(request).isOperator) {
        throw new GatewayError('permission_denied', 'Only management keys of the default workspace enter keys for every workspace.')
      }
      const workspaceId = await workspaceForNew(request, workspaces, body.workspace_id)
      return answerOnce<ByokRecord>(
        { request, operation: 'createProviderKey', asked: () => bodyText },
        onceness,
        (once) => providerKeys.create(workspaceId, body, changedBy(request), once),
        (record) => ({ data: byokResource(record) }),
      )
    },
  },
  {
    ...one,
    method: 'GET',
    operation: 'getProviderKey',
    summary: 'Read an own key of a provider, masked',
    answers: { 200: { description: 'The key, masked.', schema: z.object({ data: byokKey }) } },
    errors: [400, 404],
    async handle(request) {
      const id = idOf(request)
      return jsonResponse({ data: byokResource(await providerKeys.get(reachOf(request), id)) })
    },
  },
  {
    ...one,
    method: 'PATCH',
    operation: 'updateProviderKey',
    summary: 'Change how a key is used, or replace it',
    body: updateByokBody,
    answers: { 200: { description: 'The changed key, masked.', schema: z.object({ data: byokKey }) } },
    errors: [404, 409],
    async handle(request) {
      const id = idOf(request)
      const body = validate(updateByokBody, readJsonObject(await request.text()))
      return jsonResponse({ data: byokResource(await providerKeys.update(reachOf(request), id, body, changedBy(request))) })
    },
  },
  {
    ...one,
    method: 'DELETE',
    operation: 'deleteProviderKey',
    summary: 'Forget a key of a provider',
    answers: { 200: { description: 'Forgotten.', schema: z.object({ deleted: z.literal(true) }) } },
    errors: [400, 404],
    async handle(request) {
      const id = idOf(request)
      await providerKeys.delete(reachOf(request), id, changedBy(request))
      return jsonResponse({ deleted: true })
    },
  },
]
