import { z } from 'zod'

const count = z.int().min(0)

/** Amounts are in US dollars (docs/contract/management.md#activity). */
export const activityItem = z
  .object({
    date: z.iso.date(),
    model: z.string(),
    model_permaslug: z.string(),
    endpoint_id: z.string().meta({ description: 'The model and the slug of the provider.' }),
    provider_name: z.string(),
    requests: count,
    prompt_tokens: count,
    completion_tokens: count,
    reasoning_tokens: count,
    cached_tokens: count.meta({ description: 'Part of prompt_tokens: read from the cache of the provider.' }),
    usage: z.number(),
    byok_usage_inference: z.number().meta({ description: "What was spent with the customers' own provider keys; not part of usage." }),
    workspace_id: z.string().optional(),
  })
  .meta({ id: 'ActivityItem', description: 'One model at one provider on one day.' })
