/** The models and providers that may answer, and the service tier (docs/contract/routing.md#preferences). */
import { z } from 'zod'

import { QUANTIZATIONS } from '../../canonical/endpoint-facts.ts'
import { optionalFlag, optionalTexts, textUpTo } from './scalars.ts'

/** Longer than the longest ARN or model path of any vendor followed by a preset. */
export const MODEL_NAME_MAX = 1024

export const model = z
  .string()
  .min(1)
  .max(MODEL_NAME_MAX)
  .meta({ description: 'vendor/model, a preset (@preset/slug), or both.', examples: ['openai/gpt-5.4'] })

export const geography = z
  .string()
  .min(1)
  .max(64)
  .meta({
    description: 'The geography in which the model may run; global allows any. Only Anthropic can promise another.',
    examples: ['us'],
  })

/**
 * Ten models are more than any fallback chain needs; the limit bounds the attempts of one request
 * (docs/contract/routing.md#fallback-models).
 */
const MODELS_MAX = 10

/**
 * A fallback model cannot be a preset: a preset is a whole configuration, of which a request has only one
 * (docs/contract/presets.md#use).
 */
const fallbackModel = z
  .string()
  .min(1)
  .max(MODEL_NAME_MAX)
  .refine(
    (name) => !name.includes('@preset/'),
    'A preset cannot be a fallback: name it in `model`, and give it fallback models of its own.',
  )
  .meta({ description: 'vendor/model.', examples: ['openai/gpt-5.4'] })

export const models = z.array(fallbackModel).max(MODELS_MAX).meta({ description: 'Models to try in this order when the one before fails.' })

const sortBy = z.enum(['price', 'throughput', 'latency', 'exacto'])

const percentileCutoffs = z.strictObject({
  p50: z.number().min(0).nullish(),
  p75: z.number().min(0).nullish(),
  p90: z.number().min(0).nullish(),
  p99: z.number().min(0).nullish(),
})
const cutoff = z.union([z.number().min(0), percentileCutoffs]).nullish()

/**
 * A price in USD. The public schema says strings and its guide says numbers, so both are accepted
 * (docs/contract/routing.md#preferences).
 */
const price = z.union([z.number().min(0), z.string().regex(/^\d+(\.\d+)?$/, 'Expected a decimal number of US dollars.')]).nullish()

/**
 * Unknown members are refused at every level: a misspelt preference would otherwise be silently ignored
 * (docs/contract/routing.md#preferences).
 */
export const provider = z
  .strictObject({
    order: optionalTexts,
    allow_fallbacks: optionalFlag,
    only: optionalTexts,
    ignore: optionalTexts,
    require_parameters: optionalFlag,
    data_collection: z.enum(['allow', 'deny']).nullish(),
    zdr: optionalFlag,
    enforce_distillable_text: optionalFlag,
    quantizations: z.array(z.enum(QUANTIZATIONS)).nullish(),
    sort: z.union([sortBy, z.strictObject({ by: sortBy.nullish(), partition: z.enum(['model', 'none']).nullish() })]).nullish(),
    preferred_min_throughput: cutoff,
    preferred_max_latency: cutoff,
    max_price: z.strictObject({ prompt: price, completion: price, request: price, image: price, audio: price }).nullish(),
  })
  .meta({ id: 'ProviderPreferences', description: 'Which providers may serve the request, and in what order. Unknown keys are refused.' })

/** Deprecated: `fallback` is sort partition `model`, `sort` is partition `none` (docs/contract/routing.md#preferences). */
export const route = z.enum(['fallback', 'sort']).meta({ deprecated: true, description: 'Use provider.sort.partition.' })

/** The names of tiers in answers. */
export const serviceTier = z.enum(['auto', 'default', 'fast', 'flex', 'priority', 'scale', 'ultrafast'])

/** The names of tiers in requests, Groq's for the ordinary one among them. */
export const askedTier = z.enum([...serviceTier.options, 'on_demand']).meta({
  id: 'ServiceTier',
  description: 'on_demand is another name of default, fast of priority; ultrafast falls back to priority, then to default.',
})

/** The Messages interface accepts any tier name and leaves it to the provider (docs/contract/requests.md#shared-fields). */
export const serviceTierName = textUpTo(64)

/** Anthropic's word for the models that it would choose itself; the service chooses none (decisions/0282). */
export const DEFAULT_FALLBACKS = 'default'

/** At most three fallbacks, each with a model and nothing else (docs/contract/routing.md#fallback-models). */
export const fallbacks = z
  .union([z.array(z.strictObject({ model: fallbackModel })).max(3), z.literal(DEFAULT_FALLBACKS)])
  .meta({ description: 'Models to try in this order when the first one fails. Not together with models. "default" names none.' })

export const speed = z.enum(['fast', 'standard'])
