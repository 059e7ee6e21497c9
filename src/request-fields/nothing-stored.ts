/** Fields that refer to something kept from an earlier request, although nothing is kept (docs/contract/responses.md#nothing-is-stored). */
import { z } from 'zod'

import type { RequestField } from './field.ts'
import { storedPrompt } from './schemas/responses-input.ts'

/** `history`: the field in which a request sends the whole conversation. */
export const nothingStored = (history: string): string => `Nothing is stored here: send the full history in ${history}.`

/**
 * A preset that continues an earlier response could never work, so it is refused when it is saved
 * (docs/contract/presets.md#ignored-fields). `hint` says what to change in a library that sends the field by itself.
 */
export const previousResponse = (history: string, hint = '') =>
  ({ schema: z.null(nothingStored(history) + hint), means: 'refused', presets: 'check' }) as const satisfies RequestField

/** The field `prompt` of OpenAI's interfaces. */
export const namedPrompt = (history: string) =>
  ({
    schema: storedPrompt.meta({
      description: 'Names a preset where the file has presets.openai_prompts; refused otherwise. Ignored when a preset is created.',
    }),
    means: 'refused',
    refusal: `Must be null. ${nothingStored(history)}`,
  }) as const satisfies RequestField
