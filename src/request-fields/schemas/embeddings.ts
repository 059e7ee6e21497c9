/** A request for embeddings (docs/contract/models.md#embeddings). */
import { z } from 'zod'

import { endUser, sessionId, trace } from './attribution.ts'
import { model, provider } from './routing.ts'
import { optionalFlag } from './scalars.ts'

const text = z.string().min(1)
const token = z.int().min(0)

const part = z.looseObject({ type: z.string() }).meta({ description: 'A part of content, as in a chat message.' })

const input = z
  .union([
    text,
    z.array(text).min(1),
    z.array(token).min(1),
    z.array(z.array(token).min(1)).min(1),
    z.array(z.looseObject({ content: z.array(part).min(1) })).min(1),
  ])
  .meta({ description: 'A text, several, one as tokens, several as tokens, or several of text and media.' })

export const embeddingsRequest = z
  .looseObject({
    model: model.meta({ description: 'The name of a model: vendor/model.', examples: ['openai/text-embedding-3-small'] }),
    input,
    dimensions: z.int().min(1).nullish().meta({ description: 'The length of the vectors, for models that can give several.' }),
    encoding_format: z.enum(['float', 'base64']).nullish().meta({ description: 'How the vectors are written; float when absent.' }),
    input_type: z
      .string()
      .max(64)
      .nullish()
      .meta({ description: 'What the input is for, as some models know it: search_query, search_document.' }),
    provider: provider.nullish(),
    strict: optionalFlag.meta({ description: 'A field that no provider takes is refused with 400 instead of left out with a warning.' }),
    user: endUser.nullish(),
    session_id: sessionId.nullish(),
    trace: trace.nullish(),
  })
  .meta({ id: 'EmbeddingsRequest' })
