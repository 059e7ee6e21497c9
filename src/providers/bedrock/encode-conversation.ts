/** A conversation as the `system` prompt and the alternating turns of user and assistant. */
import type { Steps } from '../../lib/steps.ts'
import { arrangeTurns, type Conversation, type Turn as AnyTurn } from '../turns.ts'
import { encodeParts, type Block } from './encode-parts.ts'
import type { EncodeContext } from './encode-context.ts'

export type Turn = AnyTurn<Block>

export const encodeConversation = (context: EncodeContext): Steps<Conversation<Block>> =>
  arrangeTurns<Block>(context, {
    encode: (message) => encodeParts(message, context),
    resultType: 'toolResult',
    thinking: THINKING,
    textOf: ({ type, json }) => (type === 'text' ? withPoint(json)[0].text : null),
    withText: saying,
    complete: (turn) => withText(turn, context),
  })

const THINKING = new Set(['reasoningContent'])

/** A block of text, and the cache point that may be behind it. */
const withPoint = (json: string): readonly [{ readonly text: string }, ...object[]] =>
  JSON.parse(`[${json}]`) as [{ readonly text: string }, ...object[]]

const saying = (text: string, block?: Block): Block => {
  const points = block === undefined ? [] : withPoint(block.json).slice(1)
  return { ...(block ?? { type: 'text' }), json: [{ text }, ...points].map((each) => JSON.stringify(each)).join(',') }
}

/** A turn with a document needs text, too (Message, "content"). */
const withText = (turn: Turn, context: EncodeContext): Turn => {
  if (!turn.blocks.some(({ type }) => type === 'document') || turn.blocks.some(({ type }) => type === 'text')) return turn
  context.mapped(turn.at, `${context.target.providerName} takes a document beside text only; a word was put before it.`)
  return { ...turn, blocks: [{ type: 'text', json: '{"text":"Document:"}' }, ...turn.blocks] }
}
