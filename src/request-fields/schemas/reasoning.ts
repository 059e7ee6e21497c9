/** The amount of thinking, and how much of it is shown (docs/contract/requests.md#reasoning). */
import { z } from 'zod'

import { optionalFlag, optionalPositiveInteger } from './scalars.ts'

export const reasoningEffort = z.enum(['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'])

/** In its own field of Chat Completions, `default` leaves the effort open. */
export const chatEffort = z.enum([...reasoningEffort.options, 'default'])

const members = {
  effort: reasoningEffort.nullish(),
  summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
  enabled: optionalFlag,
  max_tokens: optionalPositiveInteger,
  exclude: optionalFlag,
}

export const chatReasoning = z.looseObject(members).meta({ id: 'ChatReasoning' })

export const responsesReasoning = z
  .looseObject({
    ...members,
    context: z.enum(['auto', 'all_turns', 'current_turn']).nullish(),
    mode: z.enum(['standard', 'pro']).nullish(),
  })
  .meta({ id: 'ResponsesReasoning' })

/** The reasoning settings that the advisor, subagent and fusion tools accept for the models that they call. */
export const toolReasoning = z.looseObject({ effort: members.effort, max_tokens: members.max_tokens }).nullish()
