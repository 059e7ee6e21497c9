/** The request body of chat completions. Contract 2.1, 2.2. */
import { z } from 'zod'

import { isObject } from '../../lib/json.ts'
import { debug, endUser, metadata, sessionId, trace } from '../fields/attribution.ts'
import { cacheControl, promptCacheOptions } from '../fields/cache.ts'
import { deferredTools } from '../fields/deferred-tools.ts'
import { chatModalities, chatResponseFormat, imageConfig, verbosity } from '../fields/output.ts'
import { PLUGINS, plugins } from '../fields/plugins.ts'
import { chatReasoning, reasoningEffort } from '../fields/reasoning.ts'
import { model, models, provider, route, serviceTier } from '../fields/routing.ts'
import {
  frequencyPenalty,
  logitBias,
  minP,
  presencePenalty,
  repetitionPenalty,
  seed,
  stop,
  temperature,
  tokenLimit,
  topA,
  topK,
  topLogprobs,
  topP,
} from '../fields/sampling.ts'
import { optionalFlag, texts } from '../fields/scalars.ts'
import { maxToolCalls, stopServerToolsWhen } from '../fields/stop-conditions.ts'
import { webSearchOptions } from '../fields/web-search.ts'
import type { Findings } from '../findings.ts'
import { type FieldReader, leaveOut, requestRules } from '../request-rules.ts'
import { taggedList } from '../tagged-list.ts'
import { chatMessage } from './message-schemas.ts'
import { CHAT_TOOLS, chatToolChoice, chatTools } from './tool-schemas.ts'

/** What each field holds when it is there; absent and null mean the same for all of them. */
export const requestFields = {
  messages: z.array(chatMessage).min(1),
  model,
  models,
  provider,
  route,
  service_tier: serviceTier,
  plugins,
  preset: z.string().min(1).meta({ description: 'A preset to use, as slug, slug@version or slug@label.' }),
  stream: z.boolean(),
  stream_options: z.looseObject({ include_usage: optionalFlag }).meta({ description: 'Accepted; usage is always sent.' }),
  temperature,
  top_p: topP,
  top_k: topK,
  top_a: topA,
  min_p: minP,
  frequency_penalty: frequencyPenalty,
  presence_penalty: presencePenalty,
  repetition_penalty: repetitionPenalty,
  seed,
  max_tokens: tokenLimit.meta({ deprecated: true, description: 'Use max_completion_tokens.' }),
  max_completion_tokens: tokenLimit,
  logit_bias: logitBias,
  logprobs: z.boolean(),
  top_logprobs: topLogprobs,
  stop,
  response_format: chatResponseFormat,
  structured_outputs: z.boolean(),
  verbosity,
  prediction: z.looseObject({
    type: z.literal('content'),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))]),
  }),
  modalities: chatModalities,
  image_config: imageConfig,
  reasoning: chatReasoning,
  reasoning_effort: reasoningEffort,
  include_reasoning: z.boolean(),
  tools: chatTools,
  tool_choice: chatToolChoice,
  parallel_tool_calls: z.boolean(),
  max_tool_calls: maxToolCalls,
  stop_server_tools_when: stopServerToolsWhen,
  deferred_tools: deferredTools,
  web_search_options: webSearchOptions,
  cache_control: cacheControl,
  prompt_cache_key: z.string(),
  prompt_cache_options: promptCacheOptions,
  session_id: sessionId,
  user: endUser,
  metadata,
  trace,
  debug,
  transforms: texts.meta({ deprecated: true, description: 'Use the plugin context-compression.' }),
  usage: z.looseObject({ include: optionalFlag }).meta({ deprecated: true, description: 'Ignored: usage is always sent.' }),
}

export const requestSchema = z.looseObject(leaveOut(requestFields)).meta({ id: 'ChatRequest' })

const checkTogether = (field: FieldReader, findings: Findings): void => {
  const effort = field('reasoning_effort')
  const reasoning = effort === undefined ? undefined : field('reasoning')
  const other = isObject(reasoning) ? (reasoning['effort'] ?? undefined) : undefined
  if (other !== undefined && other !== effort) findings.fault(['reasoning_effort'], 'It contradicts reasoning.effort.')
}

export const rules = requestRules(
  'chat',
  requestFields,
  {
    tools: taggedList('type', CHAT_TOOLS, { unknown: 'unknown_tool_type' }),
    plugins: taggedList('id', PLUGINS, { unknown: 'unknown_plugin' }),
  },
  { checkTogether },
)
