/** Hard conditions that keep an endpoint from serving a request; the answer names them (docs/contract/routing.md#nobody-fits). */
import type { Call } from '../canonical/call.ts'
import type { RoutingPolicy } from '../canonical/routing-policy.ts'
import { searchesUnasked } from '../canonical/search-words.ts'
import type { Models } from '../models/models.ts'
import { comparedPrice, names, TIERS, untiered, type Candidate } from './candidate.ts'
import { byPolicy, NOT_KNOWN, reported } from './policy.ts'
import { heeds, type SentParameter } from './sent-parameters.ts'
import type { PriceName, Preferences } from './preferences.ts'
import type { ModelEndpoint } from '../models/model.ts'

export interface Filters {
  readonly call: Call
  readonly preferences: Preferences
  /** Names of providers that, if they are an endpoint's own tag, ask for that endpoint of a service tier. */
  readonly tierNames: readonly string[]
  readonly policy: RoutingPolicy | null
  readonly models: Pick<Models, 'otherNames'>
  /** No model that searches unasked may serve. */
  readonly deniesSearch: boolean
  /** The parameters that `require_parameters` demands; empty if the request does not ask for that. */
  readonly required: readonly SentParameter[]
}

/** Null if the endpoint may serve. `tiered`: true if the model has endpoints of the requested tier. */
export const exclusion = (candidate: Candidate, filters: Filters, tiered: boolean): string | null =>
  byPolicy(candidate, filters.policy, filters.models) ??
  (filters.deniesSearch && searchesUnasked(candidate.endpoint.upstreamModel) ? 'denied_tools: web_search' : null) ??
  byName(candidate, filters.preferences) ??
  byTier(candidate, filters, tiered) ??
  byData(candidate, filters.preferences) ??
  byQuality(candidate, filters) ??
  byPrice(candidate, filters.preferences)

const byName = ({ endpoint }: Candidate, { only, ignore, order, allowFallbacks }: Preferences): string | null => {
  if (only.length > 0 && !only.some((name) => names(endpoint, name)) && !isTierOf(endpoint, only)) return 'provider.only'
  if (ignore.some((name) => names(endpoint, name)) || isTierOf(endpoint, ignore)) return 'provider.ignore'
  if (allowFallbacks || order.length === 0) return null
  return order.some((name) => names(endpoint, name)) || isTierOf(endpoint, order) ? null : 'provider.order without fallbacks'
}

/** A provider's name also covers its endpoints of a tier; `byTier` then decides if those serve. */
const isTierOf = (endpoint: ModelEndpoint, wanted: readonly string[]): boolean =>
  endpoint.serviceTier !== null && wanted.some((name) => names(untiered(endpoint), name))

/** Endpoints of a tier must be requested: by `service_tier`, by the variant of a name, or by their own tag. */
const byTier = ({ endpoint, variant }: Candidate, { preferences: { tier }, tierNames }: Filters, tiered: boolean): string | null => {
  const own = endpoint.serviceTier
  if (own !== null) {
    const wanted = (tier !== null && TIERS[tier].includes(own)) || variant.admits === own
    return wanted || tierNames.some((name) => names(endpoint, name)) ? null : 'service_tier'
  }
  return tier !== null && tiered && !TIERS[tier].includes(null) ? 'service_tier' : null
}

const byData = ({ endpoint: { dataPolicy, distillable } }: Candidate, preferences: Preferences): string | null => {
  if (preferences.zdr && dataPolicy.retains !== false) return reported('provider.zdr', dataPolicy.retains)
  if (preferences.denyTraining && dataPolicy.training !== false) return reported('provider.data_collection', dataPolicy.training)
  if (preferences.distillable && distillable !== true) return reported('provider.enforce_distillable_text', distillable)
  return null
}

const byQuality = ({ endpoint }: Candidate, { preferences, required }: Filters): string | null => {
  const { quantization, supportedParameters } = endpoint
  if (preferences.quantizations.length > 0 && !preferences.quantizations.includes(quantization)) {
    return quantization === 'unknown' ? `provider.quantizations: ${NOT_KNOWN}` : 'provider.quantizations'
  }
  const lacking = required.find((parameter) => !heeds(supportedParameters, parameter))
  return lacking === undefined ? null : `provider.require_parameters: ${lacking[0] ?? ''}`
}

const byPrice = ({ endpoint, variant }: Candidate, { maxPrice }: Preferences): string | null => {
  if (variant.free && comparedPrice(endpoint) !== 0) return ':free'
  const { prices } = endpoint
  for (const [name, limit] of maxPrice) {
    if (prices === null) return `provider.max_price: ${NOT_KNOWN}`
    if (priceOf(prices, name) > limit) return `provider.max_price: ${name}`
  }
  return null
}

/** A kind of token without a price of its own is charged as input, or not at all. */
const priceOf = (prices: NonNullable<ModelEndpoint['prices']>, name: PriceName): number =>
  prices[name] ?? (name === 'audio' ? prices.prompt : 0)

/**
 * Why an endpoint gives less output than the request allows; null if it gives enough. Only limits that the request states in tokens count:
 * the length of its input is only estimated until a provider counts it.
 */
export const shortness = (
  { maxCompletionTokens, contextLength }: ModelEndpoint,
  { maxOutputTokens }: Pick<Call, 'maxOutputTokens'>,
): string | null => {
  if (maxOutputTokens === null) return null
  if (maxCompletionTokens !== null && maxOutputTokens > maxCompletionTokens) return `max_tokens: at most ${maxCompletionTokens}`
  return contextLength !== null && maxOutputTokens > contextLength ? `max_tokens: a context of ${contextLength}` : null
}
