/** Makes the steps of a streamed answer: its start, one piece after the other, its usage and its end. */
import type { FinishReason, ModelEvent } from '../../canonical/event.ts'
import { usageOf } from '../../canonical/usage.ts'
import type { Block } from './block.ts'
import { inputTokenCount } from './prompt-facts.ts'
import type { SandboxInput, SandboxStep } from './step.ts'
import { stoppedBlocks } from './stop-sequences.ts'
import { wordCount, words } from './words.ts'

interface AnswerOptions {
  readonly finish?: FinishReason
  /** The wait before the first token, and the wait between tokens if the request does not set one. */
  readonly firstTokenMs?: number
  readonly tokenMs?: number
  /** Tokens that are spent on thinking that is not shown. */
  readonly hiddenReasoningTokens?: number
  /** The step that replaces the end of the answer. */
  readonly ending?: SandboxStep
}

/**
 * If `maxOutputTokens` cuts the answer short, it finishes with `length`. Tokens are made as they are sent, so that a long answer is never
 * in memory as tokens.
 */
export function* answer(input: SandboxInput, whole: readonly Block[], options: AnswerOptions = {}): Generator<SandboxStep> {
  const { finish = 'stop', firstTokenMs = 0, hiddenReasoningTokens = 0 } = options
  const { blocks, sequence } = stoppedBlocks(whole, input.prompt.settings.stop?.value ?? [])
  // A stop sequence ends the answer before its scripted ending.
  const ending = sequence === null ? options.ending : undefined
  const tokenMs = input.settings.delayMs ?? options.tokenMs ?? 0
  const allowed = input.maxOutputTokens ?? Number.POSITIVE_INFINITY
  const expected = blocks.reduce((sum, block) => sum + tokenCount(block), 0)
  const inputFresh = inputTokenCount(input.prompt)

  yield frame({ type: 'start', upstreamId: null }, { type: 'usage', usage: usageOf({ inputFresh }) })
  if (firstTokenMs > 0) yield { kind: 'wait', ms: firstTokenMs }
  // A long text comes in fewer, larger frames, unless a delay was asked for.
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

/** The approximate number of frames for a text without delay. */
const FRAMES_MAX = 500

type Token = Extract<ModelEvent, { type: Block['type'] | 'tool-arguments' }>

/** Joins text that is sent at once into one event. */
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

/** Approximately the number that `tokensOf` yields. */
const tokenCount = (block: Block): number =>
  block.type === 'tool-call' ? 1 + Math.ceil(block.json.length / JSON_PIECE_CHARACTERS) : wordCount(block.text)

/** Pieces of a few characters, as models send them, cut at arbitrary places. */
const JSON_PIECE_CHARACTERS = 12
const JSON_PIECE = new RegExp(`[^]{1,${JSON_PIECE_CHARACTERS}}`, 'gu')

const frame = (...events: ModelEvent[]): SandboxStep => ({ kind: 'frame', events })
