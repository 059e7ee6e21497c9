/** One model, who serves it, and what each of them promises. */
import type { EndpointTier, Quantization } from '../canonical/endpoint-facts.ts'
import type { PriceSource } from './catalogue-imports.ts'
import type { PriceEntry } from './catalogue-schema.ts'
import type { ProviderDialect } from '../canonical/provider-dialects.ts'

export interface Provider {
  readonly slug: string
  readonly name: string
  /** The dialects that it speaks, the preferred one first. */
  readonly dialects: readonly ProviderDialect[]
  readonly baseUrl: string
  readonly apiKeys: readonly string[]
  /** Serves names that no catalogue lists (a local server): any `slug/name` is a model. */
  readonly anyModel: boolean
  /** Requests may name what is stored in the operator’s account there; they may not when absent. */
  readonly storedObjects?: boolean
  /** The outcome of a call whose client left: `drain` reads it to its end, where the provider bills it anyhow. It is ended when absent. */
  readonly onCancel?: 'abort' | 'drain'
  /** The facts of every model of it; absent where they are not known. */
  readonly dataPolicy?: DataPolicy
}

export interface ModelEndpoint {
  readonly provider: Provider
  /** The provider's own name for the model. */
  readonly upstreamModel: string
  /** Names it among the model's endpoints, and in a request: the provider's slug, or that and a variant, `provider/variant`. */
  readonly tag: string
  /** Null: no price is known. */
  readonly prices: PriceEntry | null
  /** Absent where no price is known, or it is the service's own. */
  readonly pricesFrom?: PriceSource
  readonly maxCompletionTokens: number | null
  /** Input and output tokens together; null where it is not known. */
  readonly contextLength: number | null
  readonly quantization: Quantization
  /** Asked for by its tag or by this service tier only; null for an ordinary endpoint. */
  readonly serviceTier: EndpointTier | null
  readonly dataPolicy: DataPolicy
  /** Says whether the model's author allows its text to train others; null where it is not known. */
  readonly distillable: boolean | null
  /** The request parameters that it heeds; empty where they are not known. */
  readonly supportedParameters: readonly string[]
  /** A client wrote `upstreamModel`, so it may choose a model, but no path. */
  readonly unlisted?: boolean
}

/** The provider's use of what it is sent; null where it is not known, which no filter takes for a promise. */
export interface DataPolicy {
  /** Trains on it. */
  readonly training: boolean | null
  /** Keeps it after the answer; false is zero data retention. */
  readonly retains: boolean | null
}

export interface Model {
  readonly id: string
  readonly name: string
  readonly created: number
  readonly contextLength: number | null
  /** Null where they are not known. */
  readonly inputModalities: readonly string[] | null
  readonly outputModalities: readonly string[]
  readonly supportedParameters: readonly string[]
  readonly endpoints: readonly ModelEndpoint[]
  /** How long its first content may take, where it is not as for every model: some think for long. */
  readonly firstTokenMs?: number | null
  /** Who added it to the shipped catalogue, or changed its entry there: the operator's file, an imported list of prices, or the service itself. */
  readonly origin?: 'operator' | 'import' | 'service'
  /** False: it answers to its id, but stands in lists only for those who ask for it. */
  readonly listed?: false
}
