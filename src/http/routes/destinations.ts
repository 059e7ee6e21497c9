/** Destinations of traces (docs/contract/broadcast.md). */
import { z } from 'zod'

import type { Destinations } from '../../broadcast/destinations.ts'
import { createDestinationBody, destination, destinationId, updateDestinationBody } from '../../contract/destination.ts'
import { onceHeaders } from '../../contract/idempotency.ts'
import { listOf, listPaging } from '../../contract/paging.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { answerOnce, type Onceness } from '../answer-once.ts'
import { jsonResponse } from '../response/json-response.ts'
import { changedBy, reachOf, type Route, type RouteRequest } from '../route.ts'
import { workspaceForNew } from '../workspace-scope.ts'

const shared = { tag: 'Observability', policy: 'management', surface: 'management' } as const
const path = '/observability/destinations'
const one = { ...shared, path: `${path}/:id`, params: { id: destinationId } } as const
const data = z.object({ data: destination })

const skipTestQuery = z.enum(['true', 'false']).optional().meta({ description: 'true: saved without a request to the destination.' })

const idOf = (request: RouteRequest): string => validate(destinationId, request.params['id'], ['id'])
const skipsTest = (request: RouteRequest): boolean =>
  validate(skipTestQuery, request.query.get('skip_test') || undefined, ['skip_test']) === 'true'

export const destinationRoutes = ({
  destinations,
  workspaces,
  onceness,
}: {
  destinations: Destinations
  workspaces: Workspaces
  onceness: Onceness
}): readonly Route[] => [
  {
    ...shared,
    method: 'GET',
    path,
    operation: 'listObservabilityDestinations',
    summary: "List where a workspace's traces go",
    query: { ...inWorkspace, ...listPaging.query },
    answers: { 200: { description: 'Destinations, the oldest first; secrets are masked.', schema: listOf(destination) } },
    errors: [400, 404],
    async handle(request) {
      const page = await destinations.list(reachOf(request).workspaceId, listPaging.read(request.query))
      return jsonResponse({ data: page.items, total_count: page.totalCount })
    },
  },
  {
    ...shared,
    method: 'POST',
    path,
    operation: 'createObservabilityDestination',
    summary: 'Send traces somewhere; the destination is asked for once before it is saved',
    query: { ...inWorkspace, skip_test: skipTestQuery },
    headers: onceHeaders,
    body: createDestinationBody,
    answers: { 201: { description: 'The destination; secrets are masked.', schema: data } },
    errors: [404, 409],
    async handle(request) {
      const bodyText = await request.text()
      const body = validate(createDestinationBody, readJsonObject(bodyText))
      const skipTest = skipsTest(request)
      const workspaceId = await workspaceForNew(request, workspaces, body.workspace_id)
      return answerOnce(
        { request, operation: 'createObservabilityDestination', asked: () => bodyText },
        onceness,
        (once) => destinations.create(workspaceId, body, changedBy(request), { skipTest, once }),
        (made) => ({ data: made }),
      )
    },
  },
  {
    ...one,
    method: 'GET',
    operation: 'getObservabilityDestination',
    summary: 'Read a destination, with how its delivery goes',
    query: inWorkspace,
    answers: { 200: { description: 'The destination; secrets are masked.', schema: data } },
    errors: [400, 404],
    async handle(request) {
      const id = idOf(request)
      return jsonResponse({ data: await destinations.get(reachOf(request), id) })
    },
  },
  {
    ...one,
    method: 'PATCH',
    operation: 'updateObservabilityDestination',
    summary: 'Change a destination; where its configuration changes it is asked for before',
    query: { ...inWorkspace, skip_test: skipTestQuery },
    body: updateDestinationBody,
    answers: { 200: { description: 'The changed destination; secrets are masked.', schema: data } },
    errors: [404, 409],
    async handle(request) {
      const id = idOf(request)
      const body = validate(updateDestinationBody, readJsonObject(await request.text()))
      return jsonResponse({
        data: await destinations.update(reachOf(request), id, body, changedBy(request), { skipTest: skipsTest(request) }),
      })
    },
  },
  {
    ...one,
    method: 'DELETE',
    operation: 'deleteObservabilityDestination',
    summary: 'Send no more traces there; what waits is dropped',
    query: inWorkspace,
    answers: { 200: { description: 'Deleted.', schema: z.object({ deleted: z.literal(true) }) } },
    errors: [400, 404],
    async handle(request) {
      const id = idOf(request)
      await destinations.delete(reachOf(request), id, changedBy(request))
      return jsonResponse({ deleted: true })
    },
  },
]
