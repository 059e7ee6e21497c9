/** When a rollout halts by itself (docs/contract/presets.md#rollouts). */
import { z } from 'zod'

export const haltRule = z.strictObject({
  min_requests: z
    .int()
    .min(20)
    .max(1_000_000)
    .default(50)
    .meta({ description: 'Requests of a version and of the live one before they are compared.' }),
  confidence: z
    .number()
    .min(0.9)
    .max(0.999999)
    .default(0.99)
    .meta({ description: 'How sure it must be over the whole rollout, however often it looks.' }),
  errors: z.boolean().default(true).meta({ description: 'Halt where a version fails more often.' }),
  cost_increase: z
    .number()
    .min(0)
    .max(100)
    .nullable()
    .default(0.2)
    .meta({ description: 'Halt where a request costs more than that of the live version by this part; null: never.' }),
})

export type HaltRule = z.output<typeof haltRule>

export const DEFAULT_HALT: HaltRule = haltRule.parse({})
