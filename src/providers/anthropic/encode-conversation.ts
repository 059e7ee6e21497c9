/** A conversation as the `system` prompt and the turns of user and assistant. */
import type { Steps } from '../../lib/steps.ts'
import { arrangeTurns, type Conversation, type Turn as AnyTurn } from '../turns.ts'
import type { Block } from '../message-blocks.ts'
import { BLOCK_FORM, encodeParts } from './encode-parts.ts'
import type { EncodeContext } from './encode-context.ts'

export type Turn = AnyTurn<Block>

export const encodeConversation = (context: EncodeContext): Steps<Conversation<Block>> =>
  arrangeTurns<Block>(context, { ...BLOCK_FORM, encode: (message) => encodeParts(message, context) })

/** Results of tools were sent, and the calls before them do not begin with thinking, which a model that thinks wants back. */
export const isUnthoughtLoop = (turns: readonly Turn[]): boolean => {
  const last = turns.findLast(({ role }) => role !== 'system')
  if (last?.role !== 'user' || !last.blocks.some(({ type }) => type === BLOCK_FORM.resultType)) return false
  const first = turns.findLast(({ role }) => role === 'assistant')?.blocks[0]
  return first === undefined || !BLOCK_FORM.thinking.has(first.type)
}
