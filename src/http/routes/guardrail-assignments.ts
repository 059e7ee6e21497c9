/** The keys and members that guardrails act on. Each has at most one guardrail of its own (docs/contract/guardrails.md#assignment). */
import { z } from 'zod'

import { guardrailId, keyAssignment, keyHashesBody, memberAssignment, memberIdsBody } from '../../contract/guardrail.ts'
import { listOf, listPaging } from '../../contract/paging.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import type { Guardrails } from '../../guardrails/guardrails.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import type { Onceness } from '../answer-once.ts'
import { jsonResponse } from '../response/json-response.ts'
import { changedBy, reachOf, type Route, type RouteRequest } from '../route.ts'
import type { HitsOf } from './guardrail-hits.ts'

const shared = { tag: 'Guardrails', policy: 'management', surface: 'management' } as const

export interface GuardrailRouteParts {
  readonly guardrails: Guardrails
  readonly workspaces: Workspaces
  readonly onceness: Onceness
  readonly hitsOf: HitsOf
}

/** The guardrail in the path, and the workspace to look for it in. */
export const locate = async (request: RouteRequest, guardrails: Guardrails): Promise<{ workspaceId: string; id: string }> => {
  const id = validate(guardrailId, request.params['id'], ['id'])
  return { workspaceId: await guardrails.workspaceOf(reachOf(request), id), id }
}

/** The differences between the two kinds of subject. */
const KINDS = {
  keys: {
    kind: 'key',
    item: keyAssignment,
    body: keyHashesBody,
    subjects: (body: unknown): readonly string[] => validate(keyHashesBody, body).key_hashes,
    list: (guardrails: Guardrails) => guardrails.keyAssignments,
    names: {
      all: 'listKeyAssignments',
      one: 'listGuardrailKeyAssignments',
      add: 'bulkAssignKeysToGuardrail',
      remove: 'bulkUnassignKeysFromGuardrail',
    },
  },
  members: {
    kind: 'member',
    item: memberAssignment,
    body: memberIdsBody,
    subjects: (body: unknown): readonly string[] => validate(memberIdsBody, body).member_user_ids,
    list: (guardrails: Guardrails) => guardrails.memberAssignments,
    names: {
      all: 'listMemberAssignments',
      one: 'listGuardrailMemberAssignments',
      add: 'bulkAssignMembersToGuardrail',
      remove: 'bulkUnassignMembersFromGuardrail',
    },
  },
} as const

type Subjects = keyof typeof KINDS

const assignmentsList = (subjects: Subjects, of: 'all' | 'one', { guardrails }: GuardrailRouteParts): Route => {
  const { item, list, names } = KINDS[subjects]
  return {
    ...shared,
    method: 'GET',
    path: of === 'all' ? `/guardrails/assignments/${subjects}` : `/guardrails/:id/assignments/${subjects}`,
    operation: names[of],
    summary:
      of === 'all'
        ? `List the ${subjects} that guardrails are assigned to, newest first`
        : `List the ${subjects} that a guardrail is assigned to`,
    ...(of === 'all' ? {} : { params: { id: guardrailId } }),
    query: { ...listPaging.query, ...inWorkspace },
    answers: { 200: { description: 'Assignments.', schema: listOf(item) } },
    errors: [400, 404],
    async handle(request) {
      const slice = listPaging.read(request.query)
      const { workspaceId, id } = of === 'all' ? { ...reachOf(request), id: null } : await locate(request, guardrails)
      const page = await list(guardrails)(workspaceId, id, slice)
      return jsonResponse({ data: page.items, total_count: page.totalCount })
    },
  }
}

/** The differences between the two changes. */
const CHANGES = {
  add: {
    path: '',
    summary: (subjects: Subjects) => `Assign a guardrail to ${subjects}; one that has another guardrail moves to this one`,
    description: 'How many are new.',
    count: 'assigned_count',
    method: 'assign',
  },
  remove: {
    path: '/remove',
    summary: (subjects: Subjects) => `Take a guardrail off ${subjects}`,
    description: 'How many had it.',
    count: 'unassigned_count',
    method: 'unassign',
  },
} as const

const assignmentsChange = (subjects: Subjects, change: keyof typeof CHANGES, { guardrails }: GuardrailRouteParts): Route => {
  const { kind, body, subjects: read, names } = KINDS[subjects]
  const { path, summary, description, count, method } = CHANGES[change]
  return {
    ...shared,
    method: 'POST',
    path: `/guardrails/:id/assignments/${subjects}${path}`,
    operation: names[change],
    summary: summary(subjects),
    params: { id: guardrailId },
    query: inWorkspace,
    body,
    answers: { 200: { description, schema: z.object({ [count]: z.int() }) } },
    errors: [404, 409],
    async handle(request) {
      const { workspaceId, id } = await locate(request, guardrails)
      const given = read(readJsonObject(await request.text()))
      return jsonResponse({ [count]: await guardrails[method](workspaceId, id, { kind, subjects: given }, changedBy(request)) })
    },
  }
}

export const assignmentRoutes = (parts: GuardrailRouteParts): readonly Route[] =>
  (['keys', 'members'] as const).flatMap((subjects) => [
    assignmentsList(subjects, 'all', parts),
    assignmentsList(subjects, 'one', parts),
    assignmentsChange(subjects, 'add', parts),
    assignmentsChange(subjects, 'remove', parts),
  ])
