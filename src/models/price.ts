import type { Cost } from '../canonical/cost.ts'
import { inputTokens, type Usage } from '../canonical/usage.ts'
import { nanosOf, tokenCostNanos } from '../lib/money.ts'
import type { PriceEntry } from './catalogue-schema.ts'

/**
 * The cost of a generation; `inputImages` matters only if pictures have a price each. Without prices the cost that the provider itself
 * reports counts; without that either, the cost is not known.
 */
export const costOf = (usage: Usage, prices: PriceEntry | null, inputImages = 0): Cost => {
  if (prices === null) {
    const reported = usage.reportedCostNanos
    return {
      totalNanos: reported ?? 0,
      isKnown: reported !== null,
      upstreamNanos: reported,
      upstreamInputNanos: 0,
      upstreamOutputNanos: reported ?? 0,
      isByok: false,
      customersNanos: 0,
    }
  }
  const rates = ratesFor(inputTokens(usage), prices)
  // An unknown cache price is that of fresh input: an omission never makes anything free.
  const cacheWrite = rates.cache_write ?? rates.prompt
  const audio = Math.min(usage.inputAudio, usage.inputFresh)
  const factor = usage.inferenceGeo === null ? 1 : (prices.inference_geo?.[usage.inferenceGeo] ?? 1)
  const read =
    tokenCostNanos(usage.inputFresh - audio, rates.prompt) +
    tokenCostNanos(audio, prices.audio ?? rates.prompt) +
    tokenCostNanos(usage.inputCacheRead, rates.cache_read ?? rates.prompt) +
    tokenCostNanos(usage.inputCacheWrite5m, cacheWrite) +
    tokenCostNanos(usage.inputCacheWrite1h, rates.cache_write_1h ?? cacheWrite)
  const input = Math.round(read * factor) + inputImages * nanosOf(prices.image ?? 0)
  const spoken = Math.min(usage.outputAudio, usage.output)
  const drawn = Math.min(usage.outputImage, usage.output - spoken)
  const written =
    tokenCostNanos(usage.output - spoken - drawn, rates.completion) +
    tokenCostNanos(spoken, prices.completion_audio ?? rates.completion) +
    tokenCostNanos(drawn, prices.completion_image ?? rates.completion) +
    tokenCostNanos(usage.outputReasoning, rates.reasoning ?? rates.completion)
  const output = Math.round(written * factor)
  const fees = nanosOf(prices.request ?? 0) + usage.webSearches * nanosOf(prices.web_search ?? 0) + drawnNanos(usage.drawn, prices)
  const beside = usage.beside === null ? null : costOf({ ...usage.beside, inferenceGeo: usage.inferenceGeo }, { ...prices, request: 0 })
  const total = Math.min(input + output + fees + (beside?.totalNanos ?? 0), TOTAL_MAX)
  return {
    totalNanos: total,
    isKnown: true,
    upstreamNanos: total,
    upstreamInputNanos: input + (beside?.upstreamInputNanos ?? 0),
    upstreamOutputNanos: output + (beside?.upstreamOutputNanos ?? 0),
    isByok: false,
    customersNanos: 0,
  }
}

/** The cost of tokens of pictures that a tool of the provider draws. */
export const drawnNanos = (tokens: number, { drawing = DRAWING }: PriceEntry): number => tokenCostNanos(tokens, drawing)

/** US dollars per million tokens: the dearest of OpenAI's models for pictures (its page "Pricing", gpt-image-1). */
const DRAWING = 40

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
