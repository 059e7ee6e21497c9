/** Decides which of a model's endpoints at one provider answered: the tier that served a request has its own price. */
import type { EndpointTier } from '../canonical/endpoint-facts.ts'
import type { Model, ModelEndpoint } from './model.ts'

/** `tier`: the name in the answer, or else in the request; null if neither is known. */
export const endpointThatServed = ({ endpoints }: Pick<Model, 'endpoints'>, asked: ModelEndpoint, tier: string | null): ModelEndpoint => {
  const reported = tier === null ? undefined : TIERS.get(tier.toLowerCase())
  if (reported === undefined || reported === asked.serviceTier) return asked
  const serving = endpoints.filter(({ provider, serviceTier }) => provider.slug === asked.provider.slug && serviceTier === reported)
  return serving.reduce<ModelEndpoint | null>((best, one) => (best === null || priceOf(one) > priceOf(best) ? one : best), null) ?? asked
}

/** Our name for a tier that a provider names in its own way; the provider's word, in lower case, if there is none. */
export const tierNamed = (word: string): string => {
  const known = TIERS.get(word.toLowerCase())
  return known === undefined ? word.toLowerCase() : (known ?? 'default')
}

/**
 * The endpoints that may answer a request to an endpoint: itself, and the provider's other ones if a tier that may cost more was requested.
 */
export const endpointsThatMayServe = (
  { endpoints }: Pick<Model, 'endpoints'>,
  asked: ModelEndpoint,
  premiumTier: boolean,
): readonly ModelEndpoint[] =>
  premiumTier ? [asked, ...endpoints.filter(({ provider }) => provider.slug === asked.provider.slug)] : [asked]

/** The tier names of all providers; null is the ordinary endpoint. */
const TIERS: ReadonlyMap<string, EndpointTier | null> = new Map<string, EndpointTier | null>([
  ['default', null],
  ['standard', null],
  ['on_demand', null],
  ['priority', 'priority'],
  ['fast', 'priority'],
  ['on_demand_priority', 'priority'],
  ['ultrafast', 'ultrafast'],
  ['flex', 'flex'],
  ['on_demand_flex', 'flex'],
])

const priceOf = ({ prices }: ModelEndpoint): number => (prices === null ? 0 : prices.prompt + prices.completion)
