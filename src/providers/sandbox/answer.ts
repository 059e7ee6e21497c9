/** An answer as the steps of a stream: opened, one piece after the other, its usage and its end. */
import type { FinishReason, ModelEvent } from '../../canonical/event.ts'
import { usageOf } from '../../canonical/usage.ts'
import { inputTokenCount } from './prompt-facts.ts'
import type { SandboxInput, SandboxStep } from './step.ts'
import { splitWords } from './words.ts'

export type Block =
  | { readonly type: 'text' | 'reasoning' | 'refusal'; readonly text: string }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly json: string }

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

/** `maxOutputTokens` cuts it short, with finish `length`. */
export function* answer(input: SandboxInput, blocks: readonly Block[], options: AnswerOptions = {}): Generator<SandboxStep> {
  const { finish = 'stop', firstTokenMs = 0, hiddenReasoningTokens = 0, ending } = options
  const tokenMs = input.settings.delayMs ?? options.tokenMs ?? 0
  const tokens = blocks.flatMap(tokensOf)
  const said = tokens.slice(0, input.maxOutputTokens ?? tokens.length)
  const inputFresh = inputTokenCount(input.prompt)

  yield frame({ type: 'start', upstreamId: null, upstreamModel: null }, { type: 'usage', usage: usageOf({ inputFresh }) })
  if (firstTokenMs > 0) yield { kind: 'wait', ms: firstTokenMs }
  // A long text comes in fewer, larger frames, unless it was asked to come slowly.
  const batch = tokenMs > 0 ? 1 : Math.ceil(said.length / FRAMES_MAX)
  for (let from = 0; from < said.length; from += batch) {
    if (from > 0 && tokenMs > 0) yield { kind: 'wait', ms: tokenMs }
    yield frame(...said.slice(from, from + batch).flatMap(({ events }) => events))
  }
  const reasoning = said.filter((token) => token.reasoning).length
  const usage = usageOf({ inputFresh, output: said.length - reasoning, outputReasoning: reasoning + hiddenReasoningTokens })
  if (ending === undefined) {
    yield frame({ type: 'usage', usage }, { type: 'finish', reason: said.length < tokens.length ? 'length' : finish, native: null })
  } else {
    yield frame({ type: 'usage', usage })
    yield ending
  }
}

/** Of a text that is said at once. */
const FRAMES_MAX = 500

interface Token {
  readonly reasoning: boolean
  readonly events: readonly ModelEvent[]
}

const tokensOf = (block: Block, at: number, blocks: readonly Block[]): Token[] => {
  if (block.type !== 'tool-call') {
    return splitWords(block.text).map((text) => ({ reasoning: block.type === 'reasoning', events: [{ type: block.type, text }] }))
  }
  const index = blocks.slice(0, at).filter(({ type }) => type === 'tool-call').length
  const { id, name } = block
  return [
    { reasoning: false, events: [{ type: 'tool-call', index, id, name }] },
    ...splitJson(block.json).map((json): Token => ({ reasoning: false, events: [{ type: 'tool-arguments', index, json }] })),
  ]
}

/** Pieces of a few characters, as models send them: their borders mean nothing. */
const splitJson = (json: string): string[] => json.match(/[^]{1,12}/gu) ?? []

const frame = (...events: ModelEvent[]): SandboxStep => ({ kind: 'frame', events })
