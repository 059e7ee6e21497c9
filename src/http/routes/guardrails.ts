/** Management of guardrails (contract 7.1). */
import { z } from 'zod'

import { createGuardrailBody, guardrail, guardrailId, updateGuardrailBody } from '../../contract/guardrail.ts'
import { listOf, listPaging } from '../../contract/paging.ts'
import { validate } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import type { Guardrails } from '../../guardrails/guardrails.ts'
import { readJsonObject } from '../../lib/json-body.ts'
import { jsonResponse } from '../json-response.ts'
import { changedBy, principalOf, type Route, type RouteRequest } from '../route.ts'

const shared = { tag: 'Guardrails', policy: 'management', surface: 'management' } as const

const idOf = (request: RouteRequest): string => validate(guardrailId, request.params['id'], ['id'])

const listQuery = { ...listPaging.query, workspace_id: z.string().optional() }

export const guardrailsList = (guardrails: Guardrails): Route => ({
  ...shared,
  method: 'GET',
  path: '/guardrails',
  operation: 'listGuardrails',
  summary: 'List guardrails, newest first',
  query: listQuery,
  answers: { 200: { description: 'Guardrails.', schema: listOf(guardrail) } },
  errors: [400, 404],
  async handle(request) {
    const { workspaceId } = principalOf(request)
    checkWorkspace(request.query.get('workspace_id'), workspaceId)
    const page = await guardrails.list(workspaceId, listPaging.read(request.query))
    return jsonResponse({ data: page.items, total_count: page.totalCount })
  },
})

export const guardrailsCreate = (guardrails: Guardrails): Route => ({
  ...shared,
  method: 'POST',
  path: '/guardrails',
  operation: 'createGuardrail',
  summary: 'Create a guardrail; it acts where it is assigned',
  body: createGuardrailBody,
  answers: { 201: { description: 'The guardrail.', schema: z.object({ data: guardrail }) } },
  errors: [404],
  async handle(request) {
    const body = validate(createGuardrailBody, readJsonObject(await request.text()))
    const { workspaceId } = principalOf(request)
    checkWorkspace(body.workspace_id, workspaceId)
    return jsonResponse({ data: await guardrails.create(workspaceId, body, changedBy(request)) }, { status: 201 })
  },
})

export const guardrailsGet = (guardrails: Guardrails): Route => ({
  ...shared,
  method: 'GET',
  path: '/guardrails/:id',
  operation: 'getGuardrail',
  summary: 'Read a guardrail',
  params: { id: guardrailId },
  answers: { 200: { description: 'The guardrail.', schema: z.object({ data: guardrail }) } },
  errors: [400, 404],
  handle: async (request) => jsonResponse({ data: await guardrails.get(principalOf(request).workspaceId, idOf(request)) }),
})

export const guardrailsUpdate = (guardrails: Guardrails): Route => ({
  ...shared,
  method: 'PATCH',
  path: '/guardrails/:id',
  operation: 'updateGuardrail',
  summary: 'Change a guardrail; it takes effect at once',
  params: { id: guardrailId },
  body: updateGuardrailBody,
  answers: { 200: { description: 'The changed guardrail.', schema: z.object({ data: guardrail }) } },
  errors: [404, 409],
  async handle(request) {
    const id = idOf(request)
    const patch = validate(updateGuardrailBody, readJsonObject(await request.text()))
    return jsonResponse({ data: await guardrails.update(principalOf(request).workspaceId, id, patch, changedBy(request)) })
  },
})

export const guardrailsDelete = (guardrails: Guardrails): Route => ({
  ...shared,
  method: 'DELETE',
  path: '/guardrails/:id',
  operation: 'deleteGuardrail',
  summary: 'Delete a guardrail with its assignments',
  params: { id: guardrailId },
  answers: { 200: { description: 'Deleted.', schema: z.object({ deleted: z.literal(true) }) } },
  errors: [400, 404, 409],
  async handle(request) {
    await guardrails.delete(principalOf(request).workspaceId, idOf(request), changedBy(request))
    return jsonResponse({ deleted: true })
  },
})

/** A key manages its own workspace; another's id is as unknown as none. */
const checkWorkspace = (asked: string | null | undefined, own: string): void => {
  if (asked !== undefined && asked !== null && asked !== '' && asked !== own)
    throw new GatewayError('not_found', 'There is no workspace with this id.')
}
