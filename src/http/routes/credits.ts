/**
 * Prepaid credit of a workspace (docs/contract/keys-and-workspaces.md#credit). The endpoint that adds credit is our own
 * addition: whoever runs the service decides what credit means.
 */
import { z } from 'zod'

import { addCreditsBody, credits as creditsSchema } from '../../contract/budget.ts'
import { onceHeaders } from '../../contract/idempotency.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { GatewayError } from '../../errors.ts'
import type { Credits } from '../../ledger/credits.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import { dollars, nanosOf } from '../../lib/money.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { answerOnce, type Onceness } from '../answer-once.ts'
import { jsonResponse } from '../response/json-response.ts'
import { changedBy, reachOf, type Route } from '../route.ts'
import { workspaceForNew } from '../workspace-scope.ts'

export interface CreditRouteParts {
  readonly credits: Credits
  readonly workspaces: Workspaces
  /** Nano-dollars that the keys of the workspace have spent up to now. */
  readonly spent: (workspaceId: string) => Promise<number>
  readonly onceness: Onceness
}

const shared = { path: '/credits', tag: 'Credits', policy: 'management', surface: 'management' } as const

export const creditRoutes = ({ credits, workspaces, spent, onceness }: CreditRouteParts): readonly Route[] => {
  const shown = async (id: string): Promise<z.output<typeof creditsSchema>> => ({
    total_credits: dollars(await credits.total(id)),
    total_usage: dollars(await spent(id)),
  })
  return [
    {
      ...shared,
      method: 'GET',
      operation: 'getCredits',
      summary: 'Read the credit of a workspace and what it has spent',
      query: inWorkspace,
      answers: { 200: { description: 'The credit.', schema: z.object({ data: creditsSchema }) } },
      errors: [400, 404],
      async handle(request) {
        return jsonResponse({ data: await shown(reachOf(request).workspaceId) })
      },
    },
    {
      ...shared,
      method: 'POST',
      operation: 'addCredits',
      summary: 'Add to the credit of a workspace, with a management key of the default one',
      query: inWorkspace,
      headers: onceHeaders,
      body: addCreditsBody,
      answers: { 201: { description: 'The credit after the addition.', schema: z.object({ data: creditsSchema }) } },
      errors: [403, 404],
      async handle(request) {
        if (!reachOf(request).isOperator) {
          throw new GatewayError('permission_denied', 'Only management keys of the default workspace add credit.')
        }
        const bodyText = await request.text()
        const { amount_usd, note, workspace_id } = validate(addCreditsBody, readJsonObject(bodyText))
        const id = await workspaceForNew(request, workspaces, workspace_id)
        const total_usage = dollars(await spent(id))
        return answerOnce<number>(
          { request, operation: 'addCredits', asked: () => bodyText },
          onceness,
          (once) => credits.add({ workspaceId: id, amountNanos: signedNanos(amount_usd), note }, changedBy(request), once),
          (total) => ({ data: { total_credits: dollars(total), total_usage } }),
        )
      },
    },
  ]
}

/** Rounds away from zero for positive and negative amounts alike. */
const signedNanos = (amount: number): number => Math.sign(amount) * nanosOf(Math.abs(amount))
