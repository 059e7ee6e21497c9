import { inputTokens, outputTokens } from '../../canonical/usage.ts'
import type { JsonObject } from '../../lib/json.ts'
import { dollars } from '../../lib/money.ts'
import type { AnswerTail } from '../format.ts'
import { serverToolCost, serverToolUsage } from '../server-tool-usage.ts'

/** `usage` of this dialect: cached tokens lie inside `input_tokens`, reasoning inside `output_tokens`. */
export const responsesUsage = (tail: AnswerTail): JsonObject => {
  const { usage, cost } = tail
  return {
    input_tokens: inputTokens(usage),
    input_tokens_details: {
      cached_tokens: usage.inputCacheRead,
      cache_write_tokens: usage.inputCacheWrite5m + usage.inputCacheWrite1h,
    },
    output_tokens: outputTokens(usage),
    output_tokens_details: { reasoning_tokens: usage.outputReasoning },
    total_tokens: inputTokens(usage) + outputTokens(usage),
    // Absent where no price is known: strict clients take a number or nothing.
    ...(cost.totalNanos === null ? {} : { cost: dollars(cost.totalNanos) }),
    is_byok: cost.isByok,
    cost_details: {
      upstream_inference_cost: cost.upstreamNanos === null ? null : dollars(cost.upstreamNanos),
      upstream_inference_input_cost: dollars(cost.upstreamInputNanos),
      upstream_inference_output_cost: dollars(cost.upstreamOutputNanos),
      ...serverToolCost(tail),
    },
    ...serverToolUsage(tail),
  }
}
