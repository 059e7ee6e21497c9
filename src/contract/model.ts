/** Models on the wire (contract 7.5). Prices are strings: US dollars per token. */
import { z } from 'zod'

const architecture = z.object({
  modality: z.string().nullable(),
  input_modalities: z.array(z.string()),
  output_modalities: z.array(z.string()),
  tokenizer: z.string(),
  instruct_type: z.string().nullable(),
})

export const model = z
  .object({
    id: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    created: z.int(),
    description: z.string().optional(),
    context_length: z.int().nullable(),
    architecture,
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

export const modelEndpoints = z
  .object({
    id: z.string(),
    name: z.string(),
    created: z.int(),
    architecture,
    endpoints: z.array(
      z.object({
        name: z.string(),
        provider_name: z.string(),
        tag: z.string().meta({ description: 'The slug by which `provider.only` and its like name it.' }),
        context_length: z.int().nullable(),
        max_completion_tokens: z.int().nullable(),
        pricing: z.record(z.string(), z.string()),
        supported_parameters: z.array(z.string()),
        quantization: z.string().nullable(),
        status: z.int(),
      }),
    ),
  })
  .meta({ id: 'ModelEndpoints', description: 'Who serves a model, the preferred one first.' })

export type ModelEndpoints = z.output<typeof modelEndpoints>
