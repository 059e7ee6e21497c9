/**
 * The output of a model in the canonical form. A provider adapter turns upstream bytes into these events; a client format turns
 * them into its own. The list is flat and ordered, without nesting: a block opens with its first piece and ends when a piece of
 * another block, or the finish, arrives.
 */
import type { JsonBody } from '../lib/json/json-body.ts'
import type { Filling } from '../lib/json/json-pattern.ts'
import type { JsonObject, JsonValue } from '../lib/json/json.ts'
import type { BuiltInTool } from './built-in-tools.ts'
import type { ClientDialect } from './call.ts'
import type { OwnBlock, UrlCitation } from './prompt.ts'
import type { ReasoningProof } from './reasoning.ts'
import type { ServerCall, ServerOutcome, ToolProgress } from './server-tools.ts'
import type { Usage } from './usage.ts'
import type { CallingAgent } from './waiting-agent.ts'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export type ModelEvent =
  /** Sent once, before any content, with the upstream's id of this answer. */
  | { readonly type: 'start'; readonly upstreamId: string | null }
  | { readonly type: 'text'; readonly text: string }
  /** Separates the next text from the last one. Dialects with a single text per answer insert PARAGRAPH_BREAK here. */
  | { readonly type: 'text-break' }
  /** A source of the text so far. Its position is counted in UTF-16 units of the whole text of the answer, breaks included. */
  | { readonly type: 'citation'; readonly citation: UrlCitation }
  /** Readable thinking. `summary`: the provider's summary, not the thinking itself. */
  | { readonly type: 'reasoning'; readonly text: string; readonly summary?: boolean }
  /** Ends the open block of thinking, or is a block without readable text. */
  | { readonly type: 'reasoning-end'; readonly proof: ReasoningProof | null }
  /** `uncounted`: words about the refusal that no model has written, so that they are no output tokens. */
  | { readonly type: 'refusal'; readonly text: string; readonly uncounted?: true }
  /**
   * Opens tool call `index` (dense from 0, in order of appearance). `custom`: a call of a tool that takes any text, which the client
   * declared as such.
   */
  | {
      readonly type: 'tool-call'
      readonly index: number
      readonly id: string
      readonly name: string
      readonly namespace?: string
      /** The client declared the tool as a built-in one, so its call is an item type of its own. */
      readonly builtIn?: BuiltInTool
      readonly custom?: true
      readonly proof?: ReasoningProof
      readonly subagent?: CallingAgent
    }
  /** A piece of the JSON text of the arguments of call `index`, or of the plain text of a custom call. */
  | { readonly type: 'tool-arguments'; readonly index: number; readonly json: string }
  /** A tool that the service runs starts. Several may run at once; they start in the order of the model's calls. */
  | { readonly type: 'server-tool-start'; readonly call: ServerCall }
  /** Progress of a running server tool; reported only if the client asked for it. */
  | { readonly type: 'server-tool-progress'; readonly call: ServerCall; readonly progress: ToolProgress }
  | { readonly type: 'server-tool-end'; readonly call: ServerCall; readonly outcome: ServerOutcome }
  /** The service read a file of the request as text. The client may send the text back, so that the file is not read again. */
  | { readonly type: 'file-text'; readonly file: FileText }
  /** A complete image; `url` is data: or https:. */
  | { readonly type: 'image'; readonly url: string }
  /** Log probabilities of the preceding text, in the form of Chat Completions. */
  | { readonly type: 'logprobs'; readonly content: readonly JsonValue[] }
  /**
   * Members of the answer beside its content, such as the verdict of the provider's moderation, for clients of this dialect. They take the
   * place of those of the same name in an earlier event.
   */
  | { readonly type: 'own-members'; readonly dialect: ClientDialect; readonly members: JsonObject }
  /** Output that only the provider's own dialect can express, with its type there; `characters` is the length of the text in it. */
  | { readonly type: 'unknown'; readonly kind: string; readonly characters?: number }
  /**
   * The latest known usage; a later event replaces an earlier one. `underWay`: the usage if the calls of the provider's tools that have
   * begun succeed.
   */
  | { readonly type: 'usage'; readonly usage: Usage; readonly underWay?: Usage }
  /**
   * The model ended its answer. Usage may still follow. `stopSequence`: the one that ended it, if the provider names it. `own`: the
   * whole turn in the provider's own blocks, set if the provider's own tools ran in it and the provider may need the turn back.
   */
  | {
      readonly type: 'finish'
      readonly reason: FinishReason
      readonly native: string | null
      readonly stopSequence?: string
      readonly own?: readonly OwnBlock[]
    }

export interface FileText {
  /** SHA-256 of the file's bytes, in hex. */
  readonly hash: string
  readonly name: string | null
  readonly text: string
}

export const PARAGRAPH_BREAK = '\n\n'

/** Used for a refusal without text, since no dialect can express one without words. */
export const UNEXPLAINED_REFUSAL = 'The model declined to answer.'

/**
 * One upstream frame: its events and, if the upstream speaks a client dialect, its own JSON text. A client of the same dialect
 * gets that text unchanged except for the members that the service owns.
 */
export interface Frame {
  readonly events: readonly ModelEvent[]
  readonly native?: NativeText
}

export interface NativeText {
  readonly dialect: ClientDialect
  /** One valid JSON object: an event of a stream, or a whole answer. */
  readonly json: string
  /** The text with its members, if they have already been located. */
  readonly body?: JsonBody
  /** Set for a text that differs from others of its stream in one piece only: the shared pattern, and that piece. */
  readonly filled?: { readonly pattern: NativePattern; readonly filling: Filling }
}

/** One object shared by all texts of the same pattern, so that results derived from it can be reused. */
export interface NativePattern {
  readonly skeleton: string
}

/**
 * Returns true if the event delivers content that the client can see; after it no other provider may answer
 * (docs/contract/streams.md#commitment).
 */
export const carriesContent = (event: ModelEvent): boolean => {
  if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') return event.text !== ''
  return !SILENT.has(event.type)
}

const SILENT: ReadonlySet<ModelEvent['type']> = new Set(['start', 'text-break', 'usage', 'file-text', 'own-members'] as const)

/**
 * Takes the frames of an answer, in order. A returned promise means back-pressure: nothing more is read from the provider until it
 * settles. It throws if the answer must not continue, and the error ends the attempt.
 */
export type TakeFrames = (frames: readonly Frame[]) => Promise<void> | undefined
