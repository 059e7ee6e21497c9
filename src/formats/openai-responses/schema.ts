/** The request body of the Responses interface. service.md "Purpose", contract 2.1, 2.3. */
import { z } from 'zod'

import { debug, endUser, metadata, safetyIdentifier, sessionId, trace } from '../fields/attribution.ts'
import { cacheControl, promptCacheOptions } from '../fields/cache.ts'
import { deferredTools } from '../fields/deferred-tools.ts'
import { imageConfig, responsesModalities, responsesText } from '../fields/output.ts'
import { PLUGINS, plugins } from '../fields/plugins.ts'
import { responsesReasoning } from '../fields/reasoning.ts'
import { model, models, provider, route, serviceTier } from '../fields/routing.ts'
import { frequencyPenalty, presencePenalty, temperature, tokenLimit, topK, topLogprobs, topP } from '../fields/sampling.ts'
import { maxToolCalls, stopServerToolsWhen } from '../fields/stop-conditions.ts'
import { leaveOut, requestRules } from '../request-rules.ts'
import { taggedList } from '../tagged-list.ts'
import { responsesInput, storedPrompt } from './input-schemas.ts'
import { responsesToolChoice } from './tool-choice-schema.ts'
import { RESPONSES_TOOLS, responsesTools, toolSearchAlias } from './tool-schemas.ts'

const NOTHING_STORED = 'Nothing is stored here: send the full history in input.'

/** What each field holds when it is there; absent and null mean the same for all of them. */
export const requestFields = {
  input: responsesInput,
  instructions: z.string(),
  model,
  models,
  provider,
  route,
  service_tier: serviceTier,
  plugins,
  preset: z.string().min(1).meta({ description: 'A preset to use, as slug, slug@version or slug@label.' }),
  stream: z.boolean(),
  temperature,
  top_p: topP,
  top_k: topK,
  frequency_penalty: frequencyPenalty,
  presence_penalty: presencePenalty,
  top_logprobs: topLogprobs,
  max_output_tokens: tokenLimit,
  text: responsesText,
  reasoning: responsesReasoning,
  include: z.array(
    z.enum([
      'file_search_call.results',
      'message.input_image.image_url',
      'computer_call_output.output.image_url',
      'reasoning.encrypted_content',
      'code_interpreter_call.outputs',
      'message.output_text.logprobs',
      'web_search_call.results',
      'web_search_call.action.sources',
    ]),
  ),
  truncation: z.enum(['auto', 'disabled']),
  modalities: responsesModalities,
  image_config: imageConfig,
  tools: responsesTools,
  tool_choice: responsesToolChoice,
  parallel_tool_calls: z.boolean(),
  max_tool_calls: maxToolCalls,
  stop_server_tools_when: stopServerToolsWhen,
  deferred_tools: deferredTools,
  cache_control: cacheControl,
  prompt_cache_key: z.string(),
  prompt_cache_options: promptCacheOptions,
  session_id: sessionId,
  user: endUser,
  safety_identifier: safetyIdentifier,
  metadata,
  trace,
  debug,
  store: z.literal(false, 'Must be false: responses are not stored.'),
  background: z.literal(false, 'Must be false: there is no background processing.'),
  previous_response_id: z.null(NOTHING_STORED),
  prompt: storedPrompt.meta({ description: 'Ignored when a preset is created; refused otherwise.' }),
}

export const requestSchema = z.looseObject(leaveOut(requestFields)).meta({ id: 'ResponsesRequest' })

export const rules = requestRules(
  'responses',
  requestFields,
  {
    tools: taggedList('type', [...RESPONSES_TOOLS, toolSearchAlias], { unknown: 'unknown_tool_type' }),
    plugins: taggedList('id', PLUGINS, { unknown: 'unknown_plugin' }),
  },
  { refusedAtInference: { prompt: `Must be null. ${NOTHING_STORED}` } },
)
