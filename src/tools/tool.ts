/**
 * A tool that the service runs between the client and the model. Each tool has a file that creates it from a request's options;
 * kit.ts lists them; inference/loop/offer-tools.ts offers them to the model, and inference/loop/run-calls.ts runs its calls.
 */
import type { FunctionTool, Prompt } from '../canonical/prompt.ts'
import type { ServerOutcome, ServerTool, ToolProgress } from '../canonical/server-tools.ts'
import type { WaitingAgent } from '../canonical/waiting-agent.ts'
import type { Warning } from '../canonical/warning.ts'
import type { JsonObject } from '../lib/json/json.ts'
import type { AskModel } from './ask.ts'
import type { Model } from '../models/model.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'

/** A tool in the form in which a request asks for it. */
export interface AskedTool {
  readonly tool: ServerTool
  /** The type that the client wrote, which its answer uses too. */
  readonly askedAs: string
  /** The path in the request: `tools[2]`. */
  readonly at: string
  /** Its options, whether the client wrote them in `parameters` or beside the type. */
  readonly parameters: JsonObject
}

/** The caller, as far as tools need to know. */
export interface ToolCaller {
  readonly workspaceId: string
  /** The caller as the audit log names it. */
  readonly by: ChangedBy
  readonly denied: readonly ServerTool[]
  /** The models that the caller may use, in the order of the catalogue. */
  models(): readonly Model[]
  /** Requests of one session share containers that outlast a request. */
  readonly sessionId: string | null
  /** The client's functions that are not shown to the model; absent if there are none. */
  readonly withheld?: Withheld
  /** The client's functions, for agents that may call them; null on interfaces that cannot show which agent made a call. */
  functions(): readonly FunctionTool[] | null
}

export interface Withheld {
  readonly tools: readonly FunctionTool[]
  /** Shows these to the model from its next turn on. */
  load(names: readonly string[]): void
}

/** Creates a tool for one request. Throws `invalid_request` naming the faulty parameter, or the missing setting. */
export type MakeTool = (asked: AskedTool, caller: ToolCaller) => Tool

export interface Tool {
  /** The maximum cost of one call besides model tokens, in nano-dollars; absent: nothing. This amount is held before the call runs. */
  readonly mostFeeNanos?: number
  /** Warnings about options that the tool accepts but ignores. */
  readonly warnings?: readonly Warning[]
  /** The description for the model, the same for every request, so that a provider's prompt cache stays valid. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject
  /**
   * Runs one call, whose arguments are an object but otherwise as the model wrote them. A failure of the tool is a result; it throws
   * only the signal's reason once the signal is aborted.
   */
  run(input: JsonObject, turn: ToolTurn): Promise<ToolResult>
  /**
   * Repeats an earlier call, if the same arguments give the same result, so that a conversation need not contain all of it. Null if
   * the result in the conversation must be used.
   */
  again?(input: JsonObject): ToolResult | null
}

export interface ToolTurn {
  /** Aborted when the client has disconnected or the time limit is reached. */
  readonly signal: AbortSignal
  /** The conversation up to the call. */
  readonly prompt: Prompt
  /** The model that made the call, and the name by which it calls this tool. */
  readonly model: string
  readonly name: string
  /** Calls a model for the same caller. */
  readonly ask: AskModel
  /** Registers a function to run when the request ends, however it ends. */
  readonly atEnd: (end: () => Promise<void>) => void
  /**
   * Registers a function that returns the cost in nano-dollars of the call if it is stopped before it has a result; it is called at
   * that moment.
   */
  readonly ifStopped: (fee: () => number) => void
  /** An agent that waited for the client, to be continued instead of starting a new one. */
  readonly waiting?: WaitingAgent
  /** Reports the tool's progress to the client; absent if the client did not ask for it. */
  readonly reportProgress?: ReportProgress
}

/** A returned promise means back-pressure: the client reads too slowly. */
export type ReportProgress = (progress: ToolProgress) => Promise<void> | undefined

export interface ToolResult extends Pick<ServerOutcome, 'fault' | 'value'> {
  readonly sources?: ServerOutcome['sources']
  readonly pictures?: ServerOutcome['pictures']
  /** Clients are not shown all of the result, so it is sealed to be sent back. */
  readonly partlyShown?: true
  /** The cost besides model tokens, in nano-dollars; absent: nothing. */
  readonly feeNanos?: number
  /** The engine that answered, if there are several: a search engine's name. */
  readonly engine?: string
  /** The client must carry out the call, so the model's turn ends with it. */
  readonly endsTurn?: true
  /** The call has no result yet: it waits for these functions, which the client runs, and the model's turn ends with them. */
  readonly waitsFor?: AwaitedCalls
}

export interface AwaitedCalls {
  /** Each call once, in the agent's order. */
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  /** The agent's text and calls since it last waited, as Responses items. */
  readonly items: readonly JsonObject[]
}

export const failed = (code: NonNullable<ServerOutcome['fault']>['code'], message: string, value: JsonObject = {}): ToolResult => ({
  fault: { code, message },
  value: { ...value, error: code, message },
})
