/** `tools.web_fetch` of the operator's file. No setting opens a private host. */
import { z } from 'zod'

export const webFetchSettings = z.strictObject({
  enabled: z.boolean().default(true).meta({ description: 'Whether pages are fetched for models.' }),
  urls: z.enum(['any', 'seen']).default('any').meta({
    description: 'any: whatever a model asks for. seen: only addresses that the client gave, or that a search or a fetch has found.',
  }),
})

export type WebFetchSettings = z.output<typeof webFetchSettings>
