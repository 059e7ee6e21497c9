/** The form of the Responses interface's input (docs/contract/responses.md#input). */
import { z } from 'zod'

import { optionalText } from './scalars.ts'

const contentPart = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('input_text'), text: z.string() }),
    z.looseObject({
      type: z.literal('input_image'),
      detail: z.enum(['auto', 'low', 'high', 'original']).nullish(),
      image_url: optionalText,
      file_id: optionalText,
    }),
    z.looseObject({
      type: z.literal('input_file'),
      file_data: optionalText,
      file_url: optionalText,
      file_id: optionalText,
      filename: optionalText,
    }),
    z.looseObject({ type: z.literal('input_audio'), input_audio: z.looseObject({ data: z.string(), format: z.string() }) }),
    z.looseObject({ type: z.literal('input_video'), video_url: z.string() }),
    z.looseObject({ type: z.literal('output_text'), text: z.string() }),
    z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  ])
  .meta({ id: 'ResponsesContentPart' })

/** A plain message, whose `type` may be absent. */
const inputMessage = z
  .looseObject({
    type: z.literal('message').nullish(),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.union([z.string(), z.array(contentPart)]).nullish(),
    phase: z.enum(['commentary', 'final_answer']).nullish(),
  })
  .meta({ id: 'ResponsesInputMessage' })

/** Reasoning, tool calls and their outputs, which are replayed unchanged. */
const otherItem = z.looseObject({ type: z.string().regex(/^(?!message$)/) }).meta({ id: 'ResponsesInputItem' })

export const responsesInput = z.union([z.string(), z.array(z.union([inputMessage, otherItem]))])

/**
 * A reference to a stored prompt template; none are stored here, so it is only ever ignored or refused
 * (docs/contract/responses.md#nothing-is-stored).
 */
export const storedPrompt = z.looseObject({
  id: z.string(),
  variables: z.record(z.string(), z.union([z.string(), contentPart])).nullish(),
})
