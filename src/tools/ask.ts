/**
 * The interface by which a tool calls a model: in a separate conversation, for the same caller (implemented in
 * inference/loop/ask-model.ts).
 */
import type { Message } from '../canonical/prompt.ts'
import type { ServerOutcome } from '../canonical/server-tools.ts'
import type { JsonObject } from '../lib/json/json.ts'

export interface Question {
  readonly model: string
  /** Tool calls in it, and their results, are written as text. */
  readonly messages: readonly Message[]
  /**
   * The conversation of the calling model. User texts in `messages` may have been written by that model, so its own input is given
   * here.
   */
  readonly given?: readonly Message[]
  /** Further members of a Chat Completions body: limits, reasoning, service tools. */
  readonly options: JsonObject
  /** The question is for an advisor, for which the interfaces have a type of their own. */
  readonly isAdvice?: true
  /**
   * For a model that may call functions: its output after the messages, and the results of its calls, as Responses items. `options`
   * are then members of a Responses body, and the answer also comes as items.
   */
  readonly items?: readonly JsonObject[]
  /** Called with each piece of the answer's text as it arrives; if absent, the answer is requested as a whole. */
  readonly onText?: TakePiece
  readonly onReasoning?: TakePiece
}

/** A returned promise means back-pressure: it settles when the reader can take more pieces. */
export type TakePiece = (text: string) => Promise<void> | undefined

export type ModelAnswer =
  | {
      readonly fault: null
      /** The model that answered. */
      readonly model: string
      readonly text: string
      /** Images as data: or https: URLs. */
      readonly pictures: readonly string[]
      /** Set if items were requested; function calls among them are for the caller to handle. */
      readonly items: readonly JsonObject[]
    }
  | {
      readonly fault: NonNullable<ServerOutcome['fault']>
      readonly model: string
      /** The caller's budgets do not cover it. */
      readonly isUnpaid: boolean
    }

/**
 * Never rejects. The call is part of the request that makes it: that request's guardrails, routing rules and budgets apply, it
 * bears the cost, and the call ends when the request ends. The called model has no advisor, subagent or fusion.
 */
export type AskModel = (question: Question, signal: AbortSignal) => Promise<ModelAnswer>
