/** The form of messages of the chat interface (docs/contract/chat-completions.md#messages). */
import { z } from 'zod'

import { optionalCacheControl } from './cache.ts'
import { optionalText } from './scalars.ts'

const textPart = z.looseObject({ type: z.literal('text'), text: z.string(), cache_control: optionalCacheControl })

const contentPart = z
  .discriminatedUnion('type', [
    textPart,
    z.looseObject({
      type: z.literal('image_url'),
      image_url: z.looseObject({ url: z.string(), detail: z.enum(['auto', 'low', 'high', 'original']).nullish() }),
    }),
    z.looseObject({ type: z.literal('input_audio'), input_audio: z.looseObject({ data: z.string(), format: z.string() }) }),
    z.looseObject({ type: z.enum(['video_url', 'input_video']), video_url: z.looseObject({ url: z.string() }) }),
    z.looseObject({
      type: z.literal('file'),
      file: z.looseObject({ file_data: optionalText, file_id: optionalText, filename: optionalText }),
    }),
    z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  ])
  .meta({ id: 'ChatContentPart' })

const textContent = z.union([z.string(), z.array(textPart)])
const content = z.union([z.string(), z.array(contentPart)])

const toolCall = z.discriminatedUnion('type', [
  z.looseObject({
    id: z.string(),
    type: z.literal('function'),
    function: z.looseObject({ name: z.string(), arguments: z.string() }),
  }),
  z.looseObject({ id: z.string(), type: z.literal('custom'), custom: z.looseObject({ name: z.string(), input: z.string() }) }),
])

export const chatMessage = z
  .discriminatedUnion('role', [
    z.looseObject({ role: z.enum(['system', 'developer']), content: textContent, name: optionalText }),
    z.looseObject({ role: z.literal('user'), content, name: optionalText }),
    z.looseObject({
      role: z.literal('assistant'),
      content: content.nullish(),
      name: optionalText,
      refusal: optionalText,
      tool_calls: z.array(toolCall).nullish(),
      reasoning: optionalText,
      reasoning_details: z.array(z.looseObject({ type: z.string() })).nullish(),
      thinking_blocks: z.array(z.looseObject({ type: z.string() })).nullish(),
    }),
    z.looseObject({ role: z.literal('tool'), content: content.nullable(), tool_call_id: z.string() }),
  ])
  .meta({ id: 'ChatMessage' })
