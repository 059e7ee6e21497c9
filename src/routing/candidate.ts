import type { EndpointTier } from '../canonical/endpoint-facts.ts'
import type { EndpointKey, HealthView } from './health.ts'
import type { SortBy } from './preferences.ts'
import type { EndpointHealth } from './endpoint-health.ts'
import type { Model, ModelEndpoint } from '../models/model.ts'

/** One endpoint that could answer: what the filters judge and the order ranks. */
export interface Candidate {
  readonly model: Model
  readonly endpoint: ModelEndpoint
  readonly key: EndpointKey
  readonly health: EndpointHealth
  /** The preferences in the name that it was asked for by. */
  readonly variant: Variant
}

/** A name of the request, and the model behind it. */
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
 * Clients name a provider by slug or display name, in any case, and mean all its endpoints but those of a service tier;
 * or one endpoint by its whole tag (docs/contract/routing.md#provider-names).
 */
export const names = ({ provider, tag, serviceTier }: ModelEndpoint, wanted: string): boolean => {
  const name = wanted.toLowerCase()
  if (tag.toLowerCase() === name) return true
  return serviceTier === null && (provider.slug.toLowerCase() === name || provider.name.toLowerCase() === name)
}

/** The cost of input and output together: the number that prices are compared by. Null where no price is known. */
export const comparedPrice = ({ prices }: ModelEndpoint): number | null => (prices === null ? null : prices.prompt + prices.completion)

/** Which tiers' endpoints a wish for a tier admits, the preferred one first; null stands for ordinary endpoints. */
export const TIERS: Readonly<Record<EndpointTier, readonly (EndpointTier | null)[]>> = {
  priority: ['priority', null],
  ultrafast: ['ultrafast', 'priority', null],
  // Who asks for the cheap tier does not want to pay for another.
  flex: ['flex'],
}

/** Says whether the model has endpoints of its own for the tier, or for one that it admits. */
export const servesTier = ({ endpoints }: Model, tier: EndpointTier): boolean =>
  endpoints.some(({ serviceTier }) => serviceTier !== null && TIERS[tier].includes(serviceTier))

/** The preference at the end of a model's name. */
export interface Variant {
  readonly sort: SortBy | null
  /** Endpoints of this tier serve too. */
  readonly admits: EndpointTier | null
  /** Only endpoints that cost nothing. */
  readonly free: boolean
  /** The endpoint with the longest context first. */
  readonly longest: boolean
  /** The web is searched before the answer. */
  readonly searches: boolean
  /** The parts of it that this version does not do. */
  readonly unheeded: string | null
}
