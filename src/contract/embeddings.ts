/** Embeddings on the wire (docs/contract/models.md#embeddings). */
import { z } from 'zod'

export const embeddingsAnswer = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(
      z.looseObject({
        object: z.literal('embedding'),
        embedding: z.union([z.array(z.number()), z.string()]).meta({ description: 'Numbers, or 32-bit floats in base64.' }),
        index: z.int(),
      }),
    ),
    model: z.string(),
    usage: z.looseObject({
      prompt_tokens: z.int(),
      total_tokens: z.int(),
      cost: z.number().nullish().meta({ description: 'US dollars.' }),
    }),
  })
  .meta({ id: 'EmbeddingsAnswer' })
