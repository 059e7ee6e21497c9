/** The fields of a Responses request (docs/contract/responses.md#request). */
import { z } from 'zod'

import type { FieldTable } from './field.ts'
import { responsesInclude, responsesModalities, responsesText } from './schemas/output.ts'
import { responsesReasoning } from './schemas/reasoning.ts'
import { responsesInput, storedPrompt } from './schemas/responses-input.ts'
import { responsesToolChoice } from './schemas/responses-tool-choice.ts'
import { RESPONSES_TOOLS, responsesTools, toolSearchAlias } from './schemas/responses-tools.ts'
import { tokenLimit } from './schemas/sampling.ts'
import { optionalFlag } from './schemas/scalars.ts'
import { EVERYWHERE, LENGTH_PARAMETERS, OPENAI, REASONING_PARAMETERS } from './shared.ts'
import { taggedList } from './tagged-list.ts'

const NOTHING_STORED = 'Nothing is stored here: send the full history in input.'

export const RESPONSES_FIELDS = {
  input: { schema: responsesInput, means: 'conversation', readLater: true },
  instructions: { schema: z.string(), means: 'conversation', presets: 'check' },
  ...EVERYWHERE,
  tools: {
    schema: responsesTools,
    items: taggedList('type', [...RESPONSES_TOOLS, toolSearchAlias], { unknown: 'unknown_tool_type' }),
    means: 'tools',
    presets: 'keep',
  },
  tool_choice: { schema: responsesToolChoice, means: 'toolChoice', presets: 'keep' },
  ...OPENAI,
  stream_options: { schema: z.looseObject({ include_obfuscation: optionalFlag }), means: 'written' },
  max_output_tokens: { schema: tokenLimit, means: 'maxOutputTokens', presets: 'keep', parameters: LENGTH_PARAMETERS },
  text: { schema: responsesText, members: { format: 'outputFormat', verbosity: 'verbosity' }, presets: 'keep' },
  reasoning: { schema: responsesReasoning, means: 'reasoning', presets: 'keep', parameters: REASONING_PARAMETERS },
  modalities: { schema: responsesModalities, means: 'outputModalities', presets: 'keep' },
  include: { schema: responsesInclude, means: ['include', 'logprobs'], presets: 'keep' },
  truncation: { schema: z.enum(['auto', 'disabled']), means: 'truncation', presets: 'keep' },
  store: { schema: z.literal(false, 'Must be false: responses are not stored.'), means: 'written' },
  background: { schema: z.literal(false, 'Must be false: there is no background processing.'), means: 'refused' },
  // A preset that continued an earlier response could never work, so it is refused when it is made (docs/contract/presets.md#ignored-fields).
  previous_response_id: { schema: z.null(NOTHING_STORED), means: 'refused', presets: 'check' },
  // Names what is stored in the operator's own account.
  conversation: { schema: z.null(NOTHING_STORED), means: 'refused' },
  prompt: {
    schema: storedPrompt.meta({
      description: 'Names a preset where the file has presets.openai_prompts; refused otherwise. Ignored when a preset is created.',
    }),
    means: 'refused',
    refusal: `Must be null. ${NOTHING_STORED}`,
  },
} as const satisfies FieldTable
