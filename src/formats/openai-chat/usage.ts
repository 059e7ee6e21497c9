import { inputTokens, outputTokens } from '../../canonical/usage.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { costMembers } from '../cost-members.ts'
import type { AnswerTail } from '../format.ts'
import { serverToolUsage } from '../server-tool-usage.ts'

/** The `usage` of this dialect. Its counts overlap: cached tokens are included in `prompt_tokens`, reasoning in `completion_tokens`. */
export const chatUsage = (tail: AnswerTail): JsonObject => {
  const { usage } = tail
  return {
    prompt_tokens: inputTokens(usage),
    completion_tokens: outputTokens(usage),
    total_tokens: inputTokens(usage) + outputTokens(usage),
    prompt_tokens_details: {
      cached_tokens: usage.inputCacheRead,
      cache_write_tokens: usage.inputCacheWrite5m + usage.inputCacheWrite1h,
      audio_tokens: usage.inputAudio,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.outputReasoning,
      audio_tokens: usage.outputAudio,
      image_tokens: usage.outputImage,
    },
    ...costMembers(tail, 'upstream_inference_prompt_cost', 'upstream_inference_completions_cost'),
    ...serverToolUsage(tail),
  }
}
