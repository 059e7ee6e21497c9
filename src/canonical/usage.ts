/**
 * The usage of a generation, in disjoint counts: no token is in two fields, so a cost is a plain sum of products (counting cached
 * tokens twice is the classic billing bug). Dialects add the counts up as their clients expect.
 */
export interface Usage {
  /** Input tokens that were neither read from nor written to a cache. */
  readonly inputFresh: number
  readonly inputCacheRead: number
  /** For some minutes: five at Anthropic, thirty at OpenAI. */
  readonly inputCacheWrite5m: number
  /** For hours: one at Anthropic, twelve at OpenAI. */
  readonly inputCacheWrite1h: number
  /** The tokens among `inputCacheWrite5m` of which the provider does not tell for how long it keeps them. */
  readonly unsplitWrites: number
  /** Output tokens that the client sees. */
  readonly output: number
  readonly outputReasoning: number
  /** Subsets of the fresh input and the output above that some providers report separately; never added to them. */
  readonly inputAudio: number
  readonly outputAudio: number
  readonly outputImage: number
  readonly webSearches: number
  /** Searches in files that are stored at the provider. */
  readonly fileSearches: number
  /** Containers in which the provider's own tools ran code. */
  readonly containers: number
  /** Tokens of pictures that the provider's own tool drew, prompts included: another model's, and not in the counts above (decisions/0224). */
  readonly drawn: number
  /** The charge that the upstream reported, in nano-dollars; null if it reported none. */
  readonly reportedCostNanos: number | null
  /** The service tier that served the request: as the provider names it, or, in a bill, as the service does; null if unknown. */
  readonly servedTier: string | null
  /** The geography in which the provider says that it answered; null if it names none. */
  readonly inferenceGeo: string | null
  /** The provider reported nothing, or an impossible count, for the input or the output; the plausible part is a lower bound. */
  readonly unreportedInput: boolean
  readonly unreportedOutput: boolean
  /** True if the service estimated some count because the provider sent none, or an impossible one. */
  readonly estimated: boolean
  /** Separate calls of models, which shortened the conversation or gave advice; charged like the answer, and not included in the counts above. */
  readonly beside: Usage | null
}

/** Tokens of a large picture of high quality (OpenAI's guide "Image generation", "Cost and latency"), for one that nobody counted. */
export const PICTURE_TOKENS = 6240

/** One model call of an answer that took several: a turn of its own, or advice to the model. */
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
  unsplitWrites: 0,
  output: 0,
  outputReasoning: 0,
  inputAudio: 0,
  outputAudio: 0,
  outputImage: 0,
  webSearches: 0,
  fileSearches: 0,
  containers: 0,
  drawn: 0,
  reportedCostNanos: null,
  servedTier: null,
  inferenceGeo: null,
  unreportedInput: false,
  unreportedOutput: false,
  estimated: false,
  beside: null,
}

export const usageOf = (counts: Partial<Usage>): Usage => ({ ...NO_USAGE, ...counts })

export const inputTokens = (usage: Usage): number => usage.inputFresh + cachedTokens(usage)

export const cachedTokens = ({ inputCacheRead, inputCacheWrite5m, inputCacheWrite1h }: Usage): number =>
  inputCacheRead + inputCacheWrite5m + inputCacheWrite1h

export const outputTokens = (usage: Usage): number => usage.output + usage.outputReasoning

/** Returns the reported counts, raised to at least `least` tokens for a kind without a plausible count; null keeps the reported count. */
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
        unsplitWrites: 0,
        inputAudio: 0,
      }),
  ...(least.output === null
    ? {}
    : { output: Math.max(outputTokens(reported), least.output), outputReasoning: 0, outputAudio: 0, outputImage: 0 }),
  unreportedInput: false,
  unreportedOutput: false,
  estimated: true,
})

/** A count of zero says no more than none: an answer that was counted before had some. */
export const countsOutput = (usage: Usage): boolean => !usage.unreportedOutput && outputTokens(usage) > 0
const countsInput = (usage: Usage): boolean => !usage.unreportedInput && inputTokens(usage) > 0

/**
 * The usage of an answer of which counts came twice: the later ones are cumulative and replace the earlier, but a side that they do not count
 * stays as it was. `saidMore`: output came between the two, so that an earlier count of it is a lower bound.
 */
export const laterUsage = (earlier: Usage | null, later: Usage, saidMore: boolean): Usage => {
  const keepsInput = earlier !== null && countsInput(earlier) && !countsInput(later)
  const keepsOutput = earlier !== null && countsOutput(earlier) && !countsOutput(later)
  if (!keepsInput && !keepsOutput) return later
  const { inputFresh, inputCacheRead, inputCacheWrite5m, inputCacheWrite1h, unsplitWrites, inputAudio } = earlier
  const { output, outputReasoning, outputAudio, outputImage } = earlier
  return {
    ...later,
    ...(keepsInput
      ? { inputFresh, inputCacheRead, inputCacheWrite5m, inputCacheWrite1h, unsplitWrites, inputAudio, unreportedInput: false }
      : {}),
    ...(keepsOutput ? { output, outputReasoning, outputAudio, outputImage, unreportedOutput: saidMore } : {}),
  }
}

/** The usage of an answer to a request that asks for a cache of hours: what the provider does not tell apart is kept for as long. */
export const keptForHours = (usage: Usage): Usage => ({
  ...usage,
  inputCacheWrite5m: usage.inputCacheWrite5m - usage.unsplitWrites,
  inputCacheWrite1h: usage.inputCacheWrite1h + usage.unsplitWrites,
  unsplitWrites: 0,
  estimated: true,
})

/** The sum over several model calls that make one answer. */
export const addedUsage = (first: Usage, second: Usage): Usage => ({
  inputFresh: first.inputFresh + second.inputFresh,
  inputCacheRead: first.inputCacheRead + second.inputCacheRead,
  inputCacheWrite5m: first.inputCacheWrite5m + second.inputCacheWrite5m,
  inputCacheWrite1h: first.inputCacheWrite1h + second.inputCacheWrite1h,
  unsplitWrites: first.unsplitWrites + second.unsplitWrites,
  output: first.output + second.output,
  outputReasoning: first.outputReasoning + second.outputReasoning,
  inputAudio: first.inputAudio + second.inputAudio,
  outputAudio: first.outputAudio + second.outputAudio,
  outputImage: first.outputImage + second.outputImage,
  webSearches: first.webSearches + second.webSearches,
  fileSearches: first.fileSearches + second.fileSearches,
  containers: first.containers + second.containers,
  drawn: first.drawn + second.drawn,
  reportedCostNanos:
    first.reportedCostNanos === null || second.reportedCostNanos === null ? null : first.reportedCostNanos + second.reportedCostNanos,
  servedTier: second.servedTier,
  inferenceGeo: second.inferenceGeo,
  unreportedInput: first.unreportedInput || second.unreportedInput,
  unreportedOutput: first.unreportedOutput || second.unreportedOutput,
  estimated: first.estimated || second.estimated,
  beside: first.beside === null || second.beside === null ? (first.beside ?? second.beside) : addedUsage(first.beside, second.beside),
})
