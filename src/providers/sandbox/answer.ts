/** An answer as the steps of a stream: opened, one piece after the other, its usage and its end. */
import type { FinishReason, ModelEvent } from '../../canonical/event.ts'
import { usageOf } from '../../canonical/usage.ts'
import type { Block } from './block.ts'
import { inputTokenCount } from './prompt-facts.ts'
import type { SandboxInput, SandboxStep } from './step.ts'
import { stoppedBlocks } from './stop-sequences.ts'
import { wordCount, words } from './words.ts'

interface AnswerOptions {
  readonly finish?: FinishReason
  /** Before the first token, and between tokens where the request does not say. */
  readonly firstTokenMs?: number
  readonly tokenMs?: number
  /** Spent without anything to show for it. */
  readonly hiddenReasoningTokens?: number
  /** Stands where the end of the answer should be. */
  readonly ending?: SandboxStep
}

/**
 * `maxOutputTokens` cuts it short, with finish `length`. Tokens are made as they are said, so that a long answer is never in
 * memory as tokens.
 */
export function* answer(input: SandboxInput, whole: readonly Block[], options: AnswerOptions = {}): Generator<SandboxStep> {
  const { finish = 'stop', firstTokenMs = 0, hiddenReasoningTokens = 0 } = options
  const { blocks, sequence } = stoppedBlocks(whole, input.prompt.settings.stop?.value ?? [])
  // Behind the sequence nothing was to be said or to go wrong any more.
  const ending = sequence === null ? options.ending : undefined
  const tokenMs = input.settings.delayMs ?? options.tokenMs ?? 0
  const allowed = input.maxOutputTokens ?? Number.POSITIVE_INFINITY
  const expected = blocks.reduce((sum, block) => sum + tokenCount(block), 0)
  const inputFresh = inputTokenCount(input.prompt)

  yield frame({ type: 'start', upstreamId: null, upstreamModel: null }, { type: 'usage', usage: usageOf({ inputFresh }) })
  if (firstTokenMs > 0) yield { kind: 'wait', ms: firstTokenMs }
  // A long text comes in fewer, larger frames, unless it was asked to come slowly.
  const batch = tokenMs > 0 ? 1 : Math.max(1, Math.ceil(Math.min(expected, allowed) / FRAMES_MAX))
  let pending: Token[] = []
  let said = 0
  let reasoning = 0
  let isWhole = true
  for (const token of tokensOf(blocks)) {
    if (said === allowed) {
      isWhole = false
      break
    }
    if (said > 0 && tokenMs > 0) yield { kind: 'wait', ms: tokenMs }
    said += 1
    if (token.type === 'reasoning') reasoning += 1
    pending.push(token)
    if (pending.length < batch) continue
    yield frame(...joined(pending))
    pending = []
  }
  if (pending.length > 0) yield frame(...joined(pending))
  const usage = usageOf({ inputFresh, output: said - reasoning, outputReasoning: reasoning + hiddenReasoningTokens })
  if (ending === undefined) {
    yield frame({ type: 'usage', usage }, finishOf(isWhole ? finish : 'length', isWhole ? sequence : null))
  } else {
    yield frame({ type: 'usage', usage })
    yield ending
  }
}

const finishOf = (reason: FinishReason, sequence: string | null): ModelEvent =>
  sequence === null ? { type: 'finish', reason, native: null } : { type: 'finish', reason: 'stop', native: null, stopSequence: sequence }

/** Frames of a text that is said at once, about. */
const FRAMES_MAX = 500

type Token = Extract<ModelEvent, { type: Block['type'] | 'tool-arguments' }>

/** Text that is said at once is one event. */
const joined = (tokens: readonly Token[]): Token[] => {
  const events: Token[] = []
  for (const token of tokens) {
    const last = events.at(-1)
    if (last !== undefined && isText(last) && isText(token) && last.type === token.type) {
      events[events.length - 1] = { type: last.type, text: last.text + token.text }
    } else events.push(token)
  }
  return events
}

const isText = (token: Token): token is Extract<Token, { readonly text: string }> => 'text' in token

function* tokensOf(blocks: readonly Block[]): Generator<Token> {
  let index = 0
  for (const block of blocks) {
    if (block.type !== 'tool-call') {
      for (const text of words(block.text)) yield { type: block.type, text }
      continue
    }
    yield { type: 'tool-call', index, id: block.id, name: block.name }
    for (const [json] of block.json.matchAll(JSON_PIECE)) yield { type: 'tool-arguments', index, json }
    index += 1
  }
}

/** About as many as `tokensOf` gives. */
const tokenCount = (block: Block): number =>
  block.type === 'tool-call' ? 1 + Math.ceil(block.json.length / JSON_PIECE_CHARACTERS) : wordCount(block.text)

/** Pieces of a few characters, as models send them: their borders mean nothing. */
const JSON_PIECE_CHARACTERS = 12
const JSON_PIECE = new RegExp(`[^]{1,${JSON_PIECE_CHARACTERS}}`, 'gu')

const frame = (...events: ModelEvent[]): SandboxStep => ({ kind: 'frame', events })
