import type { JsonObject } from '../lib/json/json.ts'

/** A subagent that waits for functions which the client runs, in the form in which the client sends it back. */
export interface WaitingAgent {
  /** Its conversation after its task, including the results of its calls, as Responses items. */
  readonly items: readonly JsonObject[]
  /** Why it cannot continue; null if it can. */
  readonly fault: string | null
}

/** The subagent that calls one of the client's functions and waits for its result. */
export interface CallingAgent {
  /** The id of the call that started the subagent. */
  readonly id: string
  /** Its text and calls since it last waited, as Responses items; only with the first of its calls. */
  readonly items?: readonly JsonObject[]
}
