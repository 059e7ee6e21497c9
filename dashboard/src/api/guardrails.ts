/** Guardrails, their assignments, and the test of a text against them. */
import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'

import type { guardrailRecordedTest, guardrailTest } from '../../../src/contract/guardrail-test.ts'
import type { KeyAssignmentResource, ListedGuardrailResource, MemberAssignmentResource } from '../../../src/contract/guardrail.ts'
import { ask, askData, segment } from './client.ts'
import { create, remove } from './create.ts'
import { offsetList } from './paged-list.ts'
import { queryClient } from './query-client.ts'

/** A guardrail as the list returns it, with `hits`. */
export type Guardrail = ListedGuardrailResource
export type GuardrailTest = z.output<typeof guardrailTest>
export type RequestsTried = z.output<typeof guardrailRecordedTest>

/** A draft sets these members; one that it leaves out stays as it is saved. */
export type GuardrailDraft = Readonly<Partial<Omit<Guardrail, 'id' | 'workspace_id' | 'created_at' | 'updated_at' | 'hits'>>>

export const guardrailList = (workspace: string | undefined) =>
  offsetList<Guardrail>(['guardrails', { workspace }], '/guardrails', { workspace_id: workspace, include: 'hits' })

/** Fetches one guardrail that an address names and the loaded list does not have: it is further down, or deleted. */
export const oneGuardrail = (id: string) =>
  queryOptions({
    queryKey: ['guardrails', id],
    queryFn: ({ signal }) => askData<Guardrail>(`/guardrails/${segment(id)}`, { signal }),
  })

/** The list without hits, which the service counts anew for each response. For the choice of a guardrail and for its name. */
export const guardrailNames = (workspace: string | undefined) =>
  offsetList<Guardrail>(['guardrails', 'names', { workspace }], '/guardrails', { workspace_id: workspace })

export const assignedKeys = (id: string) =>
  offsetList<KeyAssignmentResource>(['guardrails', id, 'keys'], `/guardrails/${segment(id)}/assignments/keys`)

export const assignedMembers = (id: string) =>
  offsetList<MemberAssignmentResource>(['guardrails', id, 'members'], `/guardrails/${segment(id)}/assignments/members`)

/** All assignments of guardrails to keys in the workspace; the query below lists those to members. */
export const keyAssignments = (workspace: string | undefined) =>
  offsetList<KeyAssignmentResource>(['guardrails', 'keys', { workspace }], '/guardrails/assignments/keys', { workspace_id: workspace })

export const memberAssignments = (workspace: string | undefined) =>
  offsetList<MemberAssignmentResource>(['guardrails', 'members', { workspace }], '/guardrails/assignments/members', {
    workspace_id: workspace,
  })

export const testGuardrail = (body: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<GuardrailTest> =>
  ask<{ data?: GuardrailTest } & GuardrailTest>('/guardrail-tests', { method: 'POST', body, signal }).then(
    (answer) => answer.data ?? answer,
  )

/** Tries a guardrail on the newest requests whose contents are stored. */
export const tryOnRequests = async (body: unknown, workspace: string | undefined): Promise<RequestsTried> =>
  askData<RequestsTried>('/guardrail-tests/requests', {
    method: 'POST',
    body,
    query: { workspace_id: workspace },
  })

export const createGuardrail = async (name: string, workspace: string | undefined): Promise<Guardrail> =>
  (await changed(create<{ data: Guardrail }>('/guardrails', { body: { name, workspace_id: workspace } }))).data

export const saveGuardrail = async (id: string, draft: GuardrailDraft): Promise<{ data: Guardrail }> =>
  changed(ask<{ data: Guardrail }>(`/guardrails/${segment(id)}`, { method: 'PATCH', body: draft }))

export const deleteGuardrail = async (id: string): Promise<unknown> => changed(remove(`/guardrails/${segment(id)}`))

export const assignKey = async (id: string, hash: string): Promise<unknown> =>
  changed(ask(`/guardrails/${segment(id)}/assignments/keys`, { method: 'POST', body: { key_hashes: [hash] } }))

const changed = async <Answer>(asked: Promise<Answer>): Promise<Answer> => {
  const answer = await asked
  await queryClient.invalidateQueries({ queryKey: ['guardrails'] })
  return answer
}
