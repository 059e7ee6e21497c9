/** A generation record on the wire (docs/contract/management.md#generations). Amounts are US dollars, times are milliseconds. */
import { z } from 'zod'

const count = z.int().nullable()

export const generation = z
  .object({
    id: z.string(),
    request_id: z.string().nullable(),
    upstream_id: z.string().nullable(),
    api_type: z.enum(['completions', 'embeddings']).nullable(),
    created_at: z.iso.datetime(),
    model: z.string(),
    provider_name: z.string().nullable(),
    preset_id: z.string().nullable(),
    preset_slug: z.string().nullable(),
    preset_version: z.int().nullable(),
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
    tokens_prompt: count,
    tokens_completion: count,
    native_tokens_prompt: count,
    native_tokens_completion: count,
    native_tokens_completion_images: count,
    native_tokens_reasoning: count,
    native_tokens_cached: count,
    num_media_prompt: count,
    num_media_completion: count,
    num_input_audio_prompt: count,
    num_search_results: count,
    num_fetches: count,
    total_cost: z.number(),
    usage: z.number(),
    upstream_inference_cost: z.number().nullable(),
    cache_discount: z.number().nullable(),
    usage_estimated: z.boolean(),
    cost_known: z.boolean(),
    is_byok: z.boolean(),
    latency: z.number().nullable(),
    generation_time: z.number().nullable(),
    moderation_latency: z.number().nullable(),
    provider_responses: z
      .array(
        z.object({
          provider_name: z.string(),
          model_permaslug: z.string(),
          status: z.int().nullable(),
          latency: z.number(),
          is_byok: z.boolean(),
          error_type: z.string().nullable(),
          provider_code: z.string().nullable(),
          upstream_id: z.string().nullable(),
        }),
      )
      .nullable(),
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
  .meta({ id: 'Generation', description: 'What one inference request did and cost.' })

export type GenerationResource = z.output<typeof generation>
