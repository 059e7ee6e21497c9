/** The query parameters of the list of models (docs/contract/models.md#list). An empty parameter counts as absent. */
import { z } from 'zod'

import { invalidRequest, validate } from './validate.ts'

const words = (description: string) =>
  z
    .string()
    .transform((text) => text.split(',').flatMap((word) => word.trim().toLowerCase() || []))
    .optional()
    .meta({ description: `${description}, comma-separated.` })

const amount = (description: string) =>
  z
    .string()
    .regex(/^\d{1,12}(?:\.\d{1,9})?$/, 'Use a number that is not negative.')
    .transform(Number)
    .optional()
    .meta({ description })

const flag = (description: string) => z.enum(['true', 'false']).optional().meta({ description })

const MODEL_SORTS = ['newest', 'pricing-low-to-high', 'pricing-high-to-low', 'context-high-to-low'] as const

export const modelQuery = {
  q: z
    .string()
    .max(256)
    .transform((text) => text.toLowerCase())
    .optional()
    .meta({ description: 'A part of the id or the name.' }),
  model_authors: words('Who made the model: the part of its id before the slash'),
  providers: words('Who serves it, by slug or name'),
  supported_parameters: words('Request parameters, all of which the model must support'),
  input_modalities: words('What it reads, all of them'),
  output_modalities: words('What it writes, any of them; all for every model'),
  context: amount('The least context, in tokens.'),
  min_price: amount('US dollars per million input tokens, at least.'),
  max_price: amount('US dollars per million input tokens, at most.'),
  min_output_price: amount('US dollars per million output tokens, at least.'),
  max_output_price: amount('US dollars per million output tokens, at most.'),
  min_age_days: amount('Days since it came out, at least.'),
  max_age_days: amount('Days since it came out, at most.'),
  distillable: flag('Whether its author allows its text to train other models; what is not known is not.'),
  zdr: flag('true: some endpoint keeps nothing of what it is sent.'),
  sort: z.enum(MODEL_SORTS).optional().meta({ description: 'Presets first and then the newest when absent.' }),
  sandbox_errors: flag('true: the sandbox models that fail on purpose are in the list too.'),
} as const

const schema = z.object(modelQuery)

export type ModelQuery = z.output<typeof schema>

/**
 * Parameters of the public API for which this service has no data. They are refused, because ignoring them would return a list
 * that looks filtered but is not.
 */
const WITHOUT_DATA = [
  'arch',
  'category',
  'region',
  'min_intelligence_index',
  'max_intelligence_index',
  'min_coding_index',
  'max_coding_index',
  'min_agentic_index',
  'max_agentic_index',
  'min_tool_success_rate',
  'max_tool_success_rate',
] as const

/** Throws `invalid_request` naming the parameter. */
export const readModelQuery = (query: URLSearchParams): ModelQuery => {
  const unheeded = WITHOUT_DATA.filter((name) => query.get(name))
  if (unheeded.length > 0)
    throw invalidRequest(unheeded.map((path) => ({ path, message: 'This service has no data to filter by. Leave it out.' })))
  return validate(schema, Object.fromEntries(Object.keys(modelQuery).map((name) => [name, query.get(name) || undefined])))
}
