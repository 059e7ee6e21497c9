/** The account of a loop of tools, for its limits, its record and the metadata of its answer. No query, address or result is in it. */
import type { ServerTool } from '../../canonical/server-tools.ts'
import { serverToolTypes } from '../../canonical/server-tool-name.ts'
import type { StopCondition } from './stop-conditions.ts'
import type { ModelTurn } from './model-turn.ts'
import type { EndedCall } from './run-calls.ts'

export type StoppedBy =
  | StopCondition['type']
  | 'model'
  | 'max_tool_calls'
  | 'steps'
  | 'malformed_calls'
  | 'time'
  | 'budget'
  | 'client_tool'
  | 'error'
  | 'cancelled'

export interface ReportedCall {
  /** `unknown`: the model made it up. */
  readonly tool: ServerTool | 'unknown'
  readonly status: 'completed' | 'failed'
  /** It was given to its tool. */
  readonly executed: boolean
  /** The service's own id of the call. */
  readonly id: string
  /** By the monotonic clock. */
  readonly startedMs: number
  readonly durationMs: number
  readonly feeNanos: number
  readonly engine: string | null
  /** How much a search found. */
  readonly results: number
  /** From 1. */
  readonly step: number
}

export class LoopReport {
  turns = 0
  stoppedBy: StoppedBy | null = null
  /** A turn before this one said text, and the next text was set apart from it. */
  saidText = false
  brokeText = false
  /** UTF-16 units of all text so far, breaks counted. */
  textLength = 0
  readonly calls: ReportedCall[] = []
  executed = 0
  /** By every name that a client may know a tool by. */
  readonly called = new Set<string>()

  /** One call is one step. */
  get steps(): number {
    return this.calls.length
  }

  executedOf(tool: ServerTool): number {
    return this.calls.filter((call) => call.tool === tool && call.executed).length
  }

  /** A turn of the model has ended. */
  said(turn: ModelTurn): void {
    this.saidText ||= turn.parts().some(({ type }) => type === 'text')
    this.brokeText = false
    for (const part of turn.parts()) if (part.type === 'tool-call') this.called.add(part.name)
  }

  ran({ call, isKnown, outcome, executed, startedMs, durationMs, feeNanos, engine }: EndedCall): void {
    const status = outcome.fault === null ? 'completed' : 'failed'
    this.calls.push({
      tool: isKnown ? call.tool : 'unknown',
      status,
      executed,
      id: call.id,
      startedMs,
      durationMs: Math.round(durationMs),
      feeNanos,
      engine,
      results: resultsIn(outcome),
      step: this.calls.length + 1,
    })
    if (executed) this.executed += 1
    if (!isKnown) return
    for (const name of [call.tool, call.askedAs, ...serverToolTypes(call.tool)]) this.called.add(name)
  }
}

const resultsIn = ({ value }: EndedCall['outcome']): number => (Array.isArray(value['results']) ? value['results'].length : 0)
