/** Searches the models that the caller may use, by words and properties. */
import { z } from 'zod'

import { argumentSchema } from '../canonical/argument-schema.ts'
import { validate } from '../contract/validate.ts'
import type { JsonObject } from '../lib/json/json.ts'
import { failed, type MakeTool } from './tool.ts'
import type { Model } from '../models/model.ts'

const RESULTS_DEFAULT = 5

const options = z.looseObject({ max_results: z.int().min(1).max(20).default(RESULTS_DEFAULT) })

const modalities = z.array(z.string().max(50)).max(10).nullish()

const asked = z.looseObject({
  query: z.string().max(400).nullish(),
  input_modalities: modalities,
  output_modalities: modalities,
  min_context_length: z.number().min(0).nullish(),
  series: z.string().max(100).nullish(),
})

export const searchModelsTool: MakeTool = ({ parameters, at }, { models }) => {
  const { max_results: most } = validate(options, parameters, [at, 'parameters'])
  return {
    description:
      'Searches the models that this service offers. Every argument narrows the search; without any, the first models are listed.',
    parameters: argumentSchema(
      {
        query: { type: 'string', description: 'Words to find in the id or the name of a model.' },
        input_modalities: {
          type: 'array',
          items: { type: 'string' },
          description: 'What the model must read: text, image, audio, file, video.',
        },
        output_modalities: { type: 'array', items: { type: 'string' }, description: 'What the model must produce: text, image.' },
        min_context_length: { type: 'integer', description: 'The fewest tokens that its context must hold.' },
        series: { type: 'string', description: 'The author of the model, as its id begins: anthropic, openai, google.' },
      },
      [],
    ),
    async run(input) {
      const wanted = asked.safeParse(input)
      if (!wanted.success) return failed('invalid_tool_input', z.prettifyError(wanted.error))
      const found = models().filter((model) => fits(model, wanted.data))
      const shown = found.slice(0, most)
      return {
        fault: null,
        value: { query: wanted.data.query ?? '', models: shown.map(describe), total_results: found.length, showing: shown.length },
        partlyShown: true,
      }
    },
  }
}

const fits = (model: Model, { query, series, ...wanted }: z.output<typeof asked>): boolean => {
  const text = `${model.id} ${model.name}`.toLowerCase()
  return (
    (query ?? '')
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word)) &&
    ((series ?? null) === null || seriesOf(model) === series?.toLowerCase()) &&
    (wanted.input_modalities ?? []).every((one) => model.inputModalities?.includes(one) === true) &&
    (wanted.output_modalities ?? []).every((one) => model.outputModalities.includes(one)) &&
    (model.contextLength ?? 0) >= (wanted.min_context_length ?? 0)
  )
}

const seriesOf = ({ id }: Model): string => id.slice(0, id.indexOf('/'))

const describe = (model: Model): JsonObject => ({
  id: model.id,
  name: model.name,
  context_length: model.contextLength,
  input_modalities: model.inputModalities ?? [],
  output_modalities: model.outputModalities,
  series: seriesOf(model),
})
