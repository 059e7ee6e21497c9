/** The fields of a Chat Completions request (docs/contract/chat-completions.md#request). */
import { z } from 'zod'

import type { FieldTable } from './field.ts'
import { namedPrompt, previousResponse } from './nothing-stored.ts'
import { chatMessage } from './schemas/chat-messages.ts'
import { CHAT_TOOLS, chatToolChoice, chatTools, functionTool, legacyFunctionCall, legacyFunctions } from './schemas/chat-tools.ts'
import { audioOutput, chatModalities, chatResponseFormat, prediction, verbosity } from './schemas/output.ts'
import { chatEffort, chatReasoning } from './schemas/reasoning.ts'
import { candidates, logitBias, minP, repetitionPenalty, seed, stop, tokenLimit, topA } from './schemas/sampling.ts'
import { optionalFlag, texts } from './schemas/scalars.ts'
import { webSearchOptions } from './schemas/web-search.ts'
import { EVERYWHERE, LENGTH_PARAMETERS, OPENAI, REASONING_PARAMETERS } from './shared.ts'
import { taggedList } from './tagged-list.ts'

export const CHAT_FIELDS = {
  messages: { schema: z.array(chatMessage).min(1), means: 'conversation', readLater: true },
  ...EVERYWHERE,
  tools: {
    schema: chatTools,
    items: taggedList('type', CHAT_TOOLS, { unknown: 'unknown_tool_type', untagged: functionTool }),
    means: 'tools',
    presets: 'keep',
  },
  tool_choice: { schema: chatToolChoice, means: 'toolChoice', presets: 'keep' },
  functions: { schema: legacyFunctions, means: 'tools' },
  function_call: { schema: legacyFunctionCall, means: 'toolChoice' },
  ...OPENAI,
  stream_options: {
    schema: z.looseObject({ include_usage: optionalFlag }).meta({ description: 'Accepted; usage is always sent.' }),
    means: 'written',
  },
  top_a: { schema: topA, means: 'topA', presets: 'keep', parameters: ['top_a'] },
  min_p: { schema: minP, means: 'minP', presets: 'keep', parameters: ['min_p'] },
  repetition_penalty: { schema: repetitionPenalty, means: 'repetitionPenalty', presets: 'keep', parameters: ['repetition_penalty'] },
  seed: { schema: seed, means: 'seed', presets: 'keep', parameters: ['seed'] },
  logit_bias: { schema: logitBias, means: 'logitBias', presets: 'keep', parameters: ['logit_bias'] },
  logprobs: { schema: z.boolean(), means: 'logprobs', presets: 'keep', parameters: ['logprobs'], changes: ['include'] },
  n: { schema: candidates.meta({ description: 'How many answers to give.' }), means: 'candidates' },
  best_of: { schema: candidates.meta({ description: 'How many answers to choose from; few providers know it.' }), means: 'none' },
  prediction: { schema: prediction, means: 'prediction', presets: 'keep', parameters: ['prediction'] },
  // OpenRouter's is a flag, vLLM's an object.
  structured_outputs: {
    schema: z.union([z.boolean(), z.looseObject({})]),
    means: 'none',
    presets: 'keep',
    parameters: ['structured_outputs'],
  },
  max_completion_tokens: { schema: tokenLimit, means: 'maxOutputTokens', presets: 'keep', parameters: LENGTH_PARAMETERS },
  max_tokens: {
    schema: tokenLimit.meta({ deprecated: true, description: 'Use max_completion_tokens, which wins where both are sent.' }),
    means: 'maxOutputTokens',
    presets: 'keep',
    parameters: LENGTH_PARAMETERS,
  },
  stop: { schema: stop, means: 'stop', presets: 'keep', parameters: ['stop'] },
  response_format: { schema: chatResponseFormat, means: 'outputFormat', presets: 'keep' },
  verbosity: { schema: verbosity, means: 'verbosity', presets: 'keep' },
  reasoning: { schema: chatReasoning, means: 'reasoning', presets: 'keep', parameters: REASONING_PARAMETERS },
  reasoning_effort: {
    schema: chatEffort,
    means: 'reasoning',
    sets: ['effort', 'max_tokens', 'enabled'],
    presets: 'keep',
    parameters: REASONING_PARAMETERS,
  },
  include_reasoning: {
    schema: z.boolean(),
    means: 'reasoning',
    sets: ['exclude'],
    presets: 'keep',
    parameters: REASONING_PARAMETERS,
  },
  modalities: { schema: chatModalities, means: 'outputModalities', presets: 'keep' },
  audio: { schema: audioOutput, means: 'audioOutput', presets: 'keep' },
  web_search_options: {
    schema: webSearchOptions,
    means: 'webSearchOptions',
    presets: 'keep',
    parameters: ['web_search_options'],
    changes: ['tools'],
  },
  transforms: {
    schema: texts.meta({ deprecated: true, description: 'Use the plugin context-compression.' }),
    means: 'service',
    changes: ['plugins'],
  },
  usage: {
    schema: z.looseObject({ include: optionalFlag }).meta({ deprecated: true, description: 'Ignored: usage is always sent.' }),
    means: 'service',
  },
  previous_response_id: previousResponse('messages'),
  prompt: namedPrompt('messages'),
} as const satisfies FieldTable
