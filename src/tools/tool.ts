/**
 * A tool that the service runs between the client and the model. One file a tool makes it from what a request asks for;
 * kit.ts lists them; inference/tool-loop.ts offers them to the model and runs its calls.
 */
import type { FunctionTool, Prompt } from '../canonical/prompt.ts'
import type { ServerOutcome, ServerTool, ToolProgress } from '../canonical/server-tools.ts'
import type { WaitingAgent } from '../canonical/waiting-agent.ts'
import type { Warning } from '../canonical/warning.ts'
import type { JsonObject } from '../lib/json.ts'
import type { AskModel } from './ask.ts'
import type { Model } from '../models/model.ts'
import type { ChangedBy } from '../storage/audit-log.ts'

/** A tool as a request asks for it. */
export interface AskedTool {
  readonly tool: ServerTool
  /** The type that the client wrote, in which it is answered. */
  readonly askedAs: string
  /** Where it stands: `tools[2]`. */
  readonly at: string
  /** Its options, wherever the client wrote them: in `parameters`, or beside the type. */
  readonly parameters: JsonObject
}

/** Who asks, as far as tools need to know. */
export interface ToolCaller {
  readonly workspaceId: string
  /** The caller as the audit log names it. */
  readonly by: ChangedBy
  /** Tools that it may not use. */
  readonly denied: readonly ServerTool[]
  /** The models that it may call, in the order of the catalogue. */
  models(): readonly Model[]
  /** Requests of one session share what lasts. */
  readonly sessionId: string | null
  /** Functions of the client's that the model is not shown; absent: none. */
  readonly withheld?: Withheld
  /** The client's functions, for agents that may call them; null on interfaces that have no words for whose call it is. */
  functions(): readonly FunctionTool[] | null
}

export interface Withheld {
  readonly tools: readonly FunctionTool[]
  /** The model is shown these from its next turn on. */
  load(names: readonly string[]): void
}

/** Makes a tool for one request. Throws `invalid_request` that names the faulty parameter, or the setting that is missing. */
export type MakeTool = (asked: AskedTool, caller: ToolCaller) => Tool

export interface Tool {
  /** The most that one call costs beside models' tokens, in nano-dollars; absent: nothing. It is held before the call runs. */
  readonly mostFeeNanos?: number
  /** Options that it takes and does not heed. */
  readonly warnings?: readonly Warning[]
  /** Read by the model, and the same for every request, so that a provider's cache of the prompt holds. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject
  /**
   * Runs one call, whose arguments are an object but otherwise as the model wrote them. What goes wrong with the tool is a result;
   * throws only the signal's reason, once that is aborted.
   */
  run(input: JsonObject, turn: ToolTurn): Promise<ToolResult>
  /**
   * As it ran before, where the same arguments give the same result: a conversation that comes back need not hold it whole.
   * Null where the conversation's own word has to do.
   */
  again?(input: JsonObject): ToolResult | null
}

export interface ToolTurn {
  /** Aborted when the client is gone or time has run out. */
  readonly signal: AbortSignal
  /** The conversation up to the call. */
  readonly prompt: Prompt
  /** The model that made the call, and the name by which it calls this tool. */
  readonly model: string
  readonly name: string
  /** Asks a model for the same caller. */
  readonly ask: AskModel
  /** Does this when the request is over, however it ends. */
  readonly atEnd: (end: () => Promise<void>) => void
  /** Tells what the call costs, in nano-dollars, where it is stopped before it has a result: asked at that moment. */
  readonly ifStopped: (fee: () => number) => void
  /** An agent that waited for the client, in place of a new one. */
  readonly waiting?: WaitingAgent
  /** Tells the client how the tool gets on; absent where it did not ask for that. */
  readonly reportProgress?: ReportProgress
}

/** Where it returns a promise, the client is behind. */
export type ReportProgress = (progress: ToolProgress) => Promise<void> | undefined

export interface ToolResult extends Pick<ServerOutcome, 'fault' | 'value'> {
  readonly sources?: ServerOutcome['sources']
  readonly pictures?: ServerOutcome['pictures']
  /** Clients are not shown all of it, so it is sealed for the way back. */
  readonly partlyShown?: true
  /** The cost beside the model's tokens, in nano-dollars; absent: nothing. */
  readonly feeNanos?: number
  /** Who answered, where there are several: a search engine's name. */
  readonly engine?: string
  /** The call is the client's to carry out: the model's turn ends with it. */
  readonly endsTurn?: true
  /** It has no result yet: it waits for these functions, which the client runs. The model's turn ends with them. */
  readonly waitsFor?: AwaitedCalls
}

export interface AwaitedCalls {
  /** Each once, in the order of the agent's. */
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  /** The agent's words and calls since it last waited, as items of Responses. */
  readonly items: readonly JsonObject[]
}

export const failed = (code: NonNullable<ServerOutcome['fault']>['code'], message: string, value: JsonObject = {}): ToolResult => ({
  fault: { code, message },
  value: { ...value, error: code, message },
})
