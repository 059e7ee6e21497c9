/**
 * The maximum cost of a request before any token is counted; this amount is held for it. The estimate errs upwards; if the true cost is
 * still higher, the whole cost is charged and the excess is reported.
 */
import { askedWork, type AskedWork, lookingForWork, marksCache } from '../canonical/asked-work.ts'
import type { Call } from '../canonical/call.ts'
import { type InputSize, measuringInput, mostTextTokens } from '../canonical/input-size.ts'
import { PICTURE_TOKENS } from '../canonical/usage.ts'
import { hundredthsOf, wholeTokens } from '../canonical/token-bound.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { isObject } from '../lib/json/json.ts'
import { nanosOf, tokenCostNanos } from '../lib/money.ts'
import type { Steps } from '../lib/steps.ts'
import type { PriceEntry } from '../models/catalogue-schema.ts'
import { endpointsThatMayServe } from '../models/served-endpoint.ts'
import type { Model, ModelEndpoint, Provider } from '../models/model.ts'
import { toolNanos, type ToolWork } from '../models/price.ts'
import type { ProviderDialect } from '../canonical/provider-dialects.ts'

export interface EstimateSettings {
  /** Output tokens held for a request that sets no maximum. */
  readonly maxOutputTokens: number
  /** Prices for endpoints without a known price. */
  readonly assumedPrices: PriceEntry
}

export interface Estimate {
  /** The cost of the most expensive attempt: one hold covers them all, since only one of them answers. */
  readonly mostNanos: number
  /** The cost of the prompt alone at the first attempt: the charge for a request that was sent and never answered. */
  readonly promptNanos: number
}

export type ApiType = 'completions' | 'embeddings'

interface Estimated {
  readonly call: Call
  readonly apiType: ApiType
}

export interface Asked {
  readonly model: Pick<Model, 'endpoints'>
  readonly endpoint: ModelEndpoint
}

/**
 * Estimates from the client's body, before anything is sent. A limit beyond what an endpoint gives is lowered on the way out, so it is
 * lowered here too; `outgoingNanos` measures what really goes out.
 */
export function* estimateOf({ call, apiType }: Estimated, attempts: readonly Asked[], settings: EstimateSettings): Steps<Estimate> {
  const weighed = yield* weigh(call.body, apiType)
  let mostNanos = 0
  let promptNanos = 0
  for (const [number, asked] of attempts.entries()) {
    const { endpoint } = asked
    const given = endpoint.maxCompletionTokens ?? Number.POSITIVE_INFINITY
    const outputTokens = Math.min(
      Math.max(outputOf(weighed.work, call.maxOutputTokens !== null, endpoint, settings), call.maxOutputTokens ?? 0),
      given,
    )
    mostNanos = Math.max(mostNanos, costNanos(weighed, { overheadTokens: OVERHEAD_TOKENS, outputTokens }, asked, settings.assumedPrices))
    if (number > 0) continue
    const prices = endpoint.prices ?? settings.assumedPrices
    promptNanos =
      tokenCostNanos(weighed.usualTokens + OVERHEAD_TOKENS + picturesOf(weighed, endpoint), prices.prompt) + feeOf(weighed, prices)
  }
  return { mostNanos: Math.min(mostNanos, MOST_NANOS), promptNanos: Math.min(promptNanos, MOST_NANOS) }
}

interface Outgoing {
  readonly dialect: ProviderDialect
  readonly apiType: ApiType
  /** The client's body, which was weighed already: parts that go out unchanged are not weighed again. */
  readonly clientBody: JsonBody
  /** The JSON text of the model, if the body is the client's own but for its model: `body` is then the client's. */
  readonly model: string | null
}

/** The maximum cost of a body that is about to be sent to this endpoint, if every field of it is taken literally. */
export function* outgoingNanos(
  body: JsonBody,
  { dialect, apiType, clientBody, model }: Outgoing,
  asked: Asked,
  settings: EstimateSettings,
): Steps<number> {
  const weighed = yield* weigh(body, apiType, clientBody)
  const overheadTokens = PROVIDERS_OVERHEAD_TOKENS + (model === null ? 0 : wholeTokens(hundredthsOf(model, 'text')))
  const outputTokens = outputOf(weighed.work, isLimited(body, dialect), asked.endpoint, settings)
  return Math.min(costNanos(weighed, { overheadTokens, outputTokens }, asked, settings.assumedPrices), MOST_NANOS)
}

/**
 * Output tokens for a body without a limit at this endpoint; also the limit that is sent if the dialect requires one. A thinking budget is
 * added, since otherwise no room would be left for the answer.
 */
export const unlimitedOutput = (body: JsonBody, endpoint: ModelEndpoint, settings: EstimateSettings): number =>
  unlimitedTokens(askedWork(body), endpoint, settings)

/** Four times the largest limit. A client chooses its `max_tokens`, and storage cannot hold a number beyond 2^53. */
export const MOST_NANOS = 4_000_000 * 1_000_000_000

/** For audio, video and predicted answers. */
const BYTES_PER_TOKEN = 3
/** Embeddings may be sent as token numbers, each of at least a digit and a comma. */
const USUAL_BYTES = { completions: 3, embeddings: 2 } as const
/** Tokens of the text that providers wrap around the messages and the tools. */
const PROVIDERS_OVERHEAD_TOKENS = 200
/** The maximum number of tokens that a body gains on its way out. */
const OVERHEAD_TOKENS = 400

/** The maximum number of tokens of one picture, by dialect, as the provider's documentation counts them. */
const IMAGE_TOKENS: Readonly<Record<Provider['dialects'][number], number>> = {
  anthropic: 4800,
  bedrock: 4800,
  google: 2600,
  'openai-responses': 2900,
  'openai-chat': 2900,
  sandbox: 0,
}

/** Tokens of a file, audio or video that is given by its address or id. */
const LINKED_TOKENS = 30_000

interface Weighed {
  readonly size: InputSize
  readonly work: AskedWork
  readonly marksCache: boolean
  /** Excludes pictures, whose weight depends on the provider. */
  readonly plainTokens: number
  /** The same for typical text: not an upper bound, but the amount charged if no one counted. */
  readonly usualTokens: number
  readonly apiType: ApiType
}

function* weigh(body: JsonBody, apiType: ApiType, before: JsonBody | null = null): Steps<Weighed> {
  const known = WEIGHED.get(body)
  if (known?.apiType === apiType) return known
  const size = yield* measuringInput(body, before)
  const beside = size.linked * LINKED_TOKENS
  const soundTokens = Math.ceil(size.mediaBytes / BYTES_PER_TOKEN)
  const plainTokens = (yield* textTokensOf(body, apiType, size)) + Math.max(soundTokens, size.fileTokens) + beside
  const usualTokens = Math.ceil(size.textBytes / USUAL_BYTES[apiType]) + soundTokens + beside
  const weighed = { size, work: yield* lookingForWork(body), marksCache: yield* marksCache(body), plainTokens, usualTokens, apiType }
  WEIGHED.set(body, weighed)
  return weighed
}

const WEIGHED = new WeakMap<JsonBody, Weighed>()

function* textTokensOf(body: JsonBody, apiType: ApiType, size: InputSize): Steps<number> {
  return apiType === 'embeddings' && NUMBERS.test(body.rawSearchable('input') ?? '')
    ? Math.ceil(size.textBytes / USUAL_BYTES.embeddings)
    : yield* mostTextTokens(body)
}

const NUMBERS = /^\[\s*(?:\[\s*)?\d/

/** The text tokens of a PDF page. The page is also read as a picture: docs.claude.com, "PDF support", "Estimate your costs". */
const PAGE_TOKENS = 3000

/** Used if a context window is not known: no model has a larger one. */
const CONTEXT_MAX = 2_000_000

const pictureTokens = ({ provider: { dialects } }: ModelEndpoint): number => Math.max(...dialects.map((dialect) => IMAGE_TOKENS[dialect]))

const picturesOf = ({ size }: Weighed, endpoint: ModelEndpoint): number => size.images * pictureTokens(endpoint)

const inputOf = (weighed: Weighed, overheadTokens: number, endpoint: ModelEndpoint): number => {
  // A document that does not fit into the context window is refused.
  const pageTokens = Math.min(weighed.size.pages * (PAGE_TOKENS + pictureTokens(endpoint)), endpoint.contextLength ?? CONTEXT_MAX)
  return weighed.plainTokens + overheadTokens + picturesOf(weighed, endpoint) + pageTokens
}

const feeOf = ({ size }: Weighed, { request = 0, image = 0 }: PriceEntry): number => nanosOf(request) + size.images * nanosOf(image)

/**
 * The maximum output of one answer. Only a limit under a name that the provider knows lowers the amount held; one under any other name,
 * which the provider may or may not know, raises it.
 */
const outputOf = (work: AskedWork, limited: boolean, endpoint: ModelEndpoint, settings: EstimateSettings): number => {
  const unlimited = limited && !work.unlimited ? 0 : unlimitedTokens(work, endpoint, settings)
  return Math.max(unlimited, work.outputTokens ?? 0, work.thinkingTokens) + Math.ceil(work.predictedBytes / BYTES_PER_TOKEN)
}

const unlimitedTokens = (
  { thinkingTokens }: AskedWork,
  { maxCompletionTokens }: ModelEndpoint,
  { maxOutputTokens }: EstimateSettings,
): number => Math.min(maxOutputTokens + thinkingTokens, maxCompletionTokens ?? Number.POSITIVE_INFINITY)

const isLimited = (body: JsonBody, dialect: ProviderDialect): boolean =>
  LIMITS[dialect].some(([name, inner]) => {
    const value = body.get(name)
    const limit = inner === undefined ? value : isObject(value) ? value[inner] : undefined
    return typeof limit === 'number' && limit > 0
  })

/** The names of the output limit in each dialect; if there is a second name, it is a member inside the first. */
const LIMITS: Readonly<Record<ProviderDialect, readonly (readonly [string, string?])[]>> = {
  'openai-chat': [['max_tokens'], ['max_completion_tokens']],
  'openai-responses': [['max_output_tokens']],
  anthropic: [['max_tokens']],
  google: [['generationConfig', 'maxOutputTokens']],
  bedrock: [['inferenceConfig', 'maxTokens']],
  sandbox: [['max_tokens'], ['max_completion_tokens'], ['max_output_tokens']],
}

const costNanos = (
  weighed: Weighed,
  { overheadTokens, outputTokens }: { readonly overheadTokens: number; readonly outputTokens: number },
  { model, endpoint }: Asked,
  assumedPrices: PriceEntry,
): number => {
  const { work, size, apiType } = weighed
  const input = inputOf(weighed, overheadTokens, endpoint)
  const answers = apiType === 'embeddings' ? 0 : work.answers
  const passes = work.compacts && input >= COMPACTED_TOKENS_MIN ? 2 : 1
  const tools = heldTools(work, endpoint)
  const costs = endpointsThatMayServe(model, endpoint, work.premiumTier).map((serving) => {
    const prices = serving.prices ?? assumedPrices
    const rates = dearest(prices, input, size.mediaBytes + size.linked > 0)
    const rate = weighed.marksCache ? rates.cached : writesUnasked(endpoint) ? rates.unasked : rates.prompt
    const tokens = tokenCostNanos(input, rate) + tokenCostNanos(outputTokens * answers, rates.completion)
    const byTools = toolNanos(tools, prices, work.containerGigabytes)
    return Math.ceil(tokens * dearestFactor(prices)) * passes + feeOf(weighed, prices) + byTools
  })
  return Math.max(...costs)
}

/** The work of the provider's own tools that is held for a body; a stream in which they do more is stopped unless more can be held. */
export const heldTools = (work: AskedWork, { provider: { dialects } }: ModelEndpoint): ToolWork => {
  const isOpenAis = dialects.includes('openai-responses')
  return {
    webSearches: work.searches,
    fileSearches: isOpenAis ? work.fileSearches : 0,
    containers: isOpenAis || dialects.includes('anthropic') ? work.containers : 0,
    drawn: isOpenAis && work.draws ? PICTURE_TOKENS : 0,
  }
}

/** OpenAI fills its cache for minutes unless it is told not to, and servers of its dialects may do the same; others fill it where marked. */
const writesUnasked = ({ provider: { dialects } }: ModelEndpoint): boolean =>
  dialects.includes('openai-chat') || dialects.includes('openai-responses')

/** The account at the provider may have a geography of its own, so that of the request does not bound the price. */
const dearestFactor = ({ inference_geo: factors }: PriceEntry): number =>
  factors === undefined ? 1 : Math.max(1, ...Object.values(factors))

/** Shorter conversations are not compacted: docs.claude.com, "Compaction at a token threshold". */
const COMPACTED_TOKENS_MIN = 50_000

interface Rates {
  readonly prompt: number
  /** The price of writing tokens to a cache, which may exceed the plain price. */
  readonly cached: number
  /** The same for a cache that is kept for minutes, as one is that nobody asked for. */
  readonly unasked: number
  readonly completion: number
}

/** A request may fall into any tier below its bound, and higher tiers are not necessarily more expensive. */
const dearest = (prices: PriceEntry, tokens: number, withMedia: boolean): Rates => {
  const { tiers, audio = 0, completion_audio = 0, completion_image = 0 } = prices
  const most = { prompt: withMedia ? audio : 0, cached: 0, unasked: 0, completion: Math.max(completion_audio, completion_image) }
  raise(most, prices)
  for (const tier of tiers ?? NO_TIERS) if (tokens > tier.above_prompt_tokens) raise(most, tier)
  return most
}

const NO_TIERS: NonNullable<PriceEntry['tiers']> = []

const raise = (most: { -readonly [Name in keyof Rates]: number }, rate: Omit<PriceEntry, 'tiers'>): void => {
  const { prompt, completion, cache_write = prompt, cache_write_1h = cache_write, reasoning = completion } = rate
  most.prompt = Math.max(most.prompt, prompt)
  most.unasked = Math.max(most.unasked, prompt, cache_write)
  most.cached = Math.max(most.cached, prompt, cache_write, cache_write_1h)
  most.completion = Math.max(most.completion, completion, reasoning)
}
