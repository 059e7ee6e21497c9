import type { JsonObject } from '../lib/json.ts'
import { dollars } from '../lib/money.ts'
import type { AnswerTail } from './format.ts'
import { serverToolCost } from './server-tool-usage.ts'

/** The members of `usage` that say what an answer cost, alike in every dialect but for two names. */
export const costMembers = (tail: AnswerTail, input: string, output: string): JsonObject => {
  const { cost } = tail
  return {
    // Absent where no price is known: strict clients take a number or nothing.
    ...(cost.isKnown ? { cost: dollars(cost.totalNanos) } : {}),
    is_byok: cost.isByok,
    cost_details: {
      upstream_inference_cost: cost.upstreamNanos === null ? null : dollars(cost.upstreamNanos),
      [`upstream_inference_${input}_cost`]: dollars(cost.upstreamInputNanos),
      [`upstream_inference_${output}_cost`]: dollars(cost.upstreamOutputNanos),
      ...serverToolCost(tail),
    },
  }
}
