/**
 * The use of a generation, in disjoint counts: no token is in two fields, so a cost is a plain sum of products
 * (cached tokens counted twice is the classic billing fault of this field). Dialects add up as their readers expect.
 */
export interface Usage {
  /** Input tokens that were neither read from nor written to a cache. */
  readonly inputFresh: number
  readonly inputCacheRead: number
  readonly inputCacheWrite5m: number
  readonly inputCacheWrite1h: number
  /** Output tokens that the client sees. */
  readonly output: number
  readonly outputReasoning: number
  /** Parts of the input and the output above that some providers count apart; never added to them. */
  readonly inputAudio: number
  readonly outputAudio: number
  readonly outputImage: number
  readonly webSearches: number
  /** The charge that the upstream itself reported, in nano-dollars; null where it reported none. */
  readonly reportedCostNanos: number | null
  /** The service tier that served the request: in the provider's word, and in a bill in ours; null where nothing is known of it. */
  readonly servedTier: string | null
  /** The provider reported nothing for the input or the output, or an impossible count: the possible part is the least that was used. */
  readonly unreportedInput: boolean
  readonly unreportedOutput: boolean
  /** True when some count is ours, because the provider sent none, or an impossible one. */
  readonly estimated: boolean
  /** A call of its own that shortened the conversation: paid for like the answer, and in none of the counts above. */
  readonly compaction: Usage | null
}

/** One call of a model, for an answer that took several: in a turn of its own, or to advise it. */
export interface Iteration {
  readonly type: 'message' | 'advisor_message'
  readonly model: string
  readonly usage: Usage
}

export const NO_USAGE: Usage = {
  inputFresh: 0,
  inputCacheRead: 0,
  inputCacheWrite5m: 0,
  inputCacheWrite1h: 0,
  output: 0,
  outputReasoning: 0,
  inputAudio: 0,
  outputAudio: 0,
  outputImage: 0,
  webSearches: 0,
  reportedCostNanos: null,
  servedTier: null,
  unreportedInput: false,
  unreportedOutput: false,
  estimated: false,
  compaction: null,
}

export const usageOf = (counts: Partial<Usage>): Usage => ({ ...NO_USAGE, ...counts })

export const inputTokens = (usage: Usage): number =>
  usage.inputFresh + usage.inputCacheRead + usage.inputCacheWrite5m + usage.inputCacheWrite1h

export const outputTokens = (usage: Usage): number => usage.output + usage.outputReasoning

/** The reported counts, with at least `least` tokens of a kind that has no sane count; null: the reported count stands. */
export const withEstimates = (reported: Usage, least: { readonly input: number | null; readonly output: number | null }): Usage =>
  least.input === null && least.output === null ? reported : estimated(reported, least)

const estimated = (reported: Usage, least: { readonly input: number | null; readonly output: number | null }): Usage => ({
  ...reported,
  ...(least.input === null
    ? {}
    : {
        inputFresh: Math.max(inputTokens(reported), least.input),
        inputCacheRead: 0,
        inputCacheWrite5m: 0,
        inputCacheWrite1h: 0,
        inputAudio: 0,
      }),
  ...(least.output === null
    ? {}
    : { output: Math.max(outputTokens(reported), least.output), outputReasoning: 0, outputAudio: 0, outputImage: 0 }),
  unreportedInput: false,
  unreportedOutput: false,
  estimated: true,
})

/** The sum over several model calls that make one answer. */
export const addedUsage = (first: Usage, second: Usage): Usage => ({
  inputFresh: first.inputFresh + second.inputFresh,
  inputCacheRead: first.inputCacheRead + second.inputCacheRead,
  inputCacheWrite5m: first.inputCacheWrite5m + second.inputCacheWrite5m,
  inputCacheWrite1h: first.inputCacheWrite1h + second.inputCacheWrite1h,
  output: first.output + second.output,
  outputReasoning: first.outputReasoning + second.outputReasoning,
  inputAudio: first.inputAudio + second.inputAudio,
  outputAudio: first.outputAudio + second.outputAudio,
  outputImage: first.outputImage + second.outputImage,
  webSearches: first.webSearches + second.webSearches,
  reportedCostNanos:
    first.reportedCostNanos === null || second.reportedCostNanos === null ? null : first.reportedCostNanos + second.reportedCostNanos,
  servedTier: second.servedTier,
  unreportedInput: first.unreportedInput || second.unreportedInput,
  unreportedOutput: first.unreportedOutput || second.unreportedOutput,
  estimated: first.estimated || second.estimated,
  compaction:
    first.compaction === null || second.compaction === null
      ? (first.compaction ?? second.compaction)
      : addedUsage(first.compaction, second.compaction),
})
