import type { JsonObject } from '../lib/json/json.ts'
import { dollars } from '../lib/money.ts'
import type { AnswerTail } from './format.ts'
import { serverToolCost } from './server-tool-usage.ts'

/** The members of `usage` that state the cost of an answer; all dialects share them except for two names. */
export const costMembers = (tail: AnswerTail, inputCost: string, outputCost: string): JsonObject => {
  const { cost } = tail
  return {
    // Absent if no price is known: strict clients accept only a number or nothing.
    ...(cost.isKnown ? { cost: dollars(cost.totalNanos) } : {}),
    is_byok: cost.isByok,
    cost_details: {
      upstream_inference_cost: cost.upstreamNanos === null ? null : dollars(cost.upstreamNanos),
      [inputCost]: dollars(cost.upstreamInputNanos),
      [outputCost]: dollars(cost.upstreamOutputNanos),
      ...serverToolCost(tail),
    },
  }
}
