/**
 * What each top-level field of the three interfaces means, by the service's own words. The loss table tells from it what
 * becomes of a field at a provider of each dialect; test/conformance/fields.test.ts holds both to what is really sent.
 * Sources: contract 2.2 to 2.4.
 */
import type { ClientDialect } from './call.ts'
import type { SettingName } from './settings.ts'

/**
 * A setting; `conversation`, `tools`, `toolChoice`, `outputFormat`: what an encoder reads of a prompt beside the settings;
 * `service`: it addresses this service, and no provider gets it; `written`: the service writes it in the provider's way;
 * `refused`: nothing is stored here that it could name; `none`: only providers of the same dialect have a word for it.
 */
export type FieldMeaning =
  | SettingName
  | 'conversation'
  | 'tools'
  | 'toolChoice'
  | 'outputFormat'
  | 'service'
  | 'written'
  | 'refused'
  | 'none'

type Meanings = Readonly<Record<string, FieldMeaning | readonly FieldMeaning[]>>

const EVERYWHERE = {
  model: 'written',
  models: 'service',
  provider: 'service',
  route: 'service',
  plugins: 'service',
  preset: 'service',
  stream: 'written',
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  service_tier: 'serviceTier',
  tools: 'tools',
  tool_choice: 'toolChoice',
  cache_control: 'cacheControl',
  session_id: 'service',
  user: 'user',
  trace: 'service',
  stop_server_tools_when: 'service',
  deferred_tools: 'service',
} as const satisfies Meanings

const OPENAI = {
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  top_logprobs: 'topLogprobs',
  reasoning: 'reasoning',
  parallel_tool_calls: 'parallelToolCalls',
  modalities: 'outputModalities',
  image_config: 'imageConfig',
  prompt_cache_key: 'promptCacheKey',
  prompt_cache_options: 'promptCacheOptions',
  metadata: 'metadata',
  safety_identifier: 'user',
  debug: 'service',
} as const satisfies Meanings

export const REQUEST_FIELDS: Readonly<Record<ClientDialect, Meanings>> = {
  chat: {
    messages: 'conversation',
    ...EVERYWHERE,
    ...OPENAI,
    stream_options: 'written',
    top_a: 'topA',
    min_p: 'minP',
    repetition_penalty: 'repetitionPenalty',
    seed: 'seed',
    max_tokens: 'maxOutputTokens',
    max_completion_tokens: 'maxOutputTokens',
    stop: 'stop',
    logit_bias: 'logitBias',
    logprobs: 'logprobs',
    n: 'candidates',
    response_format: 'outputFormat',
    structured_outputs: 'none',
    verbosity: 'verbosity',
    reasoning_effort: 'reasoning',
    include_reasoning: 'reasoning',
    audio: 'audioOutput',
    prediction: 'prediction',
    web_search_options: 'webSearchOptions',
    max_tool_calls: 'none',
    transforms: 'service',
    usage: 'service',
  },
  responses: {
    input: 'conversation',
    instructions: 'conversation',
    ...EVERYWHERE,
    ...OPENAI,
    max_output_tokens: 'maxOutputTokens',
    text: ['outputFormat', 'verbosity'],
    include: ['include', 'logprobs'],
    truncation: 'truncation',
    max_tool_calls: 'none',
    store: 'written',
    background: 'refused',
    previous_response_id: 'refused',
    prompt: 'refused',
  },
  messages: {
    messages: 'conversation',
    system: 'conversation',
    ...EVERYWHERE,
    fallbacks: 'service',
    max_tokens: 'maxOutputTokens',
    stop_sequences: 'stop',
    thinking: 'reasoning',
    output_config: ['outputFormat', 'reasoning'],
    speed: 'serviceTier',
    metadata: 'user',
    context_management: 'contextManagement',
    safeguards: 'safeguards',
  },
}
