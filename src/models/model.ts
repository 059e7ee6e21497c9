/** A model, the providers that serve it, and the facts of each endpoint. */
import type { EndpointTier, Quantization } from '../canonical/endpoint-facts.ts'
import type { PriceSource } from './catalogue-imports.ts'
import type { PriceEntry } from './catalogue-schema.ts'
import type { ProviderDialect } from '../canonical/provider-dialects.ts'

export interface Provider {
  readonly slug: string
  readonly name: string
  /** The dialects that the provider speaks, the preferred one first. */
  readonly dialects: readonly ProviderDialect[]
  readonly baseUrl: string
  readonly apiKeys: readonly string[]
  /** Serves names that no catalogue lists (a local server): any `slug/name` is a model. */
  readonly anyModel: boolean
  /** True if requests may name objects that are stored in the operator's account there; not allowed if absent. */
  readonly storedObjects?: boolean
  /**
   * Decides about a call whose client left: `drain` reads it to its end, because the provider bills it anyway; `abort`, the default, ends
   * it.
   */
  readonly onCancel?: 'abort' | 'drain'
  /** Applies to every model of the provider; absent if not known. */
  readonly dataPolicy?: DataPolicy
}

export interface ModelEndpoint {
  readonly provider: Provider
  /** The provider's own name for the model. */
  readonly upstreamModel: string
  /**
   * Identifies the endpoint among the model's endpoints, and in a request: the provider's slug, or the slug and a variant,
   * `provider/variant`.
   */
  readonly tag: string
  /** Null if no price is known. */
  readonly prices: PriceEntry | null
  /** Absent if no price is known, or if the price is the service's own. */
  readonly pricesFrom?: PriceSource
  readonly maxCompletionTokens: number | null
  /** Input and output tokens together; null if not known. */
  readonly contextLength: number | null
  readonly quantization: Quantization
  /** The endpoint is used only if its tag or this service tier is requested; null for an ordinary endpoint. */
  readonly serviceTier: EndpointTier | null
  readonly dataPolicy: DataPolicy
  /** True if the model's author allows its output to train other models; null if not known. */
  readonly distillable: boolean | null
  /** The request parameters that the endpoint supports; empty if not known. */
  readonly supportedParameters: readonly string[]
  /** True if a client wrote `upstreamModel`: it may choose a model that way, but not a path. */
  readonly unlisted?: boolean
}

/** How the provider uses what it is sent; null if not known, which no filter treats as a promise. */
export interface DataPolicy {
  readonly training: boolean | null
  /** True if the provider keeps it after the answer; false is zero data retention. */
  readonly retains: boolean | null
}

export interface Model {
  readonly id: string
  readonly name: string
  readonly created: number
  readonly contextLength: number | null
  /** Null if not known. */
  readonly inputModalities: readonly string[] | null
  readonly outputModalities: readonly string[]
  readonly supportedParameters: readonly string[]
  readonly endpoints: readonly ModelEndpoint[]
  /** The maximum time until the first content in milliseconds, for models that need a limit of their own because they think for long. */
  readonly firstTokenMs?: number | null
  /**
   * The source that added the model to the shipped catalogue or changed its entry: the operator's file, an imported price list, or the
   * service itself.
   */
  readonly origin?: 'operator' | 'import' | 'service'
  /** False: the model can be used by its id, but appears in lists only on request. */
  readonly listed?: false
}
