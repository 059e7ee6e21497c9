import { expect, test } from 'bun:test'

import { usageOf } from '../canonical/usage.ts'
import { costOf } from './price.ts'

test('each disjoint count is charged once, at its own price', () => {
  const usage = usageOf({
    inputFresh: 1000,
    inputCacheRead: 2000,
    inputCacheWrite5m: 300,
    inputCacheWrite1h: 40,
    output: 500,
    outputReasoning: 60,
  })
  const cost = costOf(usage, {
    prompt: 3,
    completion: 15,
    cache_read: 0.3,
    cache_write: 3.75,
    cache_write_1h: 6,
    reasoning: 10,
    request: 0.001,
  })
  // 1000×3 + 2000×0.3 + 300×3.75 + 40×6 = 4965 and 500×15 + 60×10 = 8100 millionths of a dollar, plus a thousandth of a dollar for the
  // request
  expect(cost).toEqual({
    totalNanos: 14_065_000,
    isKnown: true,
    upstreamNanos: 14_065_000,
    upstreamInputNanos: 4_965_000,
    upstreamOutputNanos: 8_100_000,
    // 2340×3 = 7020 without a cache, 600 + 1125 + 240 = 1965 with it
    cacheSavedNanos: 5_055_000,
    isByok: false,
    customersNanos: 0,
  })
})

test('writing a cache that is read by no one yet costs more than it saves, and without prices nothing is known of it', () => {
  const usage = usageOf({ inputFresh: 10, inputCacheWrite5m: 1000 })
  expect(costOf(usage, { prompt: 3, completion: 15, cache_write: 3.75 }).cacheSavedNanos).toBe(-750_000)
  expect(costOf(usage, { prompt: 3, completion: 15 }).cacheSavedNanos).toBe(0)
  expect(costOf(usage, null).cacheSavedNanos).toBeNull()
})

test('sound, pictures and searches have prices of their own, and none of their tokens is charged twice', () => {
  const usage = usageOf({ inputFresh: 100, inputAudio: 60, output: 50, outputAudio: 20, outputImage: 10, webSearches: 2 })
  const prices = { prompt: 1, completion: 2, audio: 10, completion_audio: 20, completion_image: 30, web_search: 0.01 }
  // 40×1 + 60×10 = 640 and 20×2 + 20×20 + 10×30 = 740 millionths of a dollar, plus two cents for the searches
  expect(costOf(usage, prices)).toMatchObject({ totalNanos: 21_380_000, upstreamInputNanos: 640_000, upstreamOutputNanos: 740_000 })
  // Three pictures at half a cent each
  expect(costOf(usage, { ...prices, image: 0.005 }, { inputImages: 3 }).totalNanos).toBe(36_380_000)
  // Without prices of their own: 100×1 + 50×2
  expect(costOf(usage, { prompt: 1, completion: 2 }).totalNanos).toBe(200_000)
})

test('no count makes another one negative: sound and pictures are parts of what was read and written, and no more', () => {
  const prices = { prompt: 1, completion: 1, audio: 0, completion_audio: 0, completion_image: 0 }
  const cost = costOf(usageOf({ inputFresh: 10, inputAudio: 20, output: 10, outputAudio: 8, outputImage: 8 }), prices)
  expect([cost.upstreamInputNanos, cost.upstreamOutputNanos]).toEqual([0, 0])
  const drawn = { ...prices, completion_image: 1 }
  expect(costOf(usageOf({ output: 10, outputAudio: 20, outputImage: 5 }), drawn).upstreamOutputNanos).toBe(0)
})

test('a cache that is kept for an hour costs what one for minutes does, where it has no price of its own', () => {
  expect(costOf(usageOf({ inputCacheWrite1h: 100 }), { prompt: 1, completion: 1, cache_write: 2 }).totalNanos).toBe(200_000)
})

test('the highest tier that a prompt has passed sets its price, in whatever order tiers are listed', () => {
  const tier = (above_prompt_tokens: number, prompt: number) => ({ above_prompt_tokens, prompt, completion: 1 })
  for (const tiers of [
    [tier(10, 2), tier(100, 3)],
    [tier(100, 3), tier(10, 2)],
  ]) {
    const costs = [10, 11, 101].map((inputFresh) => costOf(usageOf({ inputFresh }), { prompt: 1, completion: 1, tiers }).totalNanos)
    expect(costs).toEqual([10_000, 22_000, 303_000])
  }
})

test('a container costs by its memory', () => {
  const cost = (containerGigabytes: number) =>
    costOf(usageOf({ containers: 2 }), { prompt: 1, completion: 1, container: 0.03 }, { containerGigabytes }).totalNanos
  expect([cost(1), cost(4)]).toEqual([60_000_000, 240_000_000])
})

test('the factor of a geography holds for all tokens of an answer from there, and for no fee', () => {
  const prices = { prompt: 1, completion: 2, cache_read: 0.1, request: 0.001, web_search: 0.01, inference_geo: { us: 1.1 } }
  const counts = { inputFresh: 100, inputCacheRead: 1000, output: 50, webSearches: 1, beside: usageOf({ output: 100 }) }
  // (100×1 + 1000×0.1 + 50×2 + 100×2) × 1.1 = 550 millionths of a dollar, and 11 thousandths of fees
  // The cache saves 1000×0.9, times the factor
  expect(costOf(usageOf({ ...counts, inferenceGeo: 'us' }), prices)).toMatchObject({ totalNanos: 11_550_000, cacheSavedNanos: 990_000 })
  for (const inferenceGeo of ['global', 'eu', null])
    expect(costOf(usageOf({ ...counts, inferenceGeo }), prices).totalNanos).toBe(11_500_000)
})

test('an unknown cache price is the price of fresh input, never zero', () => {
  expect(costOf(usageOf({ inputCacheRead: 10, inputCacheWrite1h: 10 }), { prompt: 2, completion: 8 }).totalNanos).toBe(40_000)
})

test('a prompt above a tier moves the whole request to that tier', () => {
  const prices = {
    prompt: 1,
    completion: 2,
    tiers: [
      { above_prompt_tokens: 100, prompt: 10, completion: 20 },
      { above_prompt_tokens: 1000, prompt: 100, completion: 200 },
    ],
  }
  expect(costOf(usageOf({ inputFresh: 100, output: 1 }), prices).totalNanos).toBe(102_000)
  expect(costOf(usageOf({ inputFresh: 60, inputCacheRead: 41, output: 1 }), prices).totalNanos).toBe(1_030_000)
  expect(costOf(usageOf({ inputFresh: 1001, output: 1 }), prices).totalNanos).toBe(100_300_000)
})

test('an unknown price is what the provider reports, or not known', () => {
  expect(costOf(usageOf({ output: 5 }), null)).toMatchObject({ isKnown: false, upstreamNanos: null })
  expect(costOf(usageOf({ output: 5, reportedCostNanos: 7 }), null)).toMatchObject({ isKnown: true, totalNanos: 7 })
})

test('a fraction of a nano-dollar is rounded up', () => {
  expect(costOf(usageOf({ inputFresh: 1 }), { prompt: 0.0001, completion: 0 }).totalNanos).toBe(1)
})

test('whatever a provider counts, the cost is a number that storage can add up', () => {
  const counted = usageOf({ inputFresh: 1e9, output: 1e9, webSearches: 1e9 })
  expect(costOf(counted, { prompt: 1e6, completion: 1e6, web_search: 100 }).totalNanos).toBe(1e15)
})

test('a call that shortened the conversation is paid for beside the answer, in a tier of its own and without a second fee', () => {
  const prices = { prompt: 1, completion: 2, request: 0.01, tiers: [{ above_prompt_tokens: 100_000, prompt: 2, completion: 4 }] }
  const beside = usageOf({ inputFresh: 180_000, output: 3500 })
  const { totalNanos, upstreamInputNanos, upstreamOutputNanos } = costOf(usageOf({ inputFresh: 23_000, output: 1000, beside }), prices)
  expect({ totalNanos, upstreamInputNanos, upstreamOutputNanos }).toEqual({
    totalNanos: 23_000_000 + 2_000_000 + 360_000_000 + 14_000_000 + 10_000_000,
    upstreamInputNanos: 383_000_000,
    upstreamOutputNanos: 16_000_000,
  })
})
