import { inputTokens, outputTokens } from '../../canonical/usage.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { costMembers } from '../cost-members.ts'
import type { AnswerTail } from '../format.ts'
import { serverToolUsage } from '../server-tool-usage.ts'

/** The `usage` of this dialect: cached tokens are included in `input_tokens`, reasoning in `output_tokens`. */
export const responsesUsage = (tail: AnswerTail): JsonObject => {
  const { usage } = tail
  return {
    input_tokens: inputTokens(usage),
    input_tokens_details: {
      cached_tokens: usage.inputCacheRead,
      cache_write_tokens: usage.inputCacheWrite5m + usage.inputCacheWrite1h,
    },
    output_tokens: outputTokens(usage),
    output_tokens_details: { reasoning_tokens: usage.outputReasoning },
    total_tokens: inputTokens(usage) + outputTokens(usage),
    ...costMembers(tail, 'upstream_inference_input_cost', 'upstream_inference_output_cost'),
    ...serverToolUsage(tail),
  }
}
