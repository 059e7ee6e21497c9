/** The limits of a tool loop, as its client and its operator set them. */
import type { Call } from '../../canonical/call.ts'
import { inputTokens, outputTokens } from '../../canonical/usage.ts'
import { invalidField } from '../../contract/validate.ts'
import { STOP_REASONS } from '../../formats/anthropic-messages/stop.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { ToolSettings } from '../../tools/settings.ts'
import type { Admitted } from '../admitted.ts'
import type { LoopReport, StoppedBy } from './loop-report.ts'
import type { ModelTurn } from './model-turn.ts'
import { firedCondition, type StopCondition } from './stop-conditions.ts'

export interface LoopLimits {
  readonly steps: number
  /** True if the client chose the number of steps. */
  readonly isAsked: boolean
  readonly conditions: readonly StopCondition[]
}

export const loopLimits = ({ body }: Pick<Call, 'body'>, { loop }: ToolSettings): LoopLimits => {
  const conditions = body.value('stop_server_tools_when')
  const asked = body.value('max_tool_calls')
  if (Array.isArray(conditions)) return { steps: loop.max_steps, isAsked: false, conditions: conditions as readonly StopCondition[] }
  return typeof asked === 'number' && asked <= loop.max_steps
    ? { steps: asked, isAsked: true, conditions: [] }
    : { steps: loop.max_steps, isAsked: false, conditions: [] }
}

/**
 * A bound on cost can never fire if the cost is not known, so such attempts are removed. Throws `invalid_request` if no attempt is left.
 */
export const withKnownCost = (call: Call, attempts: readonly PlannedAttempt[]): readonly PlannedAttempt[] => {
  const conditions = call.body.value('stop_server_tools_when')
  const index = Array.isArray(conditions) ? (conditions as readonly StopCondition[]).findIndex(({ type }) => type === 'max_cost') : -1
  if (index < 0) return attempts
  const priced = attempts.filter(({ endpoint }) => endpoint.prices !== null)
  if (priced.length > 0) return priced
  throw invalidField(`stop_server_tools_when[${index}]`, 'The price of this model is not known, so max_cost cannot end it.')
}

interface LoopState {
  readonly admitted: Pick<Admitted, 'bill' | 'innerTokens'>
  readonly report: LoopReport
  /** Turns in a row in which every call had arguments that its tool could not read. */
  readonly malformed: number
  readonly isLate: boolean
  readonly isBroke: boolean
}

/** Returns why the model must answer now; null if it may call more tools. */
export const stopAfter = (
  finish: ModelTurn['finish'],
  limits: LoopLimits,
  { admitted, report, malformed, isLate, isBroke }: LoopState,
): StoppedBy | null => {
  const { bill, innerTokens } = admitted
  const fired = firedCondition(limits.conditions, {
    steps: report.steps,
    called: report.called,
    tokens: inputTokens(bill.usage) + outputTokens(bill.usage) + innerTokens,
    // A customer who bounds the cost also pays for calls with their own keys.
    costNanos: bill.cost.totalNanos + bill.cost.customersNanos,
    finishReasons: finish === null ? [] : [finish.reason, STOP_REASONS[finish.reason], finish.native ?? ''],
  })
  if (fired !== null) return fired
  if (isBroke) return 'budget'
  if (report.steps >= limits.steps) return limits.isAsked ? 'max_tool_calls' : 'steps'
  if (isLate) return 'time'
  return malformed >= MALFORMED_MAX ? 'malformed_calls' : null
}

const MALFORMED_MAX = 3
