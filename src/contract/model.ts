/** Models on the wire (docs/contract/models.md#list). Prices are strings: US dollars per token. */
import { z } from 'zod'

const architecture = z
  .object({
    modality: z.string().nullable(),
    input_modalities: z.array(z.string()),
    output_modalities: z.array(z.string()),
    tokenizer: z.string(),
    instruct_type: z.string().nullable(),
  })
  .meta({ id: 'ModelArchitecture' })

const pricingSource = z
  .object({
    from: z
      .enum(['catalogue', 'operator', 'litellm', 'models.dev', 'hosted'])
      .meta({ description: "The shipped catalogue, the operator's file, or an imported list." }),
    as_of: z.iso.date().nullable().meta({ description: "The day that the price is from; null for the operator's file." }),
    age_days: z.int().nullable(),
  })
  .meta({ id: 'PricingSource' })
  .nullable()
  .meta({
    description:
      'Where the price of the first endpoint, or of this one, comes from, and how old it is; null where no price is known. Lists leave it out.',
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
    pricing_source: pricingSource.optional(),
    top_provider: z.object({ is_moderated: z.boolean(), context_length: z.int().nullable(), max_completion_tokens: z.int().nullable() }),
    per_request_limits: z.null(),
    supported_parameters: z.array(z.string()),
    default_parameters: z.null(),
    supported_voices: z.null(),
    links: z.object({ details: z.string() }),
  })
  .meta({ id: 'Model', description: 'A model, or an active preset under the name @preset/slug.' })

export type PricingSource = z.output<typeof pricingSource>
export type ModelResource = z.output<typeof model>

const percentiles = z.object({ p50: z.number(), p75: z.number(), p90: z.number(), p99: z.number() }).meta({ id: 'Percentiles' }).nullable()

const uptime = z.number().min(0).max(100).nullable()

export const endpoint = z
  .object({
    name: z.string(),
    model_id: z.string(),
    model_name: z.string(),
    provider_name: z.string(),
    tag: z.string().meta({ description: 'By which `provider.only` and its like name it.', examples: ['openai', 'openai/priority'] }),
    context_length: z.int().meta({ description: '0 where it is not known.' }),
    max_completion_tokens: z.int().nullable(),
    max_prompt_tokens: z.int().nullable(),
    pricing: z.record(z.string(), z.string()),
    pricing_source: pricingSource,
    quantization: z.string().meta({ description: 'unknown where it is not known.' }),
    service_tier: z.string().nullable().meta({ description: 'Null for an ordinary endpoint.' }),
    data_policy: z
      .object({ training: z.boolean().nullable(), retains: z.boolean().nullable() })
      .meta({ description: 'What it does with prompts and answers; null where it is not known. retains: false is zero data retention.' }),
    supported_parameters: z.array(z.string()),
    supports_tool_choice: z.object({ auto: z.boolean(), function: z.boolean(), none: z.boolean(), required: z.boolean() }),
    supports_implicit_caching: z.boolean(),
    supports_voice_cloning: z.boolean(),
    supports_diarization: z.boolean(),
    native_tools: z
      .record(z.string(), z.object({ type: z.string() }))
      .meta({ description: "Server tools that the provider can run itself, and the provider's own names of them." }),
    status: z.int().meta({ description: '0: well. -1: in trouble lately. -2: not asked for now, its circuit breaker is open.' }),
    uptime_last_5m: uptime.meta({ description: 'Percentage of our own attempts that went well, rate limits aside; null without any.' }),
    uptime_last_30m: uptime,
    uptime_last_1d: uptime,
    latency_last_30m: percentiles.meta({ description: 'Milliseconds to the first token, as this process measured.' }),
    throughput_last_30m: percentiles.meta({ description: 'Output tokens per second, as this process measured.' }),
  })
  .meta({ id: 'Endpoint', description: 'One provider that serves a model, and how it fares.' })

export type EndpointResource = z.output<typeof endpoint>

export const modelEndpoints = z
  .object({
    id: z.string(),
    name: z.string(),
    created: z.int(),
    description: z.string(),
    architecture,
    endpoints: z.array(endpoint),
  })
  .meta({ id: 'ModelEndpoints', description: 'Who serves a model, the preferred one first.' })

export const provider = z
  .object({
    name: z.string(),
    slug: z.string(),
    privacy_policy_url: z.string().nullable(),
    terms_of_service_url: z.string().nullable(),
    status_page_url: z.string().nullable(),
    headquarters: z.string().nullable(),
    datacenters: z.array(z.string()).nullable(),
  })
  .meta({ id: 'Provider', description: 'An enabled provider. What the catalogue does not hold is null.' })

export type ModelEndpoints = z.output<typeof modelEndpoints>
