import { z } from 'zod'

/** A moderation by OpenAI beside the answer; the plugin and the guardrail of this service are another matter. */
export const vendorModeration = z
  .looseObject({
    model: z.string().min(1),
    policy: z.looseObject({}).nullish(),
  })
  .meta({ id: 'VendorModeration', description: 'OpenAI moderates the request and its answer.' })
