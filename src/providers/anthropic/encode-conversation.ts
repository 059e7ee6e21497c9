/** A conversation as the `system` prompt and the turns of user and assistant. */
import { arrangeTurns, type Conversation, type Turn as AnyTurn } from '../turns.ts'
import { encodeBlocks, type Block } from './encode-blocks.ts'
import type { EncodeContext } from './encode-context.ts'

export type Turn = AnyTurn<Block>

export const encodeConversation = (context: EncodeContext): Conversation<Block> =>
  arrangeTurns<Block>(context, { encode: (message) => encodeBlocks(message, context), resultType: 'tool_result' })
