import type { Cost } from '../canonical/cost.ts'
import { cachedTokens, inputTokens, type Usage } from '../canonical/usage.ts'
import { nanosOf, tokenCostNanos } from '../lib/money.ts'
import type { PriceEntry } from './catalogue-schema.ts'

/** Facts of a request on which its cost depends, beside the counts of its answer. */
interface AskedFor {
  /** Matters only if pictures have a price each. */
  readonly inputImages: number
  /** The memory of the containers in which code may run. */
  readonly containerGigabytes: number
}

/**
 * The cost of a generation. Without prices the cost that the provider itself reports counts; without that either, the cost is not known.
 */
export const costOf = (
  usage: Usage,
  prices: PriceEntry | null,
  { inputImages = 0, containerGigabytes = 1 }: Partial<AskedFor> = {},
): Cost => {
  if (prices === null) {
    const reported = usage.reportedCostNanos
    return {
      totalNanos: reported ?? 0,
      isKnown: reported !== null,
      upstreamNanos: reported,
      upstreamInputNanos: 0,
      upstreamOutputNanos: reported ?? 0,
      cacheSavedNanos: null,
      isByok: false,
      customersNanos: 0,
    }
  }
  const rates = ratesFor(inputTokens(usage), prices)
  // An unknown cache price is that of fresh input: an omission never makes anything free.
  const cacheWrite = rates.cache_write ?? rates.prompt
  const audio = Math.min(usage.inputAudio, usage.inputFresh)
  const factor = usage.inferenceGeo === null ? 1 : (prices.inference_geo?.[usage.inferenceGeo] ?? 1)
  const cached =
    tokenCostNanos(usage.inputCacheRead, rates.cache_read ?? rates.prompt) +
    tokenCostNanos(usage.inputCacheWrite5m, cacheWrite) +
    tokenCostNanos(usage.inputCacheWrite1h, rates.cache_write_1h ?? cacheWrite)
  const uncached = tokenCostNanos(cachedTokens(usage), rates.prompt)
  const read = tokenCostNanos(usage.inputFresh - audio, rates.prompt) + tokenCostNanos(audio, prices.audio ?? rates.prompt) + cached
  const input = Math.round(read * factor) + inputImages * nanosOf(prices.image ?? 0)
  const spoken = Math.min(usage.outputAudio, usage.output)
  const drawn = Math.min(usage.outputImage, usage.output - spoken)
  const written =
    tokenCostNanos(usage.output - spoken - drawn, rates.completion) +
    tokenCostNanos(spoken, prices.completion_audio ?? rates.completion) +
    tokenCostNanos(drawn, prices.completion_image ?? rates.completion) +
    tokenCostNanos(usage.outputReasoning, rates.reasoning ?? rates.completion)
  const output = Math.round(written * factor)
  const fees = nanosOf(prices.request ?? 0) + toolNanos(usage, prices, containerGigabytes)
  const beside = costBeside(usage, prices)
  const total = Math.min(input + output + fees + (beside?.totalNanos ?? 0), TOTAL_MAX)
  return {
    totalNanos: total,
    isKnown: true,
    upstreamNanos: total,
    upstreamInputNanos: input + (beside?.upstreamInputNanos ?? 0),
    upstreamOutputNanos: output + (beside?.upstreamOutputNanos ?? 0),
    cacheSavedNanos: Math.round((uncached - cached) * factor) + (beside?.cacheSavedNanos ?? 0),
    isByok: false,
    customersNanos: 0,
  }
}

/** The cost of what is counted beside the answer; null if nothing is. */
export const costBeside = ({ beside, inferenceGeo }: Usage, prices: PriceEntry): Cost | null =>
  beside === null ? null : costOf({ ...beside, inferenceGeo }, { ...prices, request: 0 })

/** The work of the provider's own tools for an answer, done or possible. */
export type ToolWork = Pick<Usage, 'webSearches' | 'fileSearches' | 'containers' | 'drawn'>

/** The cost of that work. */
export const toolNanos = (
  { webSearches, fileSearches, containers, drawn }: ToolWork,
  { web_search = 0, file_search = FILE_SEARCH, container = CONTAINER, drawing = DRAWING }: PriceEntry,
  containerGigabytes: number,
): number =>
  webSearches * nanosOf(web_search) +
  fileSearches * nanosOf(file_search) +
  containers * containerGigabytes * nanosOf(container) +
  tokenCostNanos(drawn, drawing)

/** OpenAI's page "Pricing": US dollars per million tokens of gpt-image-1, the dearest of its models for pictures. */
const DRAWING = 40
/** The same page: US dollars per call of file search, which xAI asks too, and per container of 1 GB; larger ones cost as many times more. */
const FILE_SEARCH = 0.0025
const CONTAINER = 0.03

/** A million dollars in nano-dollars. Providers report the counts, and storage cannot hold a sum beyond 2^53. */
const TOTAL_MAX = 1_000_000 * 1_000_000_000

type Rates = Pick<PriceEntry, 'prompt' | 'completion' | 'cache_read' | 'cache_write' | 'cache_write_1h' | 'reasoning'>

/** A long prompt moves the whole request to the highest tier whose threshold it exceeds. */
const ratesFor = (tokens: number, prices: PriceEntry): Rates => {
  let rates: Rates = prices
  let passed = -1
  for (const tier of prices.tiers ?? []) {
    if (tokens > tier.above_prompt_tokens && tier.above_prompt_tokens > passed) {
      rates = tier
      passed = tier.above_prompt_tokens
    }
  }
  return rates
}
