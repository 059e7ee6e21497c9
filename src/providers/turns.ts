/**
 * A conversation for the dialects that have a system prompt and alternating turns of user and assistant (Messages,
 * Converse): what goes where, whatever their blocks look like.
 */
import type { Message, Part, Prompt } from '../canonical/prompt.ts'
import { answerable, refuseUnasked } from './answerable.ts'

export interface Turn<Block> {
  readonly role: 'user' | 'assistant' | 'system'
  readonly blocks: readonly Block[]
  /** Where the turn begins in the request. */
  readonly at: string
}

export interface Conversation<Block> {
  readonly system: readonly Block[]
  readonly turns: readonly Turn<Block>[]
}

interface TurnContext {
  readonly prompt: Prompt
  readonly target: { readonly upstreamModel: string }
  /** Whether the model knows a system message between turns. */
  readonly rules: { readonly systemTurns: boolean }
  mapped(field: string, message: string): void
}

interface Blocks<Block> {
  readonly encode: (message: Message) => readonly Block[]
  /** The type of a block that holds a tool's result. */
  readonly resultType: string
  /** What a turn of this dialect still needs. */
  readonly complete?: (turn: Turn<Block>) => Turn<Block>
}

/**
 * System messages at the beginning are the system prompt. Later ones keep their places, for to hoist them would change
 * the beginning of the prompt and miss its cache on every turn (docs/contract/requests.md#order-of-messages): as a
 * `system` turn where the model knows one and the place is a lawful one, else as text of the user's turn that stands
 * there. Throws `invalid_prompt` where there is nothing to answer.
 */
export const arrangeTurns = <Block extends { readonly type: string }>(context: TurnContext, blocks: Blocks<Block>): Conversation<Block> => {
  const messages = withTrimmedPrefill(context)
  const first = messages.findIndex((message) => !isSystem(message))
  const system = messages.slice(0, first < 0 ? messages.length : first).flatMap(blocks.encode)
  const pieces = first < 0 ? [] : messages.slice(first).map((message) => turnOf(message, blocks))
  const last = pieces.findLast(({ role }) => role !== 'system')
  if (last?.role === 'user' && last.blocks.length === 0) refuseUnasked(last.at)
  const complete = blocks.complete ?? ((turn) => turn)
  const turns = joined(settled(joined(pieces), context)).map((turn) => resultsFirst(complete(turn), blocks.resultType))
  if (turns.length > 0 || system.length === 0) return { system, turns: answerable(messages, turns) }
  // The dialect wants something to answer.
  const at = messages[0]?.at ?? 'messages'
  context.mapped(at, 'A conversation of system messages alone was sent as the turn of a user.')
  return { system: [], turns: [{ role: 'user', blocks: system, at }] }
}

/** The beginning of an answer that the model is to go on with must not end in white space. */
const withTrimmedPrefill = ({ prompt: { messages }, mapped }: TurnContext): readonly Message[] => {
  const last = messages.at(-1)
  const said: Part | undefined = last?.parts.at(-1)
  if (last?.role !== 'assistant' || said?.type !== 'text' || said.text === said.text.trimEnd()) return messages
  mapped(last.at ?? 'messages', 'White space at the end of the beginning of the answer was left out.')
  return [...messages.slice(0, -1), { ...last, parts: [...last.parts.slice(0, -1), { ...said, text: said.text.trimEnd() }] }]
}

const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer'

const turnOf = <Block>(message: Message, { encode }: Blocks<Block>): Turn<Block> => ({
  role: message.role === 'developer' ? 'system' : message.role,
  blocks: encode(message),
  at: message.at ?? 'messages',
})

/** Neighbours of one role are one turn; what has nothing left to say is none. */
const joined = <Block>(pieces: readonly Turn<Block>[]): Turn<Block>[] => {
  const turns: Turn<Block>[] = []
  for (const piece of pieces) {
    if (piece.blocks.length === 0) continue
    const last = turns.at(-1)
    if (last?.role === piece.role) turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...piece.blocks] }
    else turns.push(piece)
  }
  return turns
}

/** A system turn follows a user's and comes last or before the assistant's: anywhere else it is refused. */
const settled = <Block>(turns: readonly Turn<Block>[], context: TurnContext): Turn<Block>[] =>
  turns.map((turn, index) => {
    if (turn.role !== 'system') return turn
    const next = turns[index + 1]?.role
    if (context.rules.systemTurns && turns[index - 1]?.role === 'user' && next !== 'user') return turn
    context.mapped(turn.at, `${context.target.upstreamModel} takes no system message here; it was sent in its place as text of the user.`)
    return { ...turn, role: 'user' }
  })

/** The results of tools have to stand before all else that the user says. */
const resultsFirst = <Block extends { readonly type: string }>(turn: Turn<Block>, resultType: string): Turn<Block> => {
  const results = turn.blocks.filter(({ type }) => type === resultType)
  return turn.role === 'user' && results.length > 0
    ? { ...turn, blocks: [...results, ...turn.blocks.filter(({ type }) => type !== resultType)] }
    : turn
}
