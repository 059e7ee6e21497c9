/**
 * What a preset keeps of a request body, by the body's interface: settings of generation, routing, tools and plugins,
 * each under the name it came with. Everything that belongs to one call or one caller is left out, and so is every field
 * not named here (decision 5, contract 1.3 in its literal reading).
 */
import type { PresetShape } from '../contract/preset.ts'

const ALL_SHAPES = [
  'model',
  'models',
  'provider',
  'route',
  'service_tier',
  'plugins',
  'tools',
  'tool_choice',
  'stop_server_tools_when',
  'deferred_tools',
  'temperature',
  'top_p',
  'top_k',
  'cache_control',
] as const

const CHAT = [
  'top_a',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'prediction',
  'structured_outputs',
  'max_tokens',
  'max_completion_tokens',
  'max_tool_calls',
  'stop',
  'response_format',
  'verbosity',
  'reasoning',
  'reasoning_effort',
  'include_reasoning',
  'parallel_tool_calls',
  'modalities',
  'image_config',
  'web_search_options',
  'prompt_cache_options',
] as const

const RESPONSES = [
  'frequency_penalty',
  'presence_penalty',
  'top_logprobs',
  'max_output_tokens',
  'max_tool_calls',
  'text',
  'reasoning',
  'parallel_tool_calls',
  'modalities',
  'image_config',
  'include',
  'truncation',
  'prompt_cache_options',
] as const

const MESSAGES = [
  'max_tokens',
  'stop_sequences',
  'thinking',
  'output_config',
  'speed',
  'fallbacks',
  'context_management',
  'safeguards',
] as const

/** A preset used by another interface is translated, so a lock may name any interface's field. */
export const LOCKABLE_FIELDS = [...new Set([...ALL_SHAPES, ...CHAT, ...RESPONSES, ...MESSAGES])]

const CONTROLS = ['locked', 'on_locked', 'strict'] as const

/** Request fields that are stored in `config`, in the order in which they are stored. */
export const PERSISTED_FIELDS: Readonly<Record<PresetShape, readonly string[]>> = {
  chat: [...ALL_SHAPES, ...CHAT, ...CONTROLS],
  responses: [...ALL_SHAPES, ...RESPONSES, ...CONTROLS],
  messages: [...ALL_SHAPES, ...MESSAGES, ...CONTROLS],
}

/** The one key of `config` that is not a request field of every shape: system text whose blocks carry more than text (decision 6). */
export const SYSTEM_BLOCKS_KEY = 'system'
