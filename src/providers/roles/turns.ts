/**
 * Arranges a conversation for the dialects with a system prompt and alternating turns of user and assistant (Messages, Converse),
 * independent of the form of their blocks.
 */
import type { Message, Prompt } from '../../canonical/prompt.ts'
import { textSize } from '../../canonical/text-size.ts'
import { eachInSteps, type Steps } from '../../lib/steps.ts'
import { answerable, refuseUnasked } from '../tools/answerable.ts'
import { firstWords, lastWords, tellSystemAlone } from './lacking-turns.ts'

export interface Turn<Block> {
  readonly role: 'user' | 'assistant' | 'system'
  readonly blocks: readonly Block[]
  /** The client's path of the place at which the turn begins in the request. */
  readonly at: string
  /** A system turn that changes the effort. It may have no blocks, and then it may stand anywhere. */
  readonly effort?: string
}

export interface Conversation<Block> {
  readonly system: readonly Block[]
  readonly turns: readonly Turn<Block>[]
}

interface TurnContext {
  readonly prompt: Pick<Prompt, 'messages'>
  readonly target: { readonly upstreamModel: string }
  readonly rules: {
    /** The model knows a system message between turns. */
    readonly systemTurns: boolean
    /** The model continues the beginning of an answer. */
    readonly prefill: boolean
  }
  lose(field: string, message: string): void
  mapped(field: string, message: string): void
}

interface Blocks<Block> {
  readonly encode: (message: Message) => Steps<readonly Block[]>
  /** The type of a block with a tool's result. */
  readonly resultType: string
  /** The types of blocks with thinking. */
  readonly thinking: ReadonlySet<string>
  /** The text of a text block; null for any other block. */
  readonly textOf: (block: Block) => string | null
  /** A new text block; if one is given, that block with another text. */
  readonly withText: (text: string, block?: Block) => Steps<Block>
  /** The provider itself was at work in the turn, and continues it. */
  readonly isPaused?: (turn: Turn<Block>) => boolean
  /** A turn of the assistant may come first: it stands for what was said before. */
  readonly opens?: (turn: Turn<Block>) => boolean
  /** Adds what a turn of this dialect still needs. */
  readonly complete?: (turn: Turn<Block>) => Turn<Block>
}

/**
 * System messages at the beginning become the system prompt. Later ones keep their places, since to move them to the front would change the
 * beginning of the prompt and miss its cache on every turn (docs/contract/requests.md#order-of-messages): each becomes a `system` turn if
 * the model knows one and allows it there, else text of the user's turn at that place. Throws `invalid_prompt` if there is nothing to
 * answer.
 */
export function* arrangeTurns<Block extends { readonly type: string }>(
  context: TurnContext,
  blocks: Blocks<Block>,
): Steps<Conversation<Block>> {
  const { messages } = context.prompt
  const first = messages.findIndex((message) => !isSystem(message))
  const leading = messages.slice(0, first < 0 ? messages.length : first)
  const system = (yield* eachInSteps(leading, blocks.encode, textSize)).flat()
  const rest = first < 0 ? [] : yield* eachInSteps(messages.slice(first), (message) => turnOf(message, blocks), textSize)
  const pieces = [...leading.flatMap(changeAlone<Block>), ...rest]
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
  if (turns.some(saysAnything) || system.length === 0)
    return { system, turns: yield* withUserAtEnds(answerable(messages, turns), blocks, context) }
  const at = messages[0]?.at ?? 'messages'
  tellSystemAlone(at, context)
  return { system: [], turns: [...turns, { role: 'user', blocks: system, at }] }
}

/** Says whether the conversation ends with the beginning of an answer, which the model has to continue. */
export const isPrefilled = <Block>(turns: readonly Turn<Block>[], isPaused: (turn: Turn<Block>) => boolean = () => false): boolean => {
  const last = turns.findLast(saysAnything)
  return last?.role === 'assistant' && !isPaused(last)
}

/** A turn of the assistant must not end in thinking. The beginning of an answer must hold no thinking and must not end in white space. */
function* withLawfulAnswers<Block extends { readonly type: string }>(
  turns: readonly Turn<Block>[],
  { thinking, textOf, withText, isPaused = () => false }: Blocks<Block>,
  { lose, mapped }: TurnContext,
): Steps<readonly Turn<Block>[]> {
  const isThinking = ({ type }: Block): boolean => thinking.has(type)
  const end = turns.findLastIndex(saysAnything)
  const lawful = turns.map((turn, index) => {
    if (turn.role !== 'assistant') return turn
    const begun = index === end && !isPaused(turn)
    const said = turn.blocks.findLastIndex((block) => !isThinking(block)) + 1
    const kept = begun ? turn.blocks.filter((block) => !isThinking(block)) : turn.blocks.slice(0, said)
    if (kept.length < turn.blocks.length) lose(turn.at, 'Thinking that no words and no call follow was left out.')
    return { ...turn, blocks: kept }
  })
  const begun = lawful[end]
  const last = begun?.role === 'assistant' && !isPaused(begun) ? begun.blocks.at(-1) : undefined
  const text = last === undefined ? null : textOf(last)
  const said = text?.trimEnd() ?? null
  if (begun === undefined || last === undefined || said === null || said === text) return lawful
  mapped(begun.at, 'White space at the end of the beginning of the answer was left out.')
  return lawful.with(end, { ...begun, blocks: [...begun.blocks.slice(0, -1), yield* withText(said, last)] })
}

/** The user must have the first turn, and also the last one for a model that does not continue the beginning of an answer. */
function* withUserAtEnds<Block>(
  turns: readonly Turn<Block>[],
  { withText, isPaused, opens: mayOpen = () => false }: Blocks<Block>,
  { target, rules, mapped }: TurnContext,
): Steps<readonly Turn<Block>[]> {
  const first = turns.find(saysAnything)
  const last = turns.findLast(saysAnything)
  if (first === undefined || last === undefined) return turns
  const opens = first.role === 'user' || mayOpen(first)
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
  const { role, at = 'messages', effort } = message
  const turn: Turn<Block> = { role: role === 'developer' ? 'system' : role, blocks: yield* encode(message), at }
  return effort === undefined ? turn : { ...turn, effort }
}

const saysAnything = ({ blocks }: Turn<unknown>): boolean => blocks.length > 0

/** The change of effort that a system message makes, without its words, which are sent elsewhere. */
const changeAlone = <Block>({ effort, at = 'messages' }: Pick<Message, 'effort' | 'at'>): readonly Turn<Block>[] =>
  effort === undefined ? [] : [{ role: 'system', blocks: [], at, effort }]

/** Adjacent turns of one role are joined; turns without blocks are removed. A change of effort stays a turn of its own. */
const joined = <Block>(pieces: readonly Turn<Block>[]): readonly Turn<Block>[] => {
  const turns: (Turn<Block> & { readonly blocks: Block[] })[] = []
  for (const piece of pieces) {
    if (piece.blocks.length === 0 && piece.effort === undefined) continue
    const last = turns.at(-1)
    if (last?.role !== piece.role || last.effort !== undefined || piece.effort !== undefined)
      turns.push({ ...piece, blocks: [...piece.blocks] })
    else for (const block of piece.blocks) last.blocks.push(block)
  }
  return turns
}

/** System turns with words must follow a user's turn and be the last or come before the assistant's: anywhere else they are refused. */
const settled = <Block>(turns: readonly Turn<Block>[], context: TurnContext): readonly Turn<Block>[] => {
  let before: Turn<Block>['role'] | undefined
  return turns.flatMap((turn, index): readonly Turn<Block>[] => {
    if (turn.role !== 'system') before = turn.role
    if (turn.role !== 'system' || !saysAnything(turn)) return [turn]
    if (context.rules.systemTurns && before === 'user' && roleBehind(turns, index) !== 'user') return [turn]
    context.mapped(turn.at, `${context.target.upstreamModel} takes no system message here; it was sent in its place as text of the user.`)
    const { blocks, at } = turn
    return [...changeAlone<Block>(turn), { role: 'user', blocks, at }]
  })
}

/** The role of the next turn that is not a system turn. */
const roleBehind = (turns: readonly Turn<unknown>[], index: number): Turn<unknown>['role'] | undefined => {
  let next = index + 1
  while (turns[next]?.role === 'system') next += 1
  return turns[next]?.role
}

/** Results of tools have to come before everything else in the user's turn. */
const resultsFirst = <Block extends { readonly type: string }>(turn: Turn<Block>, resultType: string): Turn<Block> => {
  const results = turn.blocks.filter(({ type }) => type === resultType)
  return turn.role === 'user' && results.length > 0
    ? { ...turn, blocks: [...results, ...turn.blocks.filter(({ type }) => type !== resultType)] }
    : turn
}
