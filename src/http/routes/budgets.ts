/** Budgets of a workspace: one for each interval (docs/contract/budgets.md#workspace-budgets). */
import { z } from 'zod'

import { budgetInterval, putBudgetBody, workspaceBudget } from '../../contract/budget.ts'
import { validate } from '../../contract/validate.ts'
import { workspaceRef } from '../../contract/workspace.ts'
import { GatewayError } from '../../errors.ts'
import type { Budgets } from '../../ledger/budgets.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import { dollars, nanosOf } from '../../lib/money.ts'
import type { BudgetRecord } from '../../storage/ledger/budget-store.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { jsonResponse } from '../response/json-response.ts'
import { changedBy, type Route, type RouteRequest } from '../route.ts'
import { workspaceOf } from './workspaces.ts'

const shared = { tag: 'Workspaces', policy: 'management', surface: 'management' } as const
const one = { ...shared, path: '/workspaces/:id/budgets/:interval', params: { id: workspaceRef, interval: budgetInterval } } as const

const intervalOf = (request: RouteRequest): z.output<typeof budgetInterval> =>
  validate(budgetInterval, request.params['interval'], ['interval'])

/** A single setting for all budgets of a workspace decides if customers' own provider keys count. */
const includesByok = async (budgets: Budgets, workspaceId: string): Promise<boolean> =>
  (await budgets.list(workspaceId)).some(({ includeByok }) => includeByok)

export const budgetRoutes = ({ budgets, workspaces }: { budgets: Budgets; workspaces: Workspaces }): readonly Route[] => [
  {
    ...shared,
    method: 'GET',
    path: '/workspaces/:id/budgets',
    operation: 'listWorkspaceBudgets',
    summary: 'List the budgets of a workspace, the longest interval first',
    params: { id: workspaceRef },
    answers: {
      200: { description: 'Budgets.', schema: z.object({ data: z.array(workspaceBudget), include_byok_in_budgets: z.boolean() }) },
    },
    errors: [400, 404],
    async handle(request) {
      const { id } = await workspaceOf(request, workspaces)
      const found = await budgets.list(id)
      return jsonResponse({ data: found.map(budgetResource), include_byok_in_budgets: await includesByok(budgets, id) })
    },
  },
  {
    ...one,
    method: 'GET',
    operation: 'getWorkspaceBudget',
    summary: 'Read the budget of an interval',
    answers: { 200: { description: 'The budget.', schema: z.object({ data: workspaceBudget }) } },
    errors: [400, 404],
    async handle(request) {
      const interval = intervalOf(request)
      const { id } = await workspaceOf(request, workspaces)
      const found = (await budgets.list(id)).find(({ span }) => span === interval)
      if (found === undefined) throw new GatewayError('not_found', `The workspace has no ${interval} budget.`)
      return jsonResponse({ data: budgetResource(found) })
    },
  },
  {
    ...one,
    method: 'PUT',
    operation: 'putWorkspaceBudget',
    summary: 'Make or change the budget of an interval; what was spent in its window before counts',
    body: putBudgetBody,
    answers: { 200: { description: 'The budget.', schema: z.object({ data: workspaceBudget }) } },
    errors: [404, 409],
    async handle(request) {
      const span = intervalOf(request)
      const { id: workspaceId } = await workspaceOf(request, workspaces)
      const body = validate(putBudgetBody, readJsonObject(await request.text()))
      const written = await budgets.put(
        {
          workspaceId,
          span,
          limitNanos: nanosOf(body.limit_usd),
          includeByok: body.include_byok_in_budgets ?? (await includesByok(budgets, workspaceId)),
          shareByok: body.include_byok_in_budgets !== undefined,
          ...(body.allow_last_request === undefined ? {} : { allowLastRequest: body.allow_last_request }),
        },
        changedBy(request),
      )
      return jsonResponse({ data: budgetResource(written) })
    },
  },
  {
    ...one,
    method: 'DELETE',
    operation: 'deleteWorkspaceBudget',
    summary: 'Remove the budget of an interval, if there is one',
    answers: { 200: { description: 'There is no such budget now.', schema: z.object({ deleted: z.literal(true) }) } },
    errors: [400, 404, 409],
    async handle(request) {
      const interval = intervalOf(request)
      const { id } = await workspaceOf(request, workspaces)
      await budgets.delete(id, interval, changedBy(request))
      return jsonResponse({ deleted: true })
    },
  },
]

const budgetResource = (budget: BudgetRecord): z.output<typeof workspaceBudget> => ({
  id: budget.id,
  workspace_id: budget.workspaceId,
  limit_usd: dollars(budget.limitNanos),
  reset_interval: budget.span === 'lifetime' ? null : budget.span,
  include_byok_in_budgets: budget.includeByok,
  allow_last_request: budget.allowLastRequest,
  created_at: budget.createdAt,
  updated_at: budget.updatedAt,
})
