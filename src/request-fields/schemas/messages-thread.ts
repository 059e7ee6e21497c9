/** A conversation that Anthropic would keep for its next turn (docs/contract/messages.md#threads). */
import { z } from 'zod'

export const thread = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('create') }),
    z.looseObject({ type: z.literal('continue'), previous_message_id: z.string().min(1) }),
  ])
  .meta({
    id: 'Thread',
    description: 'No thread is kept: `create` changes nothing, and `continue` is a 404 that clients answer with the whole conversation.',
  })
