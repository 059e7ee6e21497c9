import type { JsonObject } from '../lib/json.ts'

/** A subagent that waits for functions which the client runs, as the client brings it back. */
export interface WaitingAgent {
  /** Its conversation behind its task, the results of its calls included, as items of Responses. */
  readonly items: readonly JsonObject[]
  /** The reason that keeps it from going on; null where it can. */
  readonly fault: string | null
}

/** The subagent that makes a call of a function of the client's, which it waits for. */
export interface CallingAgent {
  /** The id of the call that began it. */
  readonly id: string
  /** Its words and calls since it last waited, as items of Responses; with the first of its calls only. */
  readonly items?: readonly JsonObject[]
}
