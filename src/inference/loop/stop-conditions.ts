/** The conditions that end a tool loop before the model ends it (docs/contract/tools.md#stop-conditions). */
import type { z } from 'zod'

import type { stopServerToolsWhen } from '../../request-fields/schemas/stop-conditions.ts'

export type StopCondition = z.output<typeof stopServerToolsWhen>[number]

/** The progress of a loop so far, summed over all turns. */
export interface LoopSoFar {
  /** The number of server tool calls; each call is one step. */
  readonly steps: number
  /** By every name that a client may know a tool by: its type in both spellings, the function's name, and the client's own functions. */
  readonly called: ReadonlySet<string>
  /** Input and output tokens of all model calls, including those of tools. */
  readonly tokens: number
  readonly costNanos: number
  /** Why the last turn ended, in the provider's word and in those of Chat Completions and Messages. */
  readonly finishReasons: readonly string[]
}

const NANOS_PER_DOLLAR = 1e9

/** The type of the first condition that is met; null if none is. */
export const firedCondition = (conditions: readonly StopCondition[], so: LoopSoFar): StopCondition['type'] | null =>
  conditions.find((condition) => fires(condition, so))?.type ?? null

const fires = (condition: StopCondition, so: LoopSoFar): boolean => {
  switch (condition.type) {
    case 'step_count_is':
      return so.steps >= condition.step_count
    case 'has_tool_call':
      return so.called.has(condition.tool_name)
    case 'max_tokens_used':
      return so.tokens > condition.max_tokens
    case 'max_cost':
      return so.costNanos > condition.max_cost_in_dollars * NANOS_PER_DOLLAR
    case 'finish_reason_is':
      return so.finishReasons.includes(condition.reason)
  }
}
