/**
 * One dialect that clients speak: it parses requests into a Call, and renders what the model says, whole or as a
 * stream, in its own shape. A format knows nothing of providers, storage or HTTP.
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
import type { JsonBody } from '../lib/json-body.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Steps } from '../lib/steps.ts'

/** The facts of an answer when its first piece is rendered. */
export interface AnswerHead {
  /** `gen-…`: the id of the generation record, and of the answer on every interface. */
  readonly generationId: string
  readonly createdSeconds: number
  /** Our id of the model that answers; the one asked for while none has. */
  readonly model: string
  /** Display name of the provider; null while none has answered. */
  readonly provider: string | null
  /** The client knows only the older words of its dialect for calls of tools. */
  readonly legacyFunctions?: true
  /** The request after its preset: some dialects echo parts of it. */
  readonly request: JsonBody
  /** The client's own instructions, where its preset has some: those are not echoed. Absent: as in the request. */
  readonly instructions?: string | null
  /** The part of the preset that is not shown. Absent where the preset has none. */
  readonly hidden?: HiddenTexts
  /** A guess for the dialect that must name input tokens before the provider does. */
  readonly inputTokensEstimate: number
  /** The bodies that went to providers, one for each attempt, where the client asked to see them. */
  readonly echoes?: readonly Echo[]
}

/** A body that went out, and where it went. */
export interface Echo {
  readonly provider: string
  readonly model: string
  /** JSON text. */
  readonly body: string
}

/** The facts of an answer that has ended. */
export interface AnswerTail {
  readonly usage: Usage
  readonly cost: Cost
  /** The use of the service's own tools; absent where it ran none. */
  readonly serverTools?: ServerToolUse
  /** Its calls of models, in order; absent where the service ran no tool. */
  readonly iterations?: readonly Iteration[]
  /** When the answer ended, in Unix seconds. */
  readonly endedSeconds: number
  /** The routing metadata, under the name the client asked for; null when it did not ask. */
  readonly metadata: { readonly field: 'service_metadata' | 'openrouter_metadata'; readonly value: JsonObject } | null
  /** The verdict of a judge on each message of the model; absent where no judge was asked. */
  readonly alignment?: JsonObject
}

/** Text of an event stream; a long one in pieces, between which others are to get their turn: each is made when it is asked for. */
export type Written = string | Iterable<string>

/**
 * Renders one stream. Every method answers with the text of whole SSE frames, '' where there is nothing to say.
 * It is a state machine: `finish` and `fail` are terminal and end with `data: [DONE]`; a call after them throws.
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

  /** The part of a body that goes into a preset. Throws `invalid_request` naming every faulty path. */
  presetContent(body: unknown): { readonly content: PresetContent; readonly warnings: readonly Warning[] }

  /** The request, validated, with what it cannot honour as warnings. Throws `invalid_request`, `invalid_prompt`. */
  parseCall(body: JsonBody): Steps<ParsedCall>

  /**
   * A whole answer as JSON text; where a failure ended it, as this dialect shows one next to what was produced before it. In steps,
   * which are to be taken in turns for a large one.
   */
  renderAnswer(head: AnswerHead, answer: Frame, tail: AnswerTail, failure: GatewayError | null): Steps<string>

  openStream(head: AnswerHead): StreamRenderer<Written>

  /**
   * The body of an error that stands alone. `head` is null before routing; after it, the body names the generation.
   * `answered`: the dialect turns this failure into an answer, whose status is 200 (docs/contract/errors.md#length-errors).
   */
  renderError(error: GatewayError, head: AnswerHead | null, tail: AnswerTail | null): { readonly body: string; readonly answered: boolean }
}
