/** Counts of tokens, told twice in a stream: the later counts are cumulative and replace the earlier (pitfalls.md 26). */
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json.ts'
import { tokenCount } from '../token-count.ts'

type Json = Readonly<Record<string, unknown>>

/** What is known after `later`: null and absent members of it leave what was told before. */
export const mergeUsage = (earlier: Json, later: Json): Json => ({
  ...earlier,
  ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null && value !== undefined)),
})

/** The dialect's input counts exclude each other, as ours do. Senseless counts are zero. */
export const decodeUsage = (usage: Json): Usage => {
  const split = isObject(usage['cache_creation']) ? usage['cache_creation'] : {}
  const split1h = tokenCount(split['ephemeral_1h_input_tokens'])
  const told = usage['cache_creation_input_tokens']
  // The end of a stream repeats the sum, not the split.
  const written = typeof told === 'number' ? tokenCount(told) : split1h + tokenCount(split['ephemeral_5m_input_tokens'])
  const written1h = Math.min(split1h, written)
  const details = isObject(usage['output_tokens_details']) ? usage['output_tokens_details'] : {}
  const tools = isObject(usage['server_tool_use']) ? usage['server_tool_use'] : {}
  const output = tokenCount(usage['output_tokens'])
  const thinking = Math.min(output, tokenCount(details['thinking_tokens']))
  return usageOf({
    inputFresh: tokenCount(usage['input_tokens']),
    inputCacheRead: tokenCount(usage['cache_read_input_tokens']),
    inputCacheWrite5m: written - written1h,
    inputCacheWrite1h: written1h,
    output: output - thinking,
    outputReasoning: thinking,
    webSearches: tokenCount(tools['web_search_requests']),
  })
}
