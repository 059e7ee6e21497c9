/** Models on the wire (contract 7.5). Prices are strings: US dollars per token. */
import { z } from 'zod'

export const model = z
  .object({
    id: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    created: z.int(),
    description: z.string().optional(),
    context_length: z.int().nullable(),
    architecture: z.object({
      modality: z.string().nullable(),
      input_modalities: z.array(z.string()),
      output_modalities: z.array(z.string()),
      tokenizer: z.string(),
      instruct_type: z.string().nullable(),
    }),
    pricing: z.record(z.string(), z.string()),
    top_provider: z.object({ is_moderated: z.boolean(), context_length: z.int().nullable(), max_completion_tokens: z.int().nullable() }),
    per_request_limits: z.null(),
    supported_parameters: z.array(z.string()),
    default_parameters: z.null(),
    supported_voices: z.null(),
    links: z.object({ details: z.string() }),
  })
  .meta({ id: 'Model', description: 'A model, or an active preset under the name @preset/slug.' })

export type ModelResource = z.output<typeof model>
