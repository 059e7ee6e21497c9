import type { EndpointTier } from '../canonical/endpoint-facts.ts'
import type { EndpointKey, HealthView } from './health.ts'
import type { SortBy } from './preferences.ts'
import type { EndpointHealth } from './endpoint-health.ts'
import type { Model, ModelEndpoint } from '../models/model.ts'

/** One endpoint that could answer: filters judge it, and the order ranks it. */
export interface Candidate {
  readonly model: Model
  readonly endpoint: ModelEndpoint
  readonly key: EndpointKey
  readonly health: EndpointHealth
  /** The preferences in the model name that the request used for it. */
  readonly variant: Variant
}

/** The model behind a name of the request, with the name's variant. */
export interface AskedModel {
  readonly model: Model
  readonly variant: Variant
}

export const endpointKey = (model: Model, endpoint: ModelEndpoint): EndpointKey => `${model.id} ${endpoint.tag}`

export const candidatesOf = ({ model, variant }: AskedModel, health: HealthView): Candidate[] =>
  model.endpoints.map((endpoint) => {
    const key = endpointKey(model, endpoint)
    return { model, endpoint, key, health: health.of(key), variant }
  })

/**
 * Clients name a provider by slug or display name, in any case, and mean all its endpoints except those of a service tier; or they name one
 * endpoint by its whole tag (docs/contract/routing.md#provider-names).
 */
export const names = ({ provider, tag, serviceTier }: ModelEndpoint, wanted: string): boolean => {
  const name = wanted.toLowerCase()
  if (tag.toLowerCase() === name) return true
  return serviceTier === null && (provider.slug.toLowerCase() === name || provider.name.toLowerCase() === name)
}

/** The endpoint without its tier, for names of a provider that cover its tiers too. */
export const untiered = (endpoint: ModelEndpoint): ModelEndpoint => ({ ...endpoint, serviceTier: null })

/** The price of input plus output, by which prices are compared. Null if no price is known. */
export const comparedPrice = ({ prices }: ModelEndpoint): number | null => (prices === null ? null : prices.prompt + prices.completion)

/** The endpoint tiers that a requested tier admits, the preferred one first; null stands for ordinary endpoints. */
export const TIERS: Readonly<Record<EndpointTier, readonly (EndpointTier | null)[]>> = {
  priority: ['priority', null],
  ultrafast: ['ultrafast', 'priority', null],
  // A client that asks for the cheap tier does not want to pay for another one.
  flex: ['flex'],
}

/** True if the model has endpoints for the tier, or for a tier that it admits. */
export const servesTier = ({ endpoints }: Model, tier: EndpointTier): boolean =>
  endpoints.some(({ serviceTier }) => serviceTier !== null && TIERS[tier].includes(serviceTier))

/** The preferences that the end of a model's name expresses. */
export interface Variant {
  readonly sort: SortBy | null
  readonly admits: EndpointTier | null
  /** Only endpoints that cost nothing may serve. */
  readonly free: boolean
  /** The endpoint with the longest context comes first. */
  readonly longest: boolean
  /** The web is searched before the answer. */
  readonly searches: boolean
  /** Explains the part of the variant that this version does not support; null if there is none. */
  readonly unheeded: string | null
}
