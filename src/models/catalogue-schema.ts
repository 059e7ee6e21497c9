/**
 * The shape of the shipped catalogue (catalogue-data.json) and of the same two maps in the operator's file, which overrides it. The
 * published JSON Schema is generated from these schemas, so every field has a description. See
 * docs/contract/operating.md#configuration-file.
 */
import { z } from 'zod'

import { ENDPOINT_TIERS, QUANTIZATIONS } from '../canonical/endpoint-facts.ts'
import { PROVIDER_DIALECTS } from '../canonical/provider-dialects.ts'

export const modelId = z
  .string()
  .max(256)
  .regex(/^[a-z0-9][a-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._:@/-]*$/, 'Write it as vendor/model.')
  .meta({ description: 'The name that clients use: vendor/model.', examples: ['openai/gpt-5.4'] })

export const providerSlug = z
  .string()
  .max(64)
  .regex(/^[a-z0-9][a-z0-9._-]*$/, 'Use lower-case letters, digits, . _ -')
  .meta({ description: 'The short name of a provider.', examples: ['openai', 'local-vllm'] })

const variableName = z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'Name an environment variable, such as OPENAI_API_KEY.')

const dialects = z.array(z.enum(PROVIDER_DIALECTS)).min(1).meta({ description: 'What the provider speaks, the preferred dialect first.' })

/** An absent fact is unknown, and no filter treats it as a promise. */
const dataPolicy = z
  .strictObject({
    training: z.boolean().optional().meta({ description: 'Whether it trains on what it is sent.' }),
    retains: z.boolean().optional().meta({ description: 'Whether it keeps what it is sent; false is zero data retention.' }),
  })
  .meta({ id: 'DataPolicy', description: 'What a provider does with prompts and answers, under your contract with it.' })

/** One entry of `providers` in the operator's file. Omitted fields come from the catalogue, if it knows the slug. */
export const providerEntry = z
  .strictObject({
    name: z.string().min(1).optional().meta({ description: 'The display name; the slug when absent.' }),
    dialects: dialects.optional(),
    base_url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({ description: 'The address of the API. The operator sets it, so it may be private.' }),
    api_key: z
      .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
      .optional()
      .meta({ description: 'The key, or several for rotation. Absent for a server that wants none.' }),
    api_key_env: variableName.optional().meta({ description: 'The environment variable that holds the key and enables the provider.' }),
    base_url_env: variableName.optional().meta({
      description: 'The environment variable that overrides the address; it also enables a provider that has no api_key_env.',
    }),
    data_policy: dataPolicy.optional().meta({ description: 'What it does with prompts and answers, under your contract with it.' }),
    any_model: z
      .boolean()
      .optional()
      .meta({ description: 'True: every slug/name is a model of this provider, listed or not, as on a local server.' }),
    stored_objects: z.boolean().optional().meta({
      description:
        'True: requests may name files, vector stores, containers, skills, tunnels and connections of your account there by their ids, and data that your account may read. Every key that may ask the provider then reaches all of them.',
    }),
    on_cancel: z.enum(['abort', 'drain']).optional().meta({
      description:
        'When the client leaves. abort (default): the call is ended at once. drain: it is read to its end, up to 30 s, since the provider bills it all the same.',
    }),
  })
  .meta({ id: 'ProviderEntry', description: 'A provider of models.' })

const dollarsPerMillion = (of: string) =>
  z
    .number()
    .min(0)
    .meta({ description: `US dollars per million ${of}.` })

const tokenPrices = {
  prompt: dollarsPerMillion('input tokens that no cache read or wrote'),
  completion: dollarsPerMillion('output tokens'),
  cache_read: dollarsPerMillion('input tokens read from the prompt cache; the price of prompt when absent').optional(),
  cache_write: dollarsPerMillion('input tokens written to the prompt cache; the price of prompt when absent').optional(),
  cache_write_1h: dollarsPerMillion('input tokens written to the cache for an hour or longer; cache_write when absent').optional(),
  reasoning: dollarsPerMillion('reasoning tokens; the price of completion when absent').optional(),
}

const tokenCount = z.int().min(1)

const priceTier = z
  .strictObject({
    above_prompt_tokens: tokenCount.meta({
      description: 'The tier holds when a request has more input tokens than this, cached ones included.',
    }),
    ...tokenPrices,
  })
  .meta({ id: 'PriceTier', description: 'What the whole request costs, not only the tokens above the line, when its input is long.' })

const priceEntry = z
  .strictObject({
    ...tokenPrices,
    request: z.number().min(0).optional().meta({ description: 'US dollars per request; 0 when absent.' }),
    image: z.number().min(0).optional().meta({ description: 'US dollars per input image; absent where images are input tokens.' }),
    audio: dollarsPerMillion('input audio tokens; the price of prompt when absent').optional(),
    completion_audio: dollarsPerMillion('output audio tokens; the price of completion when absent').optional(),
    completion_image: dollarsPerMillion('output image tokens; the price of completion when absent').optional(),
    drawing: dollarsPerMillion('tokens, in and out, of pictures that a tool of the provider draws; 40 when absent').optional(),
    web_search: z.number().min(0).optional().meta({ description: 'US dollars per web search that the provider runs; 0 when absent.' }),
    file_search: z
      .number()
      .min(0)
      .optional()
      .meta({ description: 'US dollars per search of stored files that the provider runs; 0.0025 when absent.' }),
    container: z
      .number()
      .min(0)
      .optional()
      .meta({ description: 'US dollars per container in which a tool of the provider runs code, per GB of its memory; 0.03 when absent.' }),
    inference_geo: z
      .record(z.string().regex(/^[a-z]{2,16}$/), z.number().min(0).max(10))
      .optional()
      .meta({
        description: 'Factors on the prices of tokens, by the geography in which the provider says that it answered; 1 for any other.',
        examples: [{ us: 1.1 }],
      }),
    tiers: z
      .array(priceTier)
      .min(1)
      .optional()
      .meta({ description: 'Prices of long prompts; the highest threshold that was passed holds.' }),
  })
  .meta({ id: 'PriceEntry', description: 'Prices in US dollars per million tokens.' })

const parameterNames = z.array(z.string().regex(/^[a-z][a-z0-9_]*$/, 'Use the snake_case name of a request parameter.'))

const endpointEntry = z
  .strictObject({
    provider: providerSlug,
    model: z.string().min(1).meta({ description: "The provider's own name for the model." }),
    prices: priceEntry.optional().meta({ description: 'Absent: not known, so the cost that the provider reports counts.' }),
    context_length: tokenCount.optional().meta({ description: "Where it differs from the model's: the tokens this provider takes." }),
    max_completion_tokens: tokenCount.optional().meta({ description: 'The most output tokens this provider gives.' }),
    variant: z
      .string()
      .max(64)
      .regex(/^[a-z0-9][a-z0-9._-]*$/, 'Use lower-case letters, digits, . _ -')
      .optional()
      .meta({
        description: "Distinguishes it from the provider's other endpoints of this model: a request names it provider/variant.",
        examples: ['us-east5'],
      }),
    service_tier: z
      .enum(ENDPOINT_TIERS)
      .optional()
      .meta({ description: 'Serves requests for this tier only, or those that name it; it is the variant too, when that is absent.' }),
    quantization: z.enum(QUANTIZATIONS).optional().meta({ description: 'How the weights are stored; unknown when absent.' }),
    data_policy: dataPolicy.optional().meta({ description: "Where it differs from the provider's." }),
    supported_parameters: parameterNames
      .optional()
      .meta({ description: "Where they differ from the model's: the request parameters that this endpoint supports." }),
  })
  .meta({ id: 'EndpointEntry', description: 'One provider that serves the model.' })

export const MODALITIES = ['text', 'image', 'audio', 'video', 'file'] as const
export const WRITTEN_MODALITIES = [...MODALITIES, 'embeddings'] as const

/** One entry of `models` in the operator's file. Omitted fields come from the catalogue, if it knows the id. */
export const modelEntry = z
  .strictObject({
    name: z.string().min(1).optional().meta({ description: 'The display name; the id when absent.' }),
    created: z.int().min(0).optional().meta({ description: 'When the model came out, in Unix seconds.' }),
    context_length: tokenCount.optional().meta({ description: 'Input and output tokens together.' }),
    input_modalities: z.array(z.enum(MODALITIES)).min(1).optional().meta({ description: 'What it reads; text when absent.' }),
    output_modalities: z.array(z.enum(WRITTEN_MODALITIES)).min(1).optional().meta({ description: 'What it writes; text when absent.' }),
    supported_parameters: parameterNames.optional().meta({
      description: 'The request parameters that the model supports.',
      examples: [['tools', 'tool_choice', 'temperature', 'max_tokens']],
    }),
    distillable: z.boolean().optional().meta({ description: 'Whether its author allows its text to train other models.' }),
    endpoints: z.array(endpointEntry).min(1).optional().meta({ description: 'Who serves it, the preferred one first.' }),
    first_token_timeout: z.number().min(0.001).max(86_400).optional().meta({
      description: 'Seconds until the first content of a stream, where timeouts.first_token does not fit: some models think for long.',
    }),
  })
  .meta({ id: 'ModelEntry', description: 'A model and who serves it.' })

const isoDate = z.iso.date()

/** The shipped file. It has the same entries as the operator's file, but without keys, and complete where a default would be a guess. */
export const catalogueSchema = z
  .strictObject({
    as_of: isoDate.meta({ description: 'The date of the newest source.' }),
    sources: z
      .array(
        z.strictObject({
          source: z.string().min(1),
          dated: isoDate.optional().meta({ description: 'Absent where the source shows no date.' }),
        }),
      )
      .min(1)
      .meta({ description: 'Public pages and repository files that the facts come from.' }),
    providers: z.record(
      providerSlug,
      providerEntry.omit({ api_key: true }).required({ name: true, dialects: true, base_url: true, base_url_env: true }),
    ),
    models: z.record(
      modelId,
      modelEntry.required({ name: true, input_modalities: true, output_modalities: true, supported_parameters: true, endpoints: true }),
    ),
  })
  .meta({ id: 'Catalogue', description: 'Known providers, models and prices.' })

export type ProviderEntry = z.infer<typeof providerEntry>
export type PriceEntry = z.infer<typeof priceEntry>
export type EndpointEntry = z.infer<typeof endpointEntry>
export type ModelEntry = z.infer<typeof modelEntry>
export type Catalogue = z.infer<typeof catalogueSchema>
