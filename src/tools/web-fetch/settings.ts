/** `tools.web_fetch` of the operator's file. No setting opens a private host. */
import { z } from 'zod'

import { enabled } from '../enabled.ts'

export const webFetchSettings = z.strictObject({
  enabled: enabled('Whether pages are fetched for models.'),
  urls: z.enum(['any', 'seen']).default('any').meta({
    description: 'any: whatever a model asks for. seen: only addresses that the client gave, or that a search or a fetch has found.',
  }),
  respect_robots: z
    .literal(false, 'Must be false: robots.txt is not asked.')
    .default(false)
    .meta({ description: 'Always false: a page is fetched for a person, once, and robots.txt is not asked.' }),
})

export type WebFetchSettings = z.output<typeof webFetchSettings>
