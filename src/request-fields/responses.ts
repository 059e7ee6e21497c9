/** The fields of a Responses request (docs/contract/responses.md#request). */
import { z } from 'zod'

import type { FieldTable } from './field.ts'
import { namedPrompt, nothingStored, previousResponse } from './nothing-stored.ts'
import { responsesInclude, responsesModalities, responsesText } from './schemas/output.ts'
import { responsesReasoning } from './schemas/reasoning.ts'
import { responsesInput } from './schemas/responses-input.ts'
import { responsesToolChoice } from './schemas/responses-tool-choice.ts'
import { OPENAIS_TOOLS, RESPONSES_TOOLS, responsesTools } from './schemas/responses-tools.ts'
import { tokenLimit } from './schemas/sampling.ts'
import { optionalFlag, optionalText } from './schemas/scalars.ts'
import { EVERYWHERE, LENGTH_PARAMETERS, OPENAI, REASONING_PARAMETERS } from './shared.ts'
import { taggedList } from './tagged-list.ts'

export const RESPONSES_FIELDS = {
  input: { schema: responsesInput, means: 'conversation', readLater: true },
  instructions: { schema: z.string(), means: 'conversation', presets: 'check' },
  ...EVERYWHERE,
  tools: {
    schema: responsesTools,
    items: taggedList('type', [...RESPONSES_TOOLS, ...OPENAIS_TOOLS], { unknown: 'unknown_tool_type' }),
    means: 'tools',
    presets: 'keep',
  },
  tool_choice: { schema: responsesToolChoice, means: 'toolChoice', presets: 'keep' },
  ...OPENAI,
  // Alone it asks for log probabilities too (docs/presets.md#on-another-interface).
  top_logprobs: { ...OPENAI.top_logprobs, changes: ['include', 'logprobs'] },
  stream_options: { schema: z.looseObject({ include_obfuscation: optionalFlag }), means: 'written' },
  max_output_tokens: { schema: tokenLimit, means: 'maxOutputTokens', presets: 'keep', parameters: LENGTH_PARAMETERS },
  text: { schema: responsesText, members: { format: 'outputFormat', verbosity: 'verbosity' }, presets: 'keep' },
  reasoning: { schema: responsesReasoning, means: 'reasoning', presets: 'keep', parameters: REASONING_PARAMETERS },
  modalities: { schema: responsesModalities, means: 'outputModalities', presets: 'keep' },
  include: { schema: responsesInclude, means: ['include', 'logprobs'], presets: 'keep' },
  context_management: {
    schema: z
      .array(z.looseObject({ type: z.string().min(1) }))
      .meta({ description: 'When OpenAI replaces the beginning of a long conversation by a summary.' }),
    means: 'none',
    presets: 'keep',
  },
  image: {
    schema: z
      .looseObject({ context_compression: optionalText })
      .meta({ description: 'How OpenAI shortens pictures of a long conversation.' }),
    means: 'none',
    presets: 'keep',
  },
  access_programs: {
    schema: z
      .looseObject({ cyber: optionalText })
      .meta({ description: 'The programs of OpenAI for trusted access under which it answers.' }),
    means: 'none',
    presets: 'keep',
  },
  truncation: { schema: z.enum(['auto', 'disabled']), means: 'truncation', presets: 'keep' },
  store: { schema: z.literal(false, 'Must be false: responses are not stored.'), means: 'written' },
  background: { schema: z.literal(false, 'Must be false: there is no background processing.'), means: 'refused' },
  previous_response_id: previousResponse('input', ' A library does so by itself if its option `store` is false.'),
  // It refers to something stored in the operator's own account.
  conversation: { schema: z.null(nothingStored('input')), means: 'refused' },
  prompt: namedPrompt('input'),
} as const satisfies FieldTable
