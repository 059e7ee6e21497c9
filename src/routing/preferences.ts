/**
 * The routing preferences of a request: the `provider` object, `route` and `service_tier`, read once
 * (docs/contract/routing.md#preferences).
 */
import type { Call } from '../canonical/call.ts'
import { ENDPOINT_TIERS, type EndpointTier } from '../canonical/endpoint-facts.ts'
import { isObject, textsIn } from '../lib/json/json.ts'
import { PERCENTILES, type PercentileName } from './sliding-histogram.ts'

export type SortBy = 'price' | 'throughput' | 'latency' | 'exacto'

export interface Preferences {
  readonly order: readonly string[]
  readonly only: readonly string[]
  readonly ignore: readonly string[]
  readonly allowFallbacks: boolean
  readonly requireParameters: boolean
  /** Excludes providers that train on what they are sent. */
  readonly denyTraining: boolean
  readonly zdr: boolean
  readonly distillable: boolean
  readonly quantizations: readonly string[]
  readonly sort: SortBy | null
  /** `model`: the fallback models come after all endpoints of the first; `none`: the endpoints of all models are ordered together. */
  readonly partition: 'model' | 'none'
  /** Minimum tokens per second. */
  readonly minThroughput: Cutoffs | null
  /** Maximum milliseconds. */
  readonly maxLatencyMs: Cutoffs | null
  /** US dollars, in the units of the catalogue. */
  readonly maxPrice: readonly (readonly [PriceName, number])[]
  readonly tier: EndpointTier | null
  /** True if `speed` requests the tier; providers of its dialect accept `speed` unchanged. */
  readonly tierIsSpeed: boolean
}

/** By percentile; only those that the request names. */
export type Cutoffs = readonly (readonly [PercentileName, number])[]

const PRICES = ['prompt', 'completion', 'request', 'image', 'audio'] as const
export type PriceName = (typeof PRICES)[number]

/** The form of these fields was already validated with the request. */
export const readPreferences = ({ body, dialect }: Call): Preferences => {
  const given = body.value('provider')
  const asked = body.value('service_tier')
  // If the request names both, each is sent as it is written.
  const tierIsSpeed = dialect === 'messages' && (asked ?? 'auto') === 'auto' && body.value('speed') === 'fast'
  const tier = readTier(tierIsSpeed ? 'fast' : asked)
  const route = body.value('route')
  if (given === undefined && tier === null && route === undefined) return NO_WISHES
  const provider = isObject(given) ? given : {}
  const sort: Readonly<Record<string, unknown>> = isObject(provider['sort']) ? provider['sort'] : { by: provider['sort'] }
  return {
    order: textsIn(provider['order']),
    only: textsIn(provider['only']),
    ignore: textsIn(provider['ignore']),
    allowFallbacks: provider['allow_fallbacks'] !== false,
    requireParameters: provider['require_parameters'] === true,
    denyTraining: provider['data_collection'] === 'deny',
    zdr: provider['zdr'] === true,
    distillable: provider['enforce_distillable_text'] === true,
    quantizations: textsIn(provider['quantizations']),
    sort: (sort['by'] ?? null) as SortBy | null,
    partition: (sort['partition'] ?? (route === 'sort' ? 'none' : 'model')) === 'none' ? 'none' : 'model',
    minThroughput: readCutoffs(provider['preferred_min_throughput'], 1),
    maxLatencyMs: readCutoffs(provider['preferred_max_latency'], 1000),
    maxPrice: readMaxPrice(provider['max_price']),
    tier,
    tierIsSpeed,
  }
}

const NO_WISHES: Preferences = {
  order: [],
  only: [],
  ignore: [],
  allowFallbacks: true,
  requireParameters: false,
  denyTraining: false,
  zdr: false,
  distillable: false,
  quantizations: [],
  sort: null,
  partition: 'model',
  minThroughput: null,
  maxLatencyMs: null,
  maxPrice: [],
  tier: null,
  tierIsSpeed: false,
}

/** `fast` is another name for `priority`. Other tiers have no endpoints of their own. */
const readTier = (value: unknown): EndpointTier | null => {
  const name = value === 'fast' ? 'priority' : value
  return ENDPOINT_TIERS.find((tier) => tier === name) ?? null
}

/** A number stands for the median. */
const readCutoffs = (value: unknown, factor: number): Cutoffs | null => {
  if (typeof value === 'number') return [['p50', value * factor]]
  if (!isObject(value)) return null
  const cutoffs = PERCENTILES.flatMap((name) => {
    const cutoff = value[name]
    return typeof cutoff === 'number' ? [[name, cutoff * factor] as const] : []
  })
  return cutoffs.length === 0 ? null : cutoffs
}

/** Limits may be numbers, or numbers as text. */
const readMaxPrice = (value: unknown): Preferences['maxPrice'] => {
  if (!isObject(value)) return []
  return PRICES.flatMap((name) => {
    const limit = value[name] ?? null
    return limit === null ? [] : [[name, Number(limit)] as const]
  })
}
