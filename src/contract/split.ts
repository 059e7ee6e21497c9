/** The share of one version in a rollout. */
import { z } from 'zod'

export const split = z.object({
  version: z.int().min(1),
  weight: z.number().min(0).max(1_000_000).meta({ description: 'Its share among the weights of all splits.' }),
})

export type Split = z.output<typeof split>
