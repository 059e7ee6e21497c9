/** Fields that several interfaces share with one name and one meaning (docs/contract/requests.md#shared-fields). */
import { z } from 'zod'

import type { FieldTable } from './field.ts'
import { debug, endUser, metadata, safetyIdentifier, sessionId, trace } from './schemas/attribution.ts'
import { cacheControl, promptCacheKey, promptCacheOptions, promptCacheRetention } from './schemas/cache.ts'
import { deferredTools } from './schemas/deferred-tools.ts'
import { imageConfig } from './schemas/output.ts'
import { PLUGINS, plugins } from './schemas/plugins.ts'
import { askedTier, geography, model, models, provider, route } from './schemas/routing.ts'
import { frequencyPenalty, presencePenalty, temperature, topK, topLogprobs, topP } from './schemas/sampling.ts'
import { maxToolCalls, stopServerToolsWhen } from './schemas/stop-conditions.ts'
import { taggedList } from './tagged-list.ts'
import { vendorModeration } from './schemas/vendor-moderation.ts'

export const REASONING_PARAMETERS = ['reasoning', 'reasoning_effort', 'include_reasoning'] as const
export const PARALLEL_PARAMETERS = ['parallel_tool_calls'] as const
export const LENGTH_PARAMETERS = ['max_tokens', 'max_completion_tokens'] as const

/** Fields of a request that the service itself reads. */
const FOR_THE_SERVICE = {
  // A lock on the model would be useless if a request could still add other models.
  models: { schema: models, means: 'fallbackModels', presets: 'keep', changes: ['model'] },
  provider: { schema: provider, means: 'service', presets: 'keep' },
  route: { schema: route, means: 'service', presets: 'keep', changes: ['provider'] },
  plugins: { schema: plugins, items: taggedList('id', PLUGINS, { unknown: 'unknown_plugin' }), means: 'service', presets: 'keep' },
  preset: {
    schema: z.string().min(1).meta({ description: 'A preset to use, as slug, slug@version or slug@label.' }),
    means: 'service',
  },
  session_id: { schema: sessionId, means: 'service' },
  trace: { schema: trace, means: 'service' },
  stop_server_tools_when: { schema: stopServerToolsWhen, means: 'service', presets: 'keep', changes: ['max_tool_calls'] },
  deferred_tools: { schema: deferredTools, means: 'service', presets: 'keep' },
  strict: {
    schema: z.boolean().meta({ description: 'What cannot be honoured is refused with 400 instead of left out with a warning.' }),
    means: 'service',
    presets: 'control',
  },
  // Checked by the sandbox, which alone reads it.
  sandbox: { means: 'service' },
} as const satisfies FieldTable

/**
 * Other routers' fields for an address, a credential or another model, which must not steer an upstream that is itself a router. LiteLLM
 * writes the members of `extra_body` over those of the request that it sends on, its `model` too.
 */
const NEVER_SENT = {
  api_base: { means: 'service' },
  base_url: { means: 'service' },
  api_key: { means: 'service' },
  user_config: { means: 'service' },
  extra_headers: { means: 'service' },
  extra_body: {
    means: 'service',
    warning:
      'It is not sent on, since a router behind this service would take another model from it. Send its members at the top level of the body.',
  },
  context_window_fallbacks: { means: 'service' },
  content_policy_fallbacks: { means: 'service' },
  router_settings_override: { means: 'service' },
  custom_llm_provider: { means: 'service' },
  litellm_credential_name: { means: 'service' },
} as const satisfies FieldTable

export const EVERYWHERE = {
  model: { schema: model, means: 'written', presets: 'keep' },
  ...FOR_THE_SERVICE,
  stream: { schema: z.boolean(), means: 'written' },
  service_tier: { schema: askedTier, means: 'serviceTier', presets: 'keep' },
  temperature: { schema: temperature, means: 'temperature', presets: 'keep', parameters: ['temperature'] },
  top_p: { schema: topP, means: 'topP', presets: 'keep', parameters: ['top_p'] },
  top_k: { schema: topK, means: 'topK', presets: 'keep', parameters: ['top_k'] },
  cache_control: { schema: cacheControl, means: 'cacheControl', presets: 'keep' },
  user: { schema: endUser, means: 'user' },
  inference_geo: { schema: geography, means: 'inferenceGeo', presets: 'keep' },
  ...NEVER_SENT,
} as const satisfies FieldTable

/** The rows that Chat Completions and Responses share. */
export const OPENAI = {
  frequency_penalty: { schema: frequencyPenalty, means: 'frequencyPenalty', presets: 'keep', parameters: ['frequency_penalty'] },
  presence_penalty: { schema: presencePenalty, means: 'presencePenalty', presets: 'keep', parameters: ['presence_penalty'] },
  top_logprobs: { schema: topLogprobs, means: 'topLogprobs', presets: 'keep', parameters: ['top_logprobs'] },
  parallel_tool_calls: { schema: z.boolean(), means: 'parallelToolCalls', presets: 'keep', parameters: PARALLEL_PARAMETERS },
  max_tool_calls: { schema: maxToolCalls, means: 'none', presets: 'keep' },
  image_config: { schema: imageConfig, means: 'imageConfig', presets: 'keep' },
  prompt_cache_key: { schema: promptCacheKey, means: 'promptCacheKey' },
  prompt_cache_options: { schema: promptCacheOptions, means: 'promptCacheOptions', presets: 'keep' },
  prompt_cache_retention: { schema: promptCacheRetention, means: 'promptCacheRetention', presets: 'keep' },
  moderation: { schema: vendorModeration, means: 'moderation', presets: 'keep' },
  metadata: { schema: metadata, means: 'metadata' },
  safety_identifier: { schema: safetyIdentifier, means: 'safetyIdentifier' },
  debug: { schema: debug, means: 'service' },
} as const satisfies FieldTable
