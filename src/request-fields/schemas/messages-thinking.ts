/** Thinking, and the parts that are cleared from a long conversation (docs/contract/messages.md#request). */
import { z } from 'zod'

import { optionalFlag, optionalText, optionalTexts, positiveInteger } from './scalars.ts'

const display = z.enum(['summarized', 'omitted', 'updates']).nullish()

export const THINKING = [
  z.looseObject({ type: z.literal('enabled'), budget_tokens: positiveInteger, display }),
  z.looseObject({ type: z.literal('disabled') }),
  z.looseObject({ type: z.literal('adaptive'), display }),
  z.looseObject({ type: z.literal('between_tools') }),
] as const

export const thinking = z.discriminatedUnion('type', THINKING).meta({ id: 'Thinking' })

const measure = <Unit extends string>(...units: Unit[]) => z.looseObject({ type: z.enum(units), value: z.int().min(0) }).nullish()

export const contextManagement = z
  .looseObject({
    edits: z
      .array(
        z.discriminatedUnion('type', [
          z.looseObject({
            type: z.literal('clear_tool_uses_20250919'),
            trigger: measure('input_tokens', 'tool_uses'),
            keep: measure('tool_uses'),
            clear_at_least: measure('input_tokens'),
            clear_tool_inputs: z.union([z.boolean(), z.array(z.string())]).nullish(),
            exclude_tools: optionalTexts,
          }),
          z.looseObject({
            type: z.literal('clear_thinking_20251015'),
            keep: z
              .union([
                z.literal('all'),
                z.looseObject({ type: z.literal('all') }),
                z.looseObject({ type: z.literal('thinking_turns'), value: z.int().min(0) }),
              ])
              .nullish(),
          }),
          z.looseObject({
            type: z.literal('compact_20260112'),
            instructions: optionalText,
            pause_after_compaction: optionalFlag,
            trigger: measure('input_tokens'),
          }),
        ]),
      )
      .nullish(),
  })
  .meta({ id: 'ContextManagement' })

export const compaction = z
  .looseObject({ type: z.string().min(1) })
  .meta({ id: 'Compaction', description: 'Asks Anthropic for a summary of the conversation in place of an answer.' })

export const safeguards = z.array(z.looseObject({ type: z.string().min(1), classifier_context: z.looseObject({}).nullish() }))
