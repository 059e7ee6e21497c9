/** How a tool asks a model: in a conversation of its own, for the same caller (inference/loop/ask-model.ts answers). */
import type { Message } from '../canonical/prompt.ts'
import type { ServerOutcome } from '../canonical/server-tools.ts'
import type { JsonObject } from '../lib/json.ts'

export interface Question {
  readonly model: string
  /** Calls of tools in it, and their results, are written as text. */
  readonly messages: readonly Message[]
  /** The conversation of the model that asks: the user's words in `messages` may be that model's own, and what it was given stands here. */
  readonly given?: readonly Message[]
  /** Further members of a Chat Completions body: limits, reasoning, tools of the service. */
  readonly options: JsonObject
  /** It is an advisor’s: the interfaces have a word for that. */
  readonly isAdvice?: true
  /**
   * For a model that may call functions: what it said and called behind the messages, and what came of that, as items of Responses.
   * `options` are members of a Responses body then, and the answer comes as items too.
   */
  readonly items?: readonly JsonObject[]
  /** Called with each piece of the answer's text as it comes; absent: the answer is asked for as a whole. */
  readonly onText?: TakePiece
  readonly onReasoning?: TakePiece
}

/** Where it returns a promise, the reader of the pieces is behind. */
export type TakePiece = (text: string) => Promise<void> | undefined

export type ModelAnswer =
  | {
      readonly fault: null
      /** The one that answered. */
      readonly model: string
      readonly text: string
      /** data: or https: addresses. */
      readonly pictures: readonly string[]
      /** Where items were asked: calls of functions among them are for somebody else to run. */
      readonly items: readonly JsonObject[]
    }
  | {
      readonly fault: NonNullable<ServerOutcome['fault']>
      readonly model: string
      /** The budgets of the caller do not bear it. */
      readonly isUnpaid: boolean
    }

/**
 * Never rejects. What is asked of a model here is part of the request that asks: its guardrails, routing rules and budgets
 * hold, its cost is that request's, and it ends when that one does. Such a model has no advisor, subagent or fusion.
 */
export type AskModel = (question: Question, signal: AbortSignal) => Promise<ModelAnswer>
