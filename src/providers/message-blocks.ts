/** The parts of one message as content blocks, for the dialects whose blocks are alike (Messages, Converse). */
import type { Message, Part } from '../canonical/prompt.ts'
import type { ReasoningProof } from '../canonical/reasoning.ts'
import { mediaOfResult, piecesOfResult } from '../canonical/result-pieces.ts'
import type { Steps } from '../lib/steps.ts'
import type { Losses } from './losses/losses.ts'
import type { Target } from './provider.ts'
import { uncarried } from './losses/uncarried.ts'

/** Holds JSON text, so that arguments which a model wrote go back exactly as it wrote them. */
export interface Block {
  readonly type: string
  readonly json: string
  /** The text, if the block is one of text that was made here. */
  readonly text?: string
}

export type PartOf<Type extends Part['type']> = Extract<Part, { readonly type: Type }>
export type MediaPart = PartOf<'image' | 'file' | 'audio' | 'video'>

/** Makes the blocks of a dialect. */
export interface BlockWords<Made extends Block> {
  text(part: PartOf<'text' | 'refusal'>): Steps<Made>
  /** Says whether the model that is asked can have signed thinking. */
  readonly signs: boolean
  thinking(text: string, proof: ReasoningProof): Steps<Made>
  /** Encodes thinking that nobody signed; absent if the dialect cannot take it back. */
  unsigned?(text: string): Steps<Made>
  toolUse(part: PartOf<'tool-call'>, at: string): Made
  /** `pieces`: the blocks of the texts and media of the result. */
  toolResult(part: PartOf<'tool-result'>, pieces: readonly Made[], at: string): Steps<Made>
  /** The kinds of media that the model takes at all. */
  readonly media: ReadonlySet<Part['type']>
  /** Returns a block, or the reason why there is none, as words to follow the provider's name. */
  mediaBlock(part: MediaPart): Steps<Made | string>
  /** Adds the cache mark of the block's part, for a dialect in which the mark follows the block. */
  marked?(block: Made, part: Part, at: string): Made
}

type BlockContext = Pick<Losses, 'lose' | 'refuse'> & { readonly target: Pick<Target, 'providerName' | 'upstreamModel' | 'modelId'> }

/** Encodes the parts of one message. A property that the dialect has no word for is reported and left out. */
export function* encodeParts<Made extends Block>(message: Message, context: BlockContext, words: BlockWords<Made>): Steps<Made[]> {
  const at = message.at ?? 'messages'
  if (message.name !== undefined) context.lose(`${at}.name`, `${context.target.providerName} has no names of speakers; it was left out.`)
  const blocks: Made[] = []
  for (const part of message.parts) {
    const block = yield* encodePart(part, { role: message.role, at }, context, words)
    if (block !== null) blocks.push(words.marked?.(block, part, at) ?? block)
  }
  return blocks
}

interface Place {
  readonly role: Message['role']
  readonly at: string
}

function* encodePart<Made extends Block>(
  part: Part,
  { role, at }: Place,
  context: BlockContext,
  words: BlockWords<Made>,
): Steps<Made | null> {
  const { providerName } = context.target
  switch (part.type) {
    case 'text':
      if ((part.annotations ?? []).length > 0)
        context.lose(at, `The sources of an earlier answer mean nothing to ${providerName}; they were left out.`)
      return yield* textBlock(part, at, context, words)
    case 'refusal':
      return yield* textBlock(part, at, context, words)
    case 'reasoning': {
      if (role !== 'assistant') break
      if (part.proof === undefined && words.unsigned !== undefined) return part.text === '' ? null : yield* words.unsigned(part.text)
      const proof = ownProof(part, at, context, words.signs)
      return proof === null ? null : yield* words.thinking(part.text, proof)
    }
    case 'tool-call':
      if (role !== 'assistant') break
      if (part.proof !== undefined)
        context.lose(at, `The proof beside the call of ${part.name} means nothing to ${providerName}; it was left out.`)
      return words.toolUse(part, at)
    case 'tool-result': {
      if (role !== 'user') break
      const result = lawfulFailure(part, at, context, words.signs)
      const pieces: Made[] = []
      for (const piece of piecesOfResult(result)) {
        const block =
          piece.type !== 'text'
            ? yield* encodePart(piece, { role, at }, context, words)
            : isVisible(piece.text)
              ? yield* words.text({ type: 'text', text: piece.text })
              : null
        if (block !== null) pieces.push(block)
      }
      return yield* words.toolResult(result, pieces, at)
    }
    case 'image':
    case 'file':
    case 'audio':
    case 'video': {
      if (role !== 'user') break
      if (part.type === 'image' && part.detail !== undefined && part.detail !== 'auto')
        context.lose(at, `${providerName} chooses the detail of a picture itself; ${part.detail} was left out.`)
      if (!words.media.has(part.type)) break
      const made = yield* words.mediaBlock(part)
      if (typeof made !== 'string') return made
      uncarried(part, { at, role }, context, made)
      return null
    }
    case 'unknown':
  }
  uncarried(part, { at, role }, context)
  return null
}

/** Both APIs refuse the mark of a failure on an empty result, and Claude refuses it beside pictures. */
const lawfulFailure = (
  part: PartOf<'tool-result'>,
  at: string,
  { lose, target }: BlockContext,
  isClaude: boolean,
): PartOf<'tool-result'> => {
  if (part.isError !== true) return part
  if (mediaOfResult(part).length === 0) return isVisible(part.text) ? part : { ...part, text: FAILED_SILENTLY }
  if (!isClaude) return part
  lose(at, failedBesideMedia(target.providerName))
  return { ...part, isError: false }
}

export const FAILED_SILENTLY = 'The tool failed without a message.'

export const failedBesideMedia = (providerName: string): string =>
  `${providerName} takes nothing but text in the result of a failed tool; the mark of the failure was left out.`

/** Blocks of text without a visible character are left out, because the dialects refuse them. */
function* textBlock<Made extends Block>(
  part: PartOf<'text' | 'refusal'>,
  at: string,
  { lose, target }: BlockContext,
  words: BlockWords<Made>,
): Steps<Made | null> {
  if (isVisible(part.text)) return yield* words.text(part)
  if (part.text !== '' || (part.type === 'text' && part.cache !== undefined))
    lose(at, `${target.providerName} takes no empty text; it was left out.`)
  return null
}

export const isVisible = (text: string): boolean => text.trim() !== ''

/**
 * For a model that signs its thinking, only what this very model signed goes back, byte for byte
 * (docs/contract/requests.md#proofs-of-reasoning); it never becomes visible text.
 */
const ownProof = ({ proof }: PartOf<'reasoning'>, at: string, { lose, target }: BlockContext, signs: boolean): ReasoningProof | null => {
  const { providerName, upstreamModel, modelId } = target
  if (proof === undefined || proof.format !== 'anthropic-claude-v1' || !signs)
    lose(at, `Thinking that ${upstreamModel} did not sign means nothing to ${providerName}; it was left out.`)
  else if (proof.model !== undefined && proof.model !== modelId)
    lose(at, `The thinking of ${proof.model} cannot be given to ${modelId}; it was left out.`)
  else return proof
  return null
}
