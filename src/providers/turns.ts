/**
 * A conversation for the dialects that have a system prompt and alternating turns of user and assistant (Messages,
 * Converse): what goes where, whatever their blocks look like.
 */
import type { Message, Prompt } from '../canonical/prompt.ts'
import { textSize } from '../canonical/text-size.ts'
import { eachInSteps, type Steps } from '../lib/steps.ts'
import { answerable, refuseUnasked } from './answerable.ts'
import { firstWords, lastWords, tellSystemAlone } from './lacking-turns.ts'

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
  readonly prompt: Pick<Prompt, 'messages'>
  readonly target: { readonly upstreamModel: string }
  readonly rules: {
    /** Says whether the model knows a system message between turns. */
    readonly systemTurns: boolean
    /** Says whether the model goes on with the beginning of an answer. */
    readonly prefill: boolean
  }
  lose(field: string, message: string): void
  mapped(field: string, message: string): void
}

interface Blocks<Block> {
  readonly encode: (message: Message) => Steps<readonly Block[]>
  /** The type of a block that holds a tool's result. */
  readonly resultType: string
  /** The types of blocks that hold thinking. */
  readonly thinking: ReadonlySet<string>
  /** The text of a block of text; null of any other. */
  readonly textOf: (block: Block) => string | null
  /** A block of text; where one is given, that one with another text. */
  readonly withText: (text: string, block?: Block) => Steps<Block>
  /** The provider itself was at work in the turn, and goes on with it. */
  readonly isPaused?: (turn: Turn<Block>) => boolean
  /** The things that a turn of this dialect still needs. */
  readonly complete?: (turn: Turn<Block>) => Turn<Block>
}

/**
 * System messages at the beginning are the system prompt. Later ones keep their places, for to hoist them would change
 * the beginning of the prompt and miss its cache on every turn (docs/contract/requests.md#order-of-messages): as a
 * `system` turn where the model knows one and the place is a lawful one, else as text of the user's turn that stands
 * there. Throws `invalid_prompt` where there is nothing to answer.
 */
export function* arrangeTurns<Block extends { readonly type: string }>(
  context: TurnContext,
  blocks: Blocks<Block>,
): Steps<Conversation<Block>> {
  const { messages } = context.prompt
  const first = messages.findIndex((message) => !isSystem(message))
  const leading = messages.slice(0, first < 0 ? messages.length : first)
  const system = (yield* eachInSteps(leading, blocks.encode, textSize)).flat()
  const pieces = first < 0 ? [] : yield* eachInSteps(messages.slice(first), (message) => turnOf(message, blocks), textSize)
  yield
  const last = pieces.findLast(({ role }) => role !== 'system')
  if (last?.role === 'user' && last.blocks.length === 0) refuseUnasked(last.at)
  const complete = blocks.complete ?? ((turn) => turn)
  const answered = yield* withLawfulAnswers(joined(pieces), blocks, context)
  yield
  const said = joined(settled(joined(answered), context))
  yield
  const turns = said.map((turn) => resultsFirst(complete(turn), blocks.resultType))
  yield
  if (turns.length > 0 || system.length === 0) return { system, turns: yield* withUserAtEnds(answerable(messages, turns), blocks, context) }
  const at = messages[0]?.at ?? 'messages'
  tellSystemAlone(at, context)
  return { system: [], turns: [{ role: 'user', blocks: system, at }] }
}

/** The conversation ends with the beginning of an answer, which the model is to go on with. */
export const isPrefilled = <Block>(turns: readonly Turn<Block>[], isPaused: (turn: Turn<Block>) => boolean = () => false): boolean => {
  const last = turns.at(-1)
  return last?.role === 'assistant' && !isPaused(last)
}

/** A turn of the assistant must not end in thinking; the beginning of an answer holds none, and does not end in white space. */
function* withLawfulAnswers<Block extends { readonly type: string }>(
  turns: readonly Turn<Block>[],
  { thinking, textOf, withText, isPaused = () => false }: Blocks<Block>,
  { lose, mapped }: TurnContext,
): Steps<readonly Turn<Block>[]> {
  const isThinking = ({ type }: Block): boolean => thinking.has(type)
  const lawful = turns.map((turn, index) => {
    if (turn.role !== 'assistant') return turn
    const begun = index === turns.length - 1 && !isPaused(turn)
    const end = turn.blocks.findLastIndex((block) => !isThinking(block)) + 1
    const kept = begun ? turn.blocks.filter((block) => !isThinking(block)) : turn.blocks.slice(0, end)
    if (kept.length < turn.blocks.length) lose(turn.at, 'Thinking that no words and no call follow was left out.')
    return { ...turn, blocks: kept }
  })
  const begun = lawful.at(-1)
  const last = begun?.role === 'assistant' && !isPaused(begun) ? begun.blocks.at(-1) : undefined
  const text = last === undefined ? null : textOf(last)
  const said = text?.trimEnd() ?? null
  if (begun === undefined || last === undefined || said === null || said === text) return lawful
  mapped(begun.at, 'White space at the end of the beginning of the answer was left out.')
  return [...lawful.slice(0, -1), { ...begun, blocks: [...begun.blocks.slice(0, -1), yield* withText(said, last)] }]
}

/** The user has the first word, and the last one before a model that does not go on with the beginning of an answer. */
function* withUserAtEnds<Block>(
  turns: readonly Turn<Block>[],
  { withText, isPaused }: Blocks<Block>,
  { target, rules, mapped }: TurnContext,
): Steps<readonly Turn<Block>[]> {
  const [first, last] = [turns[0], turns.at(-1)]
  if (first === undefined || last === undefined) return turns
  const opens = first.role === 'user'
  const closes = rules.prefill || !isPrefilled(turns, isPaused)
  if (opens && closes) return turns
  const context = { model: target.upstreamModel, mapped }
  const saying = function* (text: string, at: string): Steps<Turn<Block>> {
    return { role: 'user', blocks: [yield* withText(text)], at }
  }
  return [
    ...(opens ? [] : [yield* saying(firstWords(first.at, context), first.at)]),
    ...turns,
    ...(closes ? [] : [yield* saying(lastWords(last.at, context), last.at)]),
  ]
}

const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer'

function* turnOf<Block>(message: Message, { encode }: Blocks<Block>): Steps<Turn<Block>> {
  const { role, at = 'messages' } = message
  return { role: role === 'developer' ? 'system' : role, blocks: yield* encode(message), at }
}

/** Neighbours of one role are one turn; what has nothing left to say is none. */
const joined = <Block>(pieces: readonly Turn<Block>[]): readonly Turn<Block>[] => {
  const turns: (Turn<Block> & { readonly blocks: Block[] })[] = []
  for (const piece of pieces) {
    if (piece.blocks.length === 0) continue
    const last = turns.at(-1)
    if (last?.role !== piece.role) turns.push({ ...piece, blocks: [...piece.blocks] })
    else for (const block of piece.blocks) last.blocks.push(block)
  }
  return turns
}

/** A system turn follows a user's and comes last or before the assistant's: anywhere else it is refused. */
const settled = <Block>(turns: readonly Turn<Block>[], context: TurnContext): readonly Turn<Block>[] =>
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
