/** Budgets and prepaid credit of a workspace on the wire (docs/contract/budgets.md#workspace-budgets). */
import { z } from 'zod'

import { dollarAmount } from './dollar-amount.ts'
import { storedText } from './stored-text.ts'

const timestamp = z.iso.datetime()

/** How often a limit resets. */
export const resetInterval = z.enum(['daily', 'weekly', 'monthly'])

export const budgetInterval = z.enum(['daily', 'weekly', 'monthly', 'lifetime']).meta({ description: 'How long its window is.' })

export const workspaceBudget = z
  .object({
    id: z.string(),
    workspace_id: z.string(),
    limit_usd: z.number(),
    reset_interval: resetInterval.nullable().meta({ description: 'Null: for life.' }),
    include_byok_in_budgets: z.boolean(),
    allow_last_request: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'WorkspaceBudget' })

export const putBudgetBody = z
  .strictObject({
    limit_usd: dollarAmount.gt(0).meta({ description: 'A longer interval needs the larger limit.' }),
    include_byok_in_budgets: z
      .boolean()
      .optional()
      .meta({ description: "Whether spending with the workspace's own provider keys counts; it holds for all its budgets." }),
    allow_last_request: z
      .boolean()
      .optional()
      .meta({ description: 'Lets in a request whose worst-case cost is more than what is left, while no other runs.' }),
  })
  .meta({ id: 'PutBudgetBody', examples: [{ limit_usd: 100 }] })

export const credits = z
  .object({ total_credits: z.number(), total_usage: z.number() })
  .meta({ id: 'Credits', description: 'US dollars of a workspace: prepaid, and spent.' })

export const addCreditsBody = z
  .strictObject({
    amount_usd: dollarAmount
      .min(-1_000_000)
      .refine((amount) => amount !== 0, 'Use an amount that is not zero.')
      .meta({ description: 'What is added; negative takes back.' }),
    note: storedText.max(500).default(''),
    workspace_id: z.string().min(1).max(64).optional(),
  })
  .meta({ id: 'AddCreditsBody', examples: [{ amount_usd: 25, note: 'Invoice 2026-11' }] })
