/** A test of a provider with one request of one token, on the wire (docs/contract/management.md#provider-tests). */
import { z } from 'zod'

import { keyHash } from './key-hash.ts'

export const providerSlug = z.string().min(1).max(100).meta({ description: 'Slug of a provider, as GET /providers lists it.' })

export const providerTestBody = z
  .strictObject({
    model: z.string().min(1).max(256).optional().meta({ description: 'A model of this provider; its cheapest one when absent.' }),
    key: keyHash.optional().meta({ description: 'The key that pays; the one that asks when absent.' }),
  })
  .prefault({})
  .meta({ id: 'ProviderTestBody', examples: [{ model: 'openai/gpt-5.4' }] })

export const providerTest = z
  .object({
    ok: z.boolean(),
    model: z.string(),
    status: z.int().nullable().meta({ description: 'What the provider answered; null where it did not.' }),
    ttft_ms: z.number().nullable(),
    total_ms: z.number(),
    cost_usd: z.number(),
    generation_id: z.string().nullable().meta({ description: 'Its record, whose origin is `test`.' }),
    error: z
      .object({ type: z.string(), message: z.string() })
      .optional()
      .meta({ description: 'What failed, in the sentence of the provider where it has one; absent where it answered.' }),
  })
  .meta({ id: 'ProviderTest' })
