/** Management of guardrails (docs/contract/guardrails.md#resource). */
import { z } from 'zod'

import {
  createGuardrailBody,
  guardrail,
  type GuardrailResource,
  guardrailId,
  guardrailsQuery,
  listedGuardrail,
  updateGuardrailBody,
} from '../../contract/guardrail.ts'
import { onceHeaders } from '../../contract/idempotency.ts'
import { listOf, listPaging } from '../../contract/paging.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import { answerOnce } from '../answer-once.ts'
import { checkFilters } from '../check-patterns.ts'
import { jsonResponse } from '../response/json-response.ts'
import { changedBy, reachOf, type Route } from '../route.ts'
import { workspaceForNew } from '../workspace-scope.ts'
import { assignmentRoutes, type GuardrailRouteParts, locate } from './guardrail-assignments.ts'

const shared = { tag: 'Guardrails', policy: 'management', surface: 'management' } as const

const guardrailsList = ({ guardrails, hitsOf }: GuardrailRouteParts): Route => ({
  ...shared,
  method: 'GET',
  path: '/guardrails',
  operation: 'listGuardrails',
  summary: 'List guardrails, newest first',
  query: { ...guardrailsQuery, ...listPaging.query, ...inWorkspace },
  answers: { 200: { description: 'Guardrails.', schema: listOf(listedGuardrail) } },
  errors: [400, 404],
  async handle(request) {
    const include = validate(guardrailsQuery.include, request.query.get('include') || undefined, ['include'])
    const page = await guardrails.list(reachOf(request).workspaceId, listPaging.read(request.query))
    return jsonResponse({ data: include === undefined ? page.items : await hitsOf(page.items), total_count: page.totalCount })
  },
})

const guardrailsCreate = ({ guardrails, workspaces, onceness }: GuardrailRouteParts): Route => ({
  ...shared,
  method: 'POST',
  path: '/guardrails',
  operation: 'createGuardrail',
  summary: 'Create a guardrail; it acts where it is assigned',
  query: inWorkspace,
  headers: onceHeaders,
  body: createGuardrailBody,
  answers: { 201: { description: 'The guardrail.', schema: z.object({ data: guardrail }) } },
  errors: [404],
  async handle(request) {
    const bodyText = await request.text()
    const body = validate(createGuardrailBody, readJsonObject(bodyText))
    await checkFilters(request, body.content_filters)
    const workspaceId = await workspaceForNew(request, workspaces, body.workspace_id)
    return answerOnce<GuardrailResource>(
      { request, operation: 'createGuardrail', asked: () => bodyText },
      onceness,
      (once) => guardrails.create(workspaceId, body, changedBy(request), once),
      (data) => ({ data }),
    )
  },
})

const guardrailsGet = ({ guardrails }: GuardrailRouteParts): Route => ({
  ...shared,
  method: 'GET',
  path: '/guardrails/:id',
  operation: 'getGuardrail',
  summary: 'Read a guardrail',
  params: { id: guardrailId },
  query: inWorkspace,
  answers: { 200: { description: 'The guardrail.', schema: z.object({ data: guardrail }) } },
  errors: [400, 404],
  async handle(request) {
    const { workspaceId, id } = await locate(request, guardrails)
    return jsonResponse({ data: await guardrails.get(workspaceId, id) })
  },
})

const guardrailsUpdate = ({ guardrails }: GuardrailRouteParts): Route => ({
  ...shared,
  method: 'PATCH',
  path: '/guardrails/:id',
  operation: 'updateGuardrail',
  summary: 'Change a guardrail; it takes effect at once',
  params: { id: guardrailId },
  query: inWorkspace,
  body: updateGuardrailBody,
  answers: { 200: { description: 'The changed guardrail.', schema: z.object({ data: guardrail }) } },
  errors: [404, 409],
  async handle(request) {
    const { workspaceId, id } = await locate(request, guardrails)
    const patch = validate(updateGuardrailBody, readJsonObject(await request.text()))
    await checkFilters(request, patch.content_filters)
    return jsonResponse({ data: await guardrails.update(workspaceId, id, patch, changedBy(request)) })
  },
})

const guardrailsDelete = ({ guardrails }: GuardrailRouteParts): Route => ({
  ...shared,
  method: 'DELETE',
  path: '/guardrails/:id',
  operation: 'deleteGuardrail',
  summary: 'Delete a guardrail with its assignments',
  params: { id: guardrailId },
  query: inWorkspace,
  answers: { 200: { description: 'Deleted.', schema: z.object({ deleted: z.literal(true) }) } },
  errors: [400, 404, 409],
  async handle(request) {
    const { workspaceId, id } = await locate(request, guardrails)
    await guardrails.delete(workspaceId, id, changedBy(request))
    return jsonResponse({ deleted: true })
  },
})

export const guardrailRoutes = (parts: GuardrailRouteParts): readonly Route[] => [
  guardrailsList(parts),
  guardrailsCreate(parts),
  ...assignmentRoutes(parts),
  guardrailsGet(parts),
  guardrailsUpdate(parts),
  guardrailsDelete(parts),
]
