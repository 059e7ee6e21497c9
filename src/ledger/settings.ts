/** The `budgets` part of the operator's file. */
import { z } from 'zod'

import { dollarAmount } from '../contract/dollar-amount.ts'

const price = z.number().min(0).max(1_000_000)

export const budgetSettings = z
  .strictObject({
    unknown_price: z.enum(['refuse', 'default']).default('refuse').meta({
      description:
        'How a request of a caller with a limit is treated where the price of the model is not known. refuse: it gets 403. default: it is charged at default_price.',
    }),
    default_price: z
      .strictObject({
        prompt: price.default(10).meta({ description: 'US dollars per million input tokens.' }),
        completion: price.default(50).meta({ description: 'US dollars per million output tokens.' }),
      })
      .prefault({}),
    max_output_tokens: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(16_384)
      .meta({ description: 'Output tokens held for a request that sets no maximum, if its model can give as many.' }),
    empty_answers: z.enum(['told', 'free']).default('told').meta({
      description:
        'How an answer is charged that has no output tokens, and that failed or ended without a finish reason. told: by the tokens that the provider reported. free: not at all.',
    }),
    credits: z.boolean().default(false).meta({ description: 'Whether workspaces may spend only the credit that was added for them.' }),
    in_flight: z
      .strictObject({
        fraction: z
          .number()
          .min(0.01)
          .max(1)
          .default(0.5)
          .meta({ description: 'The share of the remaining credit that running requests of a workspace may hold.' }),
        ceiling_usd: dollarAmount
          .min(0)
          .nullable()
          .default(null)
          .meta({ description: 'The most that running requests of a workspace may hold, in US dollars; null: no ceiling.' }),
      })
      .prefault({})
      .meta({ description: 'Limits on the credit that running requests may hold. They apply only where budgets.credits is true.' }),
  })
  .prefault({})

export type BudgetsFile = z.output<typeof budgetSettings>
