/** The `plugins` part of the operator's file. */
import { z } from 'zod'

export const pluginSettings = z.strictObject({
  file_parser: z
    .strictObject({
      mistral_key: z.string().min(1).optional().meta({
        description:
          'A key of Mistral, for the engine `mistral-ocr`: PDFs whose client names it are sent there. Absent: that engine is refused.',
      }),
      mistral_url: z
        .url({ protocol: /^https?$/ })
        .default('https://api.mistral.ai/v1/ocr')
        .meta({
          description: "Where the engine is asked: Mistral's own address, or one of yours that speaks its API.",
        }),
    })
    .prefault({}),
  alignment: z
    .strictObject({ model: z.string().min(1).meta({ description: 'The model that judges answers for the plugin `alignment`.' }) })
    .optional(),
  switchyard: z
    .strictObject({
      judge_model: z.string().min(1).optional().meta({
        deprecated: true,
        description: 'Nothing reads it, since `switchyard-router` asks no model: remove it.',
      }),
    })
    .optional(),
  pareto: z
    .strictObject({
      scores: z
        .record(z.string().min(1), z.number().min(0).max(1))
        .meta({ description: 'How well each model writes code, by its id, from 0 to 1: the models that `pareto-router` chooses from.' }),
    })
    .optional(),
})

export type PluginSettings = z.output<typeof pluginSettings>
