/** The account of a tool loop, for its limits, its record and the metadata of its answer. It contains no query, address or result. */
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
  /** `unknown`: the model invented the tool. */
  readonly tool: ServerTool | 'unknown'
  readonly status: 'completed' | 'failed'
  /** True if the call was handed to its tool. */
  readonly executed: boolean
  /** The service's own id of the call. */
  readonly id: string
  /** By the monotonic clock. */
  readonly startedMs: number
  readonly durationMs: number
  readonly feeNanos: number
  readonly engine: string | null
  /** The number of results that a search found. */
  readonly results: number
  /** Counted from 1. */
  readonly step: number
}

export class LoopReport {
  turns = 0
  stoppedBy: StoppedBy | null = null
  /** True if an earlier turn produced text; and true if a break was already sent before this turn's text. */
  saidText = false
  brokeText = false
  /** The length of all text so far in UTF-16 units, including breaks. */
  textLength = 0
  readonly calls: ReportedCall[] = []
  executed = 0
  /** The tools called so far, by every name that a client may know them by. */
  readonly called = new Set<string>()

  get steps(): number {
    return this.calls.length
  }

  executedOf(tool: ServerTool): number {
    return this.calls.filter((call) => call.tool === tool && call.executed).length
  }

  /** Records that a turn of the model has ended. */
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
