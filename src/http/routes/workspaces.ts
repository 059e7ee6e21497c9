/** Workspaces and their members (docs/contract/keys-and-workspaces.md#workspaces). A path names a workspace by its id or its slug. */
import { z } from 'zod'

import { onceHeaders } from '../../contract/idempotency.ts'
import { listOf, listPaging } from '../../contract/paging.ts'
import { validate } from '../../contract/validate.ts'
import {
  createWorkspaceBody,
  listedWorkspace,
  memberId,
  memberIds,
  updateMemberBody,
  updateWorkspaceBody,
  workspace,
  workspaceMember,
  workspaceRef,
  workspacesQuery,
} from '../../contract/workspace.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import type { WorkspaceFound, WorkspaceRecord } from '../../storage/workspaces/workspace-store.ts'
import { workspaceResource, type Workspaces } from '../../workspaces/workspaces.ts'
import { answerOnce, type Onceness } from '../answer-once.ts'
import { jsonResponse } from '../response/json-response.ts'
import { changedBy, callerOf, type Route, type RouteRequest } from '../route.ts'
import type { FiguresOf } from './workspace-figures.ts'

const shared = { tag: 'Workspaces', policy: 'management', surface: 'management' } as const
const params = { id: workspaceRef }

export interface WorkspaceRouteParts {
  readonly workspaces: Workspaces
  /** Returns the given workspaces whose budgets count customers' own provider keys. */
  readonly countingByok: (workspaceIds: readonly string[]) => Promise<ReadonlySet<string>>
  readonly figuresOf: FiguresOf
  readonly onceness: Onceness
}

/** The workspace in the path. Throws if the caller may not reach it. */
export const workspaceOf = (request: RouteRequest, workspaces: Workspaces): Promise<WorkspaceFound> =>
  workspaces.reach(callerOf(request), refIn(request))

const refIn = (request: RouteRequest): string => validate(workspaceRef, request.params['id'], ['id'])

export const workspaceRoutes = ({ workspaces, countingByok, figuresOf, onceness }: WorkspaceRouteParts): readonly Route[] => {
  const allShown = async (records: readonly WorkspaceRecord[]) => {
    const counting = await countingByok(records.map(({ id }) => id))
    return records.map((record) => workspaceResource(record, counting.has(record.id)))
  }
  const shown = async (record: WorkspaceRecord) => workspaceResource(record, (await countingByok([record.id])).has(record.id))
  return [
    {
      ...shared,
      method: 'GET',
      path: '/workspaces',
      operation: 'listWorkspaces',
      summary: 'List the workspaces that this key reaches, oldest first',
      query: { ...workspacesQuery, ...listPaging.query },
      answers: { 200: { description: 'Workspaces.', schema: listOf(listedWorkspace) } },
      errors: [400, 503],
      async handle(request) {
        const include = validate(workspacesQuery.include, request.query.get('include') || undefined, ['include'])
        const page = await workspaces.list(callerOf(request), listPaging.read(request.query))
        const data = await allShown(page.items)
        return jsonResponse({ data: include === undefined ? data : await figuresOf(request, data), total_count: page.totalCount })
      },
    },
    {
      ...shared,
      method: 'POST',
      path: '/workspaces',
      operation: 'createWorkspace',
      summary: 'Create a workspace, with a management key of the default one',
      headers: onceHeaders,
      body: createWorkspaceBody,
      answers: { 201: { description: 'The workspace.', schema: z.object({ data: workspace }) } },
      errors: [403, 409],
      async handle(request) {
        const bodyText = await request.text()
        const body = validate(createWorkspaceBody, readJsonObject(bodyText))
        return answerOnce<WorkspaceRecord>(
          { request, operation: 'createWorkspace', asked: () => bodyText },
          onceness,
          (once) => workspaces.create(callerOf(request), body, changedBy(request), once),
          // A new workspace has no budgets yet.
          (record) => ({ data: workspaceResource(record, false) }),
        )
      },
    },
    {
      ...shared,
      method: 'GET',
      path: '/workspaces/:id',
      operation: 'getWorkspace',
      summary: 'Read a workspace',
      params,
      answers: { 200: { description: 'The workspace.', schema: z.object({ data: workspace }) } },
      errors: [400, 404],
      handle: async (request) => jsonResponse({ data: await shown(await workspaces.get(callerOf(request), refIn(request))) }),
    },
    {
      ...shared,
      method: 'PATCH',
      path: '/workspaces/:id',
      operation: 'updateWorkspace',
      summary: 'Rename or set up a workspace',
      params,
      body: updateWorkspaceBody,
      answers: { 200: { description: 'The changed workspace.', schema: z.object({ data: workspace }) } },
      errors: [404, 409],
      async handle(request) {
        const { id } = await workspaceOf(request, workspaces)
        const body = validate(updateWorkspaceBody, readJsonObject(await request.text()))
        return jsonResponse({ data: await shown(await workspaces.update(id, body, changedBy(request))) })
      },
    },
    {
      ...shared,
      method: 'DELETE',
      path: '/workspaces/:id',
      operation: 'deleteWorkspace',
      summary: 'Delete a workspace whose keys are all revoked, with a management key of the default one',
      params,
      answers: { 200: { description: 'Deleted.', schema: z.object({ deleted: z.literal(true) }) } },
      errors: [400, 403, 404, 409],
      async handle(request) {
        const { id } = await workspaceOf(request, workspaces)
        await workspaces.delete(callerOf(request), id, changedBy(request))
        return jsonResponse({ deleted: true })
      },
    },
    {
      ...shared,
      method: 'GET',
      path: '/workspaces/:id/members',
      operation: 'listWorkspaceMembers',
      summary: 'List the members of a workspace, the first ones first',
      params,
      query: listPaging.query,
      answers: { 200: { description: 'Members.', schema: listOf(workspaceMember) } },
      errors: [400, 404],
      async handle(request) {
        const { id } = await workspaceOf(request, workspaces)
        const page = await workspaces.members(id, listPaging.read(request.query))
        return jsonResponse({ data: page.items, total_count: page.totalCount })
      },
    },
    {
      ...shared,
      method: 'PATCH',
      path: '/workspaces/:id/members/:user_id',
      operation: 'updateWorkspaceMember',
      summary: 'Give a member another role, a name or an address; another role ends the sessions of the person',
      params: { ...params, user_id: memberId },
      body: updateMemberBody,
      answers: { 200: { description: 'The changed member.', schema: z.object({ data: workspaceMember }) } },
      errors: [404, 409],
      async handle(request) {
        const { id } = await workspaceOf(request, workspaces)
        const userId = validate(memberId, request.params['user_id'], ['user_id'])
        const body = validate(updateMemberBody, readJsonObject(await request.text()))
        return jsonResponse({ data: await workspaces.updateMember(id, userId, body, changedBy(request)) })
      },
    },
    {
      ...shared,
      method: 'POST',
      path: '/workspaces/:id/members/add',
      operation: 'addWorkspaceMembers',
      summary: 'Add members to a workspace',
      params,
      body: memberIds,
      answers: {
        200: {
          description: 'Those that were no members before.',
          schema: z.object({ data: z.array(workspaceMember), added_count: z.int() }),
        },
      },
      errors: [404, 409],
      async handle(request) {
        const { id } = await workspaceOf(request, workspaces)
        const { user_ids } = validate(memberIds, readJsonObject(await request.text()))
        const added = await workspaces.addMembers(id, user_ids, changedBy(request))
        return jsonResponse({ data: added, added_count: added.length })
      },
    },
    {
      ...shared,
      method: 'POST',
      path: '/workspaces/:id/members/remove',
      operation: 'removeWorkspaceMembers',
      summary: 'Remove members without keys from a workspace',
      params,
      body: memberIds,
      answers: { 200: { description: 'How many were removed.', schema: z.object({ removed_count: z.int() }) } },
      errors: [404, 409],
      async handle(request) {
        const { id } = await workspaceOf(request, workspaces)
        const { user_ids } = validate(memberIds, readJsonObject(await request.text()))
        return jsonResponse({ removed_count: await workspaces.removeMembers(id, user_ids, changedBy(request)) })
      },
    },
  ]
}
