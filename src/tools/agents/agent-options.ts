/** The tools that call a model share these options for it, and the result if it fails. */
import { z } from 'zod'

import type { Part } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { ToolCaller, ToolResult } from '../tool.ts'

/** Options of every tool that calls a model with text. */
export const modelMembers = {
  model: z.string().min(1).max(200).optional(),
  max_completion_tokens: z.int().min(1).optional(),
  reasoning: z.looseObject({ effort: z.string().max(20).optional(), max_tokens: z.int().min(1).optional() }).optional(),
  temperature: z.number().min(0).max(2).optional(),
}

export const agentName = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9 _-]{1,64}$/, 'Use 1 to 64 letters, digits, spaces, _ or -.')
  .optional()

interface AskedOptions {
  readonly max_completion_tokens?: number | undefined
  readonly reasoning?: { readonly effort?: string | undefined; readonly max_tokens?: number | undefined } | undefined
  readonly temperature?: number | undefined
}

/** Converts the options to members of the body for the model. */
export const questionOptions = ({ max_completion_tokens, reasoning, temperature }: AskedOptions): JsonObject => ({
  ...(max_completion_tokens === undefined ? {} : { max_completion_tokens }),
  ...(temperature === undefined ? {} : { temperature }),
  ...(reasoning === undefined
    ? {}
    : {
        reasoning: {
          ...(reasoning.effort === undefined ? {} : { effort: reasoning.effort }),
          ...(reasoning.max_tokens === undefined ? {} : { max_tokens: reasoning.max_tokens }),
        },
      }),
})

/** Counts the calls per request, for all tools of the kind together. */
export const createCallCount = (): ((caller: ToolCaller) => number) => {
  const counts = new WeakMap<ToolCaller, number>()
  return (caller) => {
    const count = (counts.get(caller) ?? 0) + 1
    counts.set(caller, count)
    return count
  }
}

/** The result of a call whose model gave no answer. */
export const agentFailure = (fault: NonNullable<ToolResult['fault']>, more: JsonObject = {}): ToolResult => ({
  fault,
  value: { status: 'error', ...more, error: fault.message },
})

export const textPart = (text: string): Part => ({ type: 'text', text })
