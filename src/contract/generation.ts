/** A generation record on the wire (docs/contract/management.md#generations). Amounts are in US dollars, times in milliseconds. */
import { z } from 'zod'

import type { JsonObject, JsonValue } from '../lib/json/json.ts'
import { jsonValue } from './json-value.ts'

export const generationIdQuery = { id: z.string().min(1).max(128).meta({ description: 'The id of the answer, or its X-Generation-Id.' }) }

/** Responses and Messages give the same generation an id with their own prefix. */
export const generationId = (id: string): string => id.replace(/^(?:resp_|msg_)/, 'gen-')

const count = z.int().nullable()

const warning = z.object({ code: z.string(), field: z.string(), message: z.string(), error_type: z.string().optional() })

/** The record of a request that has ended. */
export const recordedGeneration = z.object({
  id: z.string(),
  request_id: z.string().nullable(),
  upstream_id: z.string().nullable(),
  api_type: z.enum(['completions', 'embeddings']).nullable(),
  interface: z.enum(['chat', 'responses', 'messages', 'embeddings']).nullable(),
  http_status: z.int().nullable().meta({ description: 'The status that the client got; null where it left before.' }),
  created_at: z.iso.datetime(),
  model: z.string(),
  provider_name: z.string().nullable(),
  preset_id: z.string().nullable(),
  preset_slug: z.string().nullable(),
  preset_version: z.int().nullable(),
  rollout_id: z.string().nullable().meta({ description: 'The rollout that chose the version; null where none did.' }),
  session_id: z.string().nullable(),
  workspace_id: z.string().nullable(),
  external_user: z.string().nullable(),
  app_id: z.int().nullable(),
  origin: z.string(),
  http_referer: z.string().nullable(),
  user_agent: z.string().nullable(),
  data_region: z.enum(['global', 'europe', 'us']),
  streamed: z.boolean(),
  cancelled: z.boolean(),
  finish_reason: z.string().nullable(),
  native_finish_reason: z.string().nullable(),
  error_type: z.string().nullable(),
  error: z
    .object({
      message: z.string(),
      provider_name: z.string().nullable(),
      limit_source: z.string().exactOptional().meta({ description: 'The limit that ended it on its way; absent for any other failure.' }),
    })
    .nullable()
    .meta({ description: 'Why it failed, in a sentence: that of the provider where it gave one.' }),
  tokens_prompt: count,
  tokens_completion: count,
  native_tokens_prompt: count,
  native_tokens_completion: count,
  native_tokens_completion_images: count,
  native_tokens_reasoning: count,
  native_tokens_cached: count,
  native_tokens_cache_write: count,
  num_media_prompt: count,
  num_media_completion: count,
  num_input_audio_prompt: count,
  num_search_results: count,
  num_fetches: count,
  total_cost: z.number(),
  usage: z.number(),
  upstream_inference_cost: z.number().nullable(),
  cache_discount: z.number().nullable().meta({
    description:
      'US dollars that the caches of providers saved; negative if writing cost more than reading saved. Null if nothing was read or written, or no price is known.',
  }),
  usage_estimated: z.boolean(),
  cost_known: z.boolean(),
  is_byok: z.boolean(),
  latency: z.number().nullable(),
  generation_time: z.number().nullable(),
  moderation_latency: z.number().nullable(),
  provider_responses: z
    .array(
      z.object({
        id: z.string().exactOptional().meta({ description: 'The id that the provider gave its answer; absent where it gave none.' }),
        provider_name: z.string(),
        endpoint_id: z.string().meta({ description: 'The model and the tag of the endpoint.' }),
        model_permaslug: z.string(),
        routed_service_tier: z
          .string()
          .exactOptional()
          .meta({ description: 'The service tier of the endpoint; absent for an ordinary one.' }),
        status: z.int().nullable(),
        latency: z.number(),
        started_ms: z.int().nullable().meta({ description: 'When it began, after the request was planned.' }),
        first_token_ms: z.int().nullable().meta({ description: 'When its first content came, by the same clock; null where none did.' }),
        message: z.string().nullable().meta({ description: 'What went wrong, in the words of the provider where it has any.' }),
        is_byok: z.boolean(),
        error_type: z.string().nullable(),
        provider_code: z.string().nullable(),
      }),
    )
    .nullable(),
  removed: z
    .array(z.object({ provider: z.string(), model: z.string(), reason: z.string() }))
    .meta({ description: 'Who could have been asked and was not, and why.' }),
  warnings: z.array(warning),
  pipeline: z.array(z.looseObject({ type: z.string(), name: z.string(), summary: z.string() })).meta({
    description: 'What guardrails, plugins and tools did; without the words that they found.',
  }),
  settings: z
    .record(z.string(), jsonValue)
    .nullable()
    .meta({ description: 'What a preset would keep of the request, without its texts, at most 2 KB.' }),
  settings_carried: z
    .record(z.string(), jsonValue)
    .nullable()
    .meta({ description: 'Settings of the preset for which the interface has no field, by their paths in the preset.' }),
  settings_left_out: z.array(z.string()).meta({ description: 'Fields that a preset would keep and that are in neither.' }),
  trace: z.record(z.string(), jsonValue).nullable(),
  router: z.string().nullable(),
  service_tier: z.string().nullable(),
  web_search_engine: z.string().nullable(),
  server_tool_calls: z
    .array(
      z.object({
        tool: z.string(),
        status: z.enum(['completed', 'failed']),
        duration_ms: z.int(),
        cost: z.number(),
        engine: z.string().nullable(),
        step: z.int(),
      }),
    )
    .nullable(),
  steps: count,
  stopped_by: z.string().nullable(),
  response_cache_source_id: z.string().nullable(),
})

type Free = 'settings' | 'settings_carried' | 'trace' | 'warnings' | 'pipeline'

/** Free-form JSON in the record is passed on as it was read. */
export type RecordedGeneration = Omit<z.output<typeof recordedGeneration>, Free> & {
  readonly settings: JsonObject | null
  readonly settings_carried: JsonObject | null
  readonly trace: JsonObject | null
  readonly warnings: readonly JsonObject[]
  readonly pipeline: readonly JsonObject[]
}

/** Every member, in order, with the value that is shown if the stored record lacks it: null, or an empty list. */
export const ABSENT_MEMBERS: JsonObject = Object.fromEntries(
  Object.entries(recordedGeneration.shape).map(([name, schema]) => [name, schema instanceof z.ZodArray ? [] : null]),
)

/** Returns a record without its nulls and empty lists, which are a third of its members; `ABSENT_MEMBERS` restores them. */
export const withoutAbsent = (record: JsonObject): JsonObject => {
  const present: Record<string, JsonValue> = {}
  for (const name in record) {
    const value = record[name]
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0 && ABSENT_MEMBERS[name] !== null)) continue
    present[name] = value
  }
  return present
}

export const generation = recordedGeneration
  .extend({
    api_key_hash: z.string(),
    api_key_name: z.string().nullable().meta({ description: 'As the key is called now.' }),
    user_id: z.string().nullable().meta({ description: 'Who made the key.' }),
  })
  .meta({ id: 'Generation', description: 'What one inference request did and cost.' })
