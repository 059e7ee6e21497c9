/**
 * What a model says, in the one language of the middle. A provider adapter turns upstream bytes into these, a client
 * format turns these into its own events. Flat, in order, no nesting: a block opens with its first piece and ends when
 * a piece of another block, or the finish, arrives.
 */
import type { GatewayError } from '../errors.ts'
import type { Usage } from './usage.ts'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export type ModelEvent =
  /** Once, before any content: what the upstream calls this answer and the model that gives it. */
  | { readonly type: 'start'; readonly upstreamId: string | null; readonly upstreamModel: string | null }
  | { readonly type: 'text'; readonly text: string }
  /** Readable thinking. */
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'refusal'; readonly text: string }
  /** Opens tool call `index` (dense from 0, in order of appearance). */
  | { readonly type: 'tool-call'; readonly index: number; readonly id: string; readonly name: string }
  /** A piece of the JSON text of the arguments of call `index`. */
  | { readonly type: 'tool-arguments'; readonly index: number; readonly json: string }
  /** The newest knowledge of the use; a later one replaces an earlier one. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** The model ended by itself. Usage may still follow. */
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly native: string | null }
  /** The answer failed; nothing follows. */
  | { readonly type: 'error'; readonly error: GatewayError }

/**
 * One upstream frame: what it means, and, where the upstream speaks a client dialect, its own JSON text, so that a
 * client of the same dialect gets it unchanged but for the members that the service owns.
 */
export interface Frame {
  readonly events: readonly ModelEvent[]
  readonly native?: string
}

/** Content that the client can see was delivered: from here on no other provider may answer (decision 17). */
export const carriesContent = (event: ModelEvent): boolean =>
  event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal'
    ? event.text !== ''
    : event.type === 'tool-call' || event.type === 'tool-arguments' || event.type === 'finish'
