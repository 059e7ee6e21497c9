/** Encodes a conversation as the `system` prompt and the alternating turns of user and assistant. */
import { writeInSteps } from '../../lib/json/json-steps.ts'
import type { Steps } from '../../lib/steps.ts'
import { arrangeTurns, type Conversation, type Turn as AnyTurn } from '../roles/turns.ts'
import { withMediaBehind, withResultsApart } from './beside-results.ts'
import { encodeParts, type Block } from './encode-parts.ts'
import type { EncodeContext } from './encode-context.ts'

export type Turn = AnyTurn<Block>

export function* encodeConversation(context: EncodeContext): Steps<Conversation<Block>> {
  const messages = withMediaBehind(context.prompt.messages, context)
  yield
  const complete = (turn: Turn): Turn => withText(turn, context)
  const arranged = yield* arrangeTurns<Block>(
    { ...context, prompt: { messages } },
    {
      encode: (message) => encodeParts(message, context),
      resultType: 'toolResult',
      thinking: THINKING,
      textOf: ({ text }) => text ?? null,
      withText: saying,
      complete,
    },
  )
  return { ...arranged, turns: withResultsApart(arranged.turns, context, complete) }
}

const THINKING = new Set(['reasoningContent'])

/** A cache point after the block stays there. */
function* saying(text: string, block?: Block): Steps<Block> {
  const point = block?.marked === true ? block.json.slice(block.json.lastIndexOf(',{"cachePoint"')) : ''
  return { ...(block ?? { type: 'text' }), json: `${yield* writeInSteps({ text })}${point}`, text }
}

/** A turn with a document needs text too (Message, "content"). */
const withText = (turn: Turn, context: EncodeContext): Turn => {
  if (!turn.blocks.some(({ type }) => type === 'document') || turn.blocks.some(({ type }) => type === 'text')) return turn
  context.mapped(turn.at, `${context.target.providerName} takes a document beside text only; a word was put before it.`)
  return { ...turn, blocks: [{ type: 'text', json: '{"text":"Document:"}' }, ...turn.blocks] }
}
