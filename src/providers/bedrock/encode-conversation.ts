/** A conversation as the `system` prompt and the alternating turns of user and assistant. */
import type { Message } from '../../canonical/prompt.ts'
import { encodeBlocks, type Block } from './encode-blocks.ts'
import type { EncodeContext } from './encode-context.ts'

export interface Conversation {
  readonly system: readonly Block[]
  readonly turns: readonly Turn[]
}

export interface Turn {
  readonly role: 'user' | 'assistant' | 'system'
  readonly blocks: readonly Block[]
}

/**
 * System messages at the beginning are the system prompt. Later ones keep their places, for to hoist them would change the
 * beginning of the prompt and miss its cache on every turn (pitfalls.md 16): as a `system` turn where the model knows one
 * and the place is a lawful one, else as text of the user's turn that stands there.
 */
export const encodeConversation = (context: EncodeContext): Conversation => {
  const { messages } = context.prompt
  const first = messages.findIndex((message) => !isSystem(message))
  const system = messages.slice(0, first < 0 ? messages.length : first).flatMap((message) => encodeBlocks(message, context))
  const pieces = first < 0 ? [] : messages.slice(first).map((message) => pieceOf(message, context))
  const turns = joined(settled(joined(pieces), context)).map((turn) => resultsFirst(withText(turn, context)))
  if (turns.length > 0 || system.length === 0) return { system, turns }
  // The dialect wants something to answer.
  context.mapped(messages[0]?.at ?? 'messages', 'A conversation of system messages alone was sent as the turn of a user.')
  return { system: [], turns: [{ role: 'user', blocks: system }] }
}

const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer'

interface Piece extends Turn {
  readonly at: string
}

const pieceOf = (message: Message, context: EncodeContext): Piece => ({
  role: message.role === 'developer' ? 'system' : message.role,
  blocks: encodeBlocks(message, context),
  at: message.at ?? 'messages',
})

/** Neighbours of one role are one turn; what has nothing left to say is none. */
const joined = (pieces: readonly Piece[]): Piece[] => {
  const turns: Piece[] = []
  for (const piece of pieces) {
    if (piece.blocks.length === 0) continue
    const last = turns.at(-1)
    if (last?.role === piece.role) turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...piece.blocks] }
    else turns.push(piece)
  }
  return turns
}

/** A system turn follows a user's and comes last or before the assistant's: anywhere else it is refused. */
const settled = (turns: readonly Piece[], context: EncodeContext): Piece[] =>
  turns.map((turn, index) => {
    if (turn.role !== 'system') return turn
    const next = turns[index + 1]?.role
    if (context.rules.systemTurns && turns[index - 1]?.role === 'user' && next !== 'user') return turn
    context.mapped(turn.at, `${context.target.upstreamModel} takes no system message here; it was sent in its place as text of the user.`)
    return { ...turn, role: 'user' }
  })

/** A turn with a document needs text, too (Message, "content"). */
const withText = (turn: Piece, context: EncodeContext): Piece => {
  if (!turn.blocks.some(({ type }) => type === 'document') || turn.blocks.some(({ type }) => type === 'text')) return turn
  context.mapped(turn.at, `${context.target.providerName} takes a document beside text only; a word was put before it.`)
  return { ...turn, blocks: [{ type: 'text', json: '{"text":"Document:"}' }, ...turn.blocks] }
}

/** The results of tools have to stand before all else that the user says. */
const resultsFirst = ({ role, blocks }: Piece): Turn =>
  role === 'user' && blocks.some(({ type }) => type === 'toolResult')
    ? { role, blocks: [...blocks.filter(({ type }) => type === 'toolResult'), ...blocks.filter(({ type }) => type !== 'toolResult')] }
    : { role, blocks }
