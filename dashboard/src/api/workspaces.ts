/** Workspaces, their members and budgets. */
import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'

import type { credits, workspaceBudget } from '../../../src/contract/budget.ts'
import type { loginLink } from '../../../src/contract/session.ts'
import type { ListedWorkspaceResource, WorkspaceMemberResource, WorkspaceResource } from '../../../src/contract/workspace.ts'
import { ask, askData, segment } from './client.ts'
import { create } from './create.ts'
import { offsetList } from './paged-list.ts'
import { queryClient } from './query-client.ts'

export type Workspace = WorkspaceResource
export type ListedWorkspace = ListedWorkspaceResource
export type Member = WorkspaceMemberResource & { readonly name?: string | null; readonly email?: string | null }
export type LoginLink = z.output<typeof loginLink>

export const workspaceList = offsetList<Workspace>(['workspaces'], '/workspaces')

/** Includes the members, keys and cost of each. */
export const workspaceFigures = offsetList<ListedWorkspace>(['workspaces', 'figures'], '/workspaces', { include: 'figures' })

export const workspaceOf = (id: string) =>
  queryOptions({
    queryKey: ['workspaces', id],
    queryFn: ({ signal }) => askData<Workspace>(`/workspaces/${segment(id)}`, { signal }),
  })

export const membersOf = (id: string) => offsetList<Member>(['workspaces', id, 'members'], `/workspaces/${segment(id)}/members`)

export type Budget = z.output<typeof workspaceBudget>

export const budgetsOf = (id: string) =>
  queryOptions({
    queryKey: ['workspaces', id, 'budgets'],
    queryFn: ({ signal }) => askData<readonly Budget[]>(`/workspaces/${segment(id)}/budgets`, { signal }),
  })

export const creditsOf = (id: string) =>
  queryOptions({
    queryKey: ['workspaces', id, 'credits'],
    queryFn: ({ signal }) => askData<z.output<typeof credits>>('/credits', { query: { workspace_id: id }, signal }),
  })

export const createWorkspace = async (body: { name: string; slug: string }): Promise<unknown> => changed(create('/workspaces', { body }))

export const changeWorkspace = async (id: string, body: Readonly<Record<string, unknown>>): Promise<{ data: Workspace }> =>
  changed(ask<{ data: Workspace }>(`/workspaces/${segment(id)}`, { method: 'PATCH', body }))

/** A change of role ends the sessions of the person. */
export const changeMember = async (id: string, userId: string, body: Readonly<Record<string, unknown>>): Promise<unknown> =>
  changed(ask(`/workspaces/${segment(id)}/members/${segment(userId)}`, { method: 'PATCH', body }))

export const removeMember = async (id: string, userId: string): Promise<unknown> =>
  changed(ask(`/workspaces/${segment(id)}/members/remove`, { method: 'POST', body: { user_ids: [userId] } }))

/** The response contains the link's address, this once only. */
export const createLoginLink = async (body: { user_id: string; role: string; workspace_id: string }): Promise<LoginLink> => {
  const answer = await changed(create<{ data?: LoginLink } & LoginLink>('/login-links', { body }))
  return answer.data ?? answer
}

export const putBudget = async (id: string, interval: string, limitUsd: number): Promise<unknown> =>
  changed(ask(`/workspaces/${segment(id)}/budgets/${interval}`, { method: 'PUT', body: { limit_usd: limitUsd } }))

export const deleteBudget = async (id: string, interval: string): Promise<unknown> =>
  changed(ask(`/workspaces/${segment(id)}/budgets/${interval}`, { method: 'DELETE' }))

const changed = async <Answer>(asked: Promise<Answer>): Promise<Answer> => {
  const answer = await asked
  await queryClient.invalidateQueries({ queryKey: ['workspaces'] })
  return answer
}
