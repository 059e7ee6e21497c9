/**
 * The most that a request may cost, before anybody has counted a token: what is held for it. It errs upwards; where the
 * true cost is higher all the same, the whole cost is charged and the excess is reported.
 */
import type { Call } from '../canonical/call.ts'
import { inputSizeOf } from '../canonical/input-size.ts'
import { nanosOf, tokenCostNanos } from '../lib/money.ts'
import type { PriceEntry } from '../models/catalogue-schema.ts'
import type { ModelEndpoint, Provider } from '../models/models.ts'

export interface EstimateSettings {
  /** Output tokens held for a request that sets no maximum. */
  readonly maxOutputTokens: number
  /** For endpoints whose price nobody told. */
  readonly assumedPrices: PriceEntry
}

export interface Estimate {
  /** Of the dearest attempt: one hold covers them all, since one of them answers. */
  readonly mostNanos: number
  /** Of the prompt alone at the first attempt: what a request that was sent and never heard of is charged. */
  readonly promptNanos: number
}

interface Estimated {
  readonly call: Call
  readonly apiType: 'completions' | 'embeddings'
}

export const estimateOf = (
  { call, apiType }: Estimated,
  attempts: readonly { readonly endpoint: ModelEndpoint }[],
  settings: EstimateSettings,
): Estimate => {
  const size = inputSizeOf(call.body)
  const plainTokens = Math.ceil(size.textBytes / BYTES_PER_TOKEN[apiType]) + Math.ceil(size.mediaBytes / BYTES_PER_TOKEN[apiType])
  const writesCache = CACHE_MARK.test(call.body.searchable)
  const searches = SEARCH.test(call.body.searchable) ? SEARCHES : 0
  let mostNanos = 0
  let promptNanos = 0
  for (const [number, { endpoint }] of attempts.entries()) {
    const prices = endpoint.prices ?? settings.assumedPrices
    const input = plainTokens + OVERHEAD_TOKENS + size.images * imageTokens(endpoint.provider)
    const output = apiType === 'embeddings' ? 0 : outputTokensMax(call, endpoint, settings.maxOutputTokens)
    const rates = dearest(prices, input, size.mediaBytes > 0)
    const fee = nanosOf(prices.request ?? 0) + size.images * nanosOf(prices.image ?? 0)
    const searched = searches * nanosOf(prices.web_search ?? 0)
    const prompt = tokenCostNanos(input, writesCache ? rates.cached : rates.prompt)
    mostNanos = Math.max(mostNanos, prompt + fee + searched + tokenCostNanos(output, rates.completion))
    if (number === 0) promptNanos = tokenCostNanos(input, prices.prompt) + fee
  }
  return { mostNanos: Math.min(mostNanos, MOST_NANOS), promptNanos: Math.min(promptNanos, MOST_NANOS) }
}

/** Four times the largest limit. A client chooses its `max_tokens`, and storage takes no number beyond 2^53. */
const MOST_NANOS = 4_000_000 * 1_000_000_000

const CACHE_MARK = /cache_control/
/** By the names of the tool, the option and the plugin in all dialects. How often a model searches nobody knows before. */
const SEARCH = /web_search|"id"\s*:\s*"web"/
const SEARCHES = 10

/** Three bytes make a token of prose, code and most scripts. Embeddings may come as numbers of tokens, of at least a digit and a comma. */
const BYTES_PER_TOKEN = { completions: 3, embeddings: 2 } as const
/** What providers wrap around the messages and the tools. */
const OVERHEAD_TOKENS = 400

/** The most tokens of one picture, by the dialect that the provider's documentation counts in. */
const IMAGE_TOKENS: Readonly<Record<Provider['dialects'][number], number>> = {
  anthropic: 4800,
  bedrock: 4800,
  google: 2600,
  'openai-responses': 2900,
  'openai-chat': 2900,
  sandbox: 0,
}

const imageTokens = ({ dialects }: Provider): number => Math.max(...dialects.map((dialect) => IMAGE_TOKENS[dialect]))

const outputTokensMax = ({ maxOutputTokens, body }: Call, endpoint: ModelEndpoint, unset: number): number => {
  const answers = body.value('n')
  const each = Math.min(maxOutputTokens ?? unset, endpoint.maxCompletionTokens ?? Number.POSITIVE_INFINITY)
  return each * (typeof answers === 'number' && answers > 1 ? Math.ceil(answers) : 1)
}

interface Rates {
  readonly prompt: number
  /** Of tokens that are written to a cache, which may cost more than to read them. */
  readonly cached: number
  readonly completion: number
}

/** A request may land in any tier below its bound, and the tiers need not grow dearer. */
const dearest = (prices: PriceEntry, tokens: number, withMedia: boolean): Rates => {
  const rates = [prices, ...(prices.tiers ?? []).filter((tier) => tokens > tier.above_prompt_tokens)]
  return {
    prompt: Math.max(withMedia ? (prices.audio ?? 0) : 0, ...rates.map(({ prompt }) => prompt)),
    cached: Math.max(
      ...rates.map(({ prompt, cache_write = prompt, cache_write_1h = cache_write }) => Math.max(prompt, cache_write, cache_write_1h)),
    ),
    completion: Math.max(
      prices.completion_audio ?? 0,
      prices.completion_image ?? 0,
      ...rates.map(({ completion, reasoning = completion }) => Math.max(completion, reasoning)),
    ),
  }
}
