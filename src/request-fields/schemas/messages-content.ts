/** The form of messages of the Messages interface (docs/contract/messages.md#request). */
import { z } from 'zod'

import { textBlock } from './cache.ts'
import { messageOutputConfig } from './output.ts'

const contentBlock = z
  .union([
    z.discriminatedUnion('type', [
      textBlock,
      z.looseObject({ type: z.literal('image'), source: z.looseObject({ type: z.string() }) }),
      z.looseObject({ type: z.literal('document'), source: z.looseObject({ type: z.string() }) }),
      z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
      z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() }),
      z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
      z.looseObject({ type: z.literal('tool_result'), tool_use_id: z.string() }),
    ]),
    z.looseObject({ type: z.string() }),
  ])
  .meta({ id: 'MessagesContentBlock' })

export const messagesMessage = z
  .looseObject({
    role: z.enum(['user', 'assistant', 'system']),
    content: z.union([z.string(), z.array(contentBlock)]),
    output_config: messageOutputConfig.nullish(),
  })
  .meta({ id: 'MessagesMessage' })
