/**
 * The words of a model, in the one language of the middle. A provider adapter turns upstream bytes into these, a client
 * format turns these into its own events. Flat, in order, no nesting: a block opens with its first piece and ends when
 * a piece of another block, or the finish, arrives.
 */
import type { JsonBody } from '../lib/json-body.ts'
import type { Filling } from '../lib/json-pattern.ts'
import type { JsonValue } from '../lib/json.ts'
import type { BuiltInTool } from './built-in-tools.ts'
import type { ClientDialect } from './call.ts'
import type { OwnBlock, UrlCitation } from './prompt.ts'
import type { ReasoningProof } from './reasoning.ts'
import type { ServerCall, ServerOutcome, ToolProgress } from './server-tools.ts'
import type { Usage } from './usage.ts'
import type { CallingAgent } from './waiting-agent.ts'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export type ModelEvent =
  /** Once, before any content: what the upstream calls this answer and the model that gives it. */
  | { readonly type: 'start'; readonly upstreamId: string | null; readonly upstreamModel: string | null }
  | { readonly type: 'text'; readonly text: string }
  /** The next text stands apart from the last one. Dialects that have one text for an answer put PARAGRAPH_BREAK there. */
  | { readonly type: 'text-break' }
  /** A source of the text so far. Its place is counted in UTF-16 units of all of the answer's text, breaks included. */
  | { readonly type: 'citation'; readonly citation: UrlCitation }
  /** Readable thinking. `summary`: the provider's account of it, not the thinking itself. */
  | { readonly type: 'reasoning'; readonly text: string; readonly summary?: boolean }
  /** Ends the block of thinking that is open, or is a block without readable text. */
  | { readonly type: 'reasoning-end'; readonly proof: ReasoningProof | null }
  | { readonly type: 'refusal'; readonly text: string }
  /** Opens tool call `index` (dense from 0, in order of appearance). `custom`: of a tool that takes any text, which the client declared as such. */
  | {
      readonly type: 'tool-call'
      readonly index: number
      readonly id: string
      readonly name: string
      readonly namespace?: string
      /** The client declared it so: its call is an item of its own. */
      readonly builtIn?: BuiltInTool
      readonly custom?: true
      readonly proof?: ReasoningProof
      readonly subagent?: CallingAgent
    }
  /** A piece of the JSON text of the arguments of call `index`; of a custom call, of its text. */
  | { readonly type: 'tool-arguments'; readonly index: number; readonly json: string }
  /** A tool of the service's own begins to run. Several may run at once; they begin in the order of the model's calls. */
  | { readonly type: 'server-tool-start'; readonly call: ServerCall }
  /** It gets on; reported only where the client asked for that. */
  | { readonly type: 'server-tool-progress'; readonly call: ServerCall; readonly progress: ToolProgress }
  /** It has ended. */
  | { readonly type: 'server-tool-end'; readonly call: ServerCall; readonly outcome: ServerOutcome }
  /** The service read a file of the request as text, which may come back instead of the file being read again. */
  | { readonly type: 'file-text'; readonly file: FileText }
  /** A whole picture; `url` is data: or https:. */
  | { readonly type: 'image'; readonly url: string }
  /** Log probabilities of the text just said, in the form that Chat Completions gives them. */
  | { readonly type: 'logprobs'; readonly content: readonly JsonValue[] }
  /** Output that only the provider's own dialect can express, by its type there; `characters` is the length of the text that it holds. */
  | { readonly type: 'unknown'; readonly kind: string; readonly characters?: number }
  /** The newest knowledge of the use; a later one replaces an earlier one. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /**
   * The model ended by itself. Usage may still follow. `stopSequence`: the one that ended it, where the provider names it. `own`:
   * the whole turn in the provider's words, where tools of its own were at work in it and it may have to get the turn back.
   */
  | {
      readonly type: 'finish'
      readonly reason: FinishReason
      readonly native: string | null
      readonly stopSequence?: string
      readonly own?: readonly OwnBlock[]
    }

export interface FileText {
  /** SHA-256 of its bytes, in hex. */
  readonly hash: string
  readonly name: string | null
  readonly text: string
}

export const PARAGRAPH_BREAK = '\n\n'

/** The words of a refusal for which the model gave none: no dialect can express one without words. */
export const UNEXPLAINED_REFUSAL = 'The model declined to answer.'

/**
 * One upstream frame: what it means, and, where the upstream speaks a client dialect, its own JSON text, so that a
 * client of the same dialect gets it unchanged but for the members that the service owns.
 */
export interface Frame {
  readonly events: readonly ModelEvent[]
  readonly native?: NativeText
}

export interface NativeText {
  readonly dialect: ClientDialect
  /** One JSON object that a parser has accepted: an event of a stream, or a whole answer. */
  readonly json: string
  /** The text with its members, where they were found already. */
  readonly body?: JsonBody
  /** For a text that differs from others of its stream in one piece: the pattern that they share, and that piece. */
  readonly filled?: { readonly pattern: NativePattern; readonly filling: Filling }
}

/** The same object for all texts that are alike, so that what was made of it once serves them all. */
export interface NativePattern {
  readonly skeleton: string
}

/** Content that the client can see was delivered: from here on no other provider may answer (docs/contract/streams.md#commitment). */
export const carriesContent = (event: ModelEvent): boolean => {
  if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') return event.text !== ''
  return !SILENT.has(event.type)
}

const SILENT: ReadonlySet<ModelEvent['type']> = new Set(['start', 'text-break', 'usage', 'file-text'] as const)

/**
 * Takes the frames of an answer, in order. Where it returns a promise, the reader of the answer is behind: nothing more is
 * read from the provider before that settles. It throws where the answer must not go on, and what it throws ends the attempt.
 */
export type TakeFrames = (frames: readonly Frame[]) => Promise<void> | undefined
