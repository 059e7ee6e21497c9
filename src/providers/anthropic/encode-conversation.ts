/** Encodes a conversation as the `system` prompt and the turns of user and assistant. */
import type { Steps } from '../../lib/steps.ts'
import { arrangeTurns, type Conversation, type Turn as AnyTurn } from '../roles/turns.ts'
import type { Block } from '../message-blocks.ts'
import { BLOCK_FORM, encodeParts } from './encode-parts.ts'
import type { EncodeContext } from './encode-context.ts'

export type Turn = AnyTurn<Block>

export const encodeConversation = (context: EncodeContext): Steps<Conversation<Block>> =>
  arrangeTurns<Block>(context, { ...BLOCK_FORM, encode: (message) => encodeParts(message, context) })

/**
 * Says whether results of tools were sent although the turn with their calls does not begin with thinking, which a thinking model requires.
 */
export const isUnthoughtLoop = (turns: readonly Turn[]): boolean => {
  const last = turns.findLast(({ role }) => role !== 'system')
  if (last?.role !== 'user' || !last.blocks.some(({ type }) => type === BLOCK_FORM.resultType)) return false
  const first = turns.findLast(({ role }) => role === 'assistant')?.blocks[0]
  return first === undefined || !BLOCK_FORM.thinking.has(first.type)
}
