/**
 * One dialect that clients speak: it parses requests into a Call, and renders model events as a whole answer or as a stream in the
 * dialect's shape. A format knows nothing of providers, storage or HTTP.
 */
import type { Call, ClientDialect } from '../canonical/call.ts'
import type { Cost } from '../canonical/cost.ts'
import type { Frame } from '../canonical/event.ts'
import type { HiddenTexts } from '../canonical/hidden-prompt.ts'
import type { ServerToolUse } from '../canonical/server-tools.ts'
import type { Iteration, Usage } from '../canonical/usage.ts'
import type { Warning } from '../canonical/warning.ts'
import type { PresetContent } from '../contract/preset.ts'
import type { GatewayError } from '../errors.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import type { JsonObject } from '../lib/json/json.ts'
import type { Steps } from '../lib/steps.ts'

/** The facts about an answer that are known when its first piece is rendered. */
export interface AnswerHead {
  /** `gen-…`: the id of the generation record, and of the answer on every interface. */
  readonly generationId: string
  readonly createdSeconds: number
  /** Our id of the model that answers; the requested one while none has answered. */
  readonly model: string
  /** Display name of the provider; null while none has answered. */
  readonly provider: string | null
  /** The client understands only the legacy `function_call` form of its dialect. */
  readonly legacyFunctions?: true | undefined
  /** The request with its preset applied; some dialects echo parts of it. */
  readonly request: JsonBody
  /**
   * The client's own instructions if its preset has some too, which are not echoed. Absent: the request's instructions are the
   * client's.
   */
  readonly instructions?: string | null | undefined
  /** The texts of the preset that must not be shown. Absent if there are none. */
  readonly hidden?: HiddenTexts | undefined
  /** An estimate for dialects that must state input tokens before the provider does. */
  readonly inputTokensEstimate: number
  /** The bodies that were sent to providers, one per attempt, if the client asked to see them. */
  readonly echoes?: readonly Echo[] | undefined
  /**
   * Called with the number of characters of the answer that a stream keeps for later events. Absent: they are not bounded. Throws
   * `provider_overloaded` if the process keeps too many.
   */
  readonly keep?: KeepText | undefined
}

export type KeepText = (characters: number) => void

/** A body that was sent upstream, and its destination. */
export interface Echo {
  readonly provider: string
  readonly model: string
  /** JSON text, redacted. */
  readonly body: string
}

/** The facts about an answer that has ended. */
export interface AnswerTail {
  readonly usage: Usage
  readonly cost: Cost
  /** Usage of the tools that the service ran; absent if it ran none. */
  readonly serverTools?: ServerToolUse | undefined
  /** The model calls of the answer, in order; absent if the service ran no tool. */
  readonly iterations?: readonly Iteration[] | undefined
  /** When the answer ended, in Unix seconds. */
  readonly endedSeconds: number
  /** The routing metadata, under the name the client asked for; null when it did not ask. */
  readonly metadata: { readonly field: 'service_metadata' | 'openrouter_metadata'; readonly value: JsonObject } | null
  /** A judge's verdict on each message of the model; absent if no judge was asked. */
  readonly alignment?: JsonObject | undefined
}

/** Text of an event stream. A long text is an iterable of pieces, each made on demand, so that other requests get a turn between them. */
export type Written = string | Iterable<string>

/**
 * Renders one stream. Every method returns the text of whole SSE frames, or '' if there is nothing to send. It is a state machine:
 * `finish` and `fail` are terminal and end with `data: [DONE]`; a call after them throws.
 */
export interface StreamRenderer<Text extends Written = string> {
  frames(frames: readonly Frame[]): Text
  finish(tail: AnswerTail): Text
  fail(error: GatewayError, tail: AnswerTail | null): Text
}

export interface ParsedCall {
  readonly call: Call
  readonly warnings: readonly Warning[]
}

export interface ClientFormat {
  readonly dialect: ClientDialect

  /** Returns the part of a body that a preset keeps. Throws `invalid_request` naming every faulty path. */
  presetContent(body: unknown): { readonly content: PresetContent; readonly warnings: readonly Warning[] }

  /** Parses and validates the request, with warnings for what it cannot honour. Throws `invalid_request`, `invalid_prompt`. */
  parseCall(body: JsonBody): Steps<ParsedCall>

  /**
   * Renders a whole answer as JSON text. If a failure ended it, the failure is shown in the dialect's form next to the content
   * produced before it. The caller should spread the steps over several turns for a large answer.
   */
  renderAnswer(head: AnswerHead, answer: Frame, tail: AnswerTail, failure: GatewayError | null): Steps<string>

  openStream(head: AnswerHead): StreamRenderer<Written>

  /**
   * Renders the body of an error without an answer. `head` is null before routing; after it, the body names the generation.
   * `answered`: the dialect turns this failure into an answer, whose status is 200 (docs/contract/errors.md#length-errors).
   */
  renderError(error: GatewayError, head: AnswerHead | null, tail: AnswerTail | null): { readonly body: string; readonly answered: boolean }
}
