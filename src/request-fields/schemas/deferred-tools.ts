/** Tools that the model finds by searching instead of reading all definitions (docs/contract/tools.md#deferred-tools). */
import { z } from 'zod'

/** The maximum number of tools that a search returns. */
export const foundTools = z.int().min(1).max(50).nullish()

export const deferredTools = z
  .looseObject({
    profile: z.enum(['portable', 'universal']),
    protocol: z.literal('v1'),
    validation: z.literal('runtime'),
    search: z.discriminatedUnion('type', [
      z.looseObject({ type: z.enum(['bm25', 'regex']), max_results: foundTools }),
      z.looseObject({ type: z.literal('custom'), tool_id: z.string(), result_key: z.string(), max_results: foundTools }),
    ]),
    min_deferred_tools: z.int().min(0).nullish().meta({ description: 'Profile universal only.' }),
    interface: z.enum(['wrappers', 'code_mode']).nullish().meta({ description: 'Profile universal only.' }),
  })
  .meta({
    id: 'DeferredTools',
    description: 'Withholds tools marked defer_loading. Replay assistant reasoning unchanged and keep the catalogue unchanged.',
  })
