/**
 * The available models, the providers that serve them, and their prices: the shipped catalogue, the operator's file over it, and the
 * sandbox.
 */
import type { ClientDialect } from '../canonical/call.ts'
import { nearDistance } from '../lib/text/edit-distance.ts'
import { createNameIndex, isPlainName, type OtherNames } from './other-names.ts'
import { createVendorNames, undated } from './vendor-names.ts'
import type { Provider, ModelEndpoint, DataPolicy, Model } from './model.ts'
import { OWN_DIALECT, type ProviderDialect } from '../canonical/provider-dialects.ts'

/** An endpoint of which only the facts in `reported` are known. */
export const plainEndpoint = (
  provider: Provider,
  upstreamModel: string,
  reported: Partial<Omit<ModelEndpoint, 'provider' | 'upstreamModel'>> = {},
): ModelEndpoint => ({
  provider,
  upstreamModel,
  tag: provider.slug,
  prices: null,
  maxCompletionTokens: null,
  contextLength: null,
  quantization: 'unknown',
  serviceTier: null,
  dataPolicy: provider.dataPolicy ?? UNREPORTED,
  distillable: null,
  supportedParameters: [],
  ...reported,
})

const UNREPORTED: DataPolicy = { training: null, retains: null }

export interface Models {
  /** The model with that id, if an enabled provider serves it. */
  find(id: string): Model | undefined
  /** The enabled models that a vendor's own name can mean, all equally likely (docs/contract/routing.md#vendor-names). */
  named(name: string): readonly Model[]
  /** The other names of the model that this endpoint requests from its provider. */
  otherNames(endpoint: ModelEndpoint): OtherNames
  list(): readonly Model[]
  providers(): readonly Provider[]
  /** The variable that would enable this known provider; null for a provider that is unknown or enabled. */
  providerEnabledBy(slug: string): string | null
  /** Variables that would each enable a provider of this known model, given by id or name; empty for a model that is unknown or enabled. */
  enabledBy(id: string): readonly string[]
  /** Known ids that look like `id`, including models that a variable would enable, the likeliest first: for the message of a 404. */
  nearest(id: string, most: number): readonly string[]
}

/** A known provider that no variable and no file enables. */
export interface DormantProvider {
  readonly variable: string
  readonly anyModel: boolean
}

export const createModels = (
  models: readonly Model[],
  providers: readonly Provider[],
  dormant: ReadonlyMap<string, readonly string[]> = new Map(),
  dormantProviders: ReadonlyMap<string, DormantProvider> = new Map(),
): Models => {
  const byId = new Map(models.map((model) => [model.id, model]))
  const names = createVendorNames(models)
  const others = createNameIndex(models)
  const dormantNames = createVendorNames([...dormant.keys()].map((id) => unservedModel(id)))
  const served = [...new Set([...providers, ...models.flatMap(({ endpoints }) => endpoints.map(({ provider }) => provider))])]
  const open = new Map(providers.filter(({ anyModel }) => anyModel).map((provider) => [provider.slug, provider]))
  return {
    find(id) {
      const known = byId.get(id)
      if (known !== undefined) return known
      const slash = id.indexOf('/')
      const provider = open.get(id.slice(0, Math.max(slash, 0)))
      if (provider === undefined || id.length > ID_LENGTH_MAX || !isPlainName(id.slice(slash + 1))) return undefined
      return unlistedModel(id, id.slice(slash + 1), provider)
    },
    named: names.modelsOf,
    otherNames: others.of,
    list: () => models,
    providers: () => served,
    providerEnabledBy: (slug) => dormantProviders.get(slug)?.variable ?? null,
    enabledBy(id) {
      if (byId.has(id)) return []
      const [known, ...more] = dormant.has(id) ? [id] : dormantNames.modelsOf(id).map((model) => model.id)
      if (known !== undefined) return more.length > 0 ? [] : (dormant.get(known) ?? [])
      const provider = dormantProviders.get(vendorOf(id).slice(0, -1))
      return provider?.anyModel === true ? [provider.variable] : []
    },
    nearest(id, most) {
      const wanted = undated(id.slice(0, COMPARED_LENGTH).toLowerCase())
      const enablable = [...dormant].flatMap(([known, variables]) => (variables.length === 0 ? [] : [known]))
      return [...new Set([...byId.keys(), ...enablable])]
        .map((known) => ({ known, ...nearness(wanted, known.toLowerCase()) }))
        .filter(({ best }) => best < Number.POSITIVE_INFINITY)
        .sort((a, b) => a.best - b.best || (a.whole === b.whole ? 0 : a.whole - b.whole))
        .slice(0, most)
        .map(({ known }) => known)
    },
  }
}

/** The dialect to use with a provider: the client's own if the provider has it, otherwise the provider's first. */
export const dialectFor = (provider: Provider, client: ClientDialect): ProviderDialect => {
  const own = OWN_DIALECT[client]
  return speaksDialectOf(provider, client) ? own : (provider.dialects[0] ?? own)
}

/** True if a request of this client dialect needs no translation for the provider. */
export const speaksDialectOf = (provider: Provider, client: ClientDialect): boolean => provider.dialects.includes(OWN_DIALECT[client])

const unlistedModel = (id: string, upstreamModel: string, provider: Provider): Model => ({
  ...unservedModel(id),
  name: upstreamModel,
  endpoints: [plainEndpoint(provider, upstreamModel, { unlisted: true })],
})

/** A model of which only the id is known. */
export const unservedModel = (id: string): Model => ({
  id,
  name: id,
  created: 0,
  contextLength: null,
  inputModalities: null,
  outputModalities: ['text'],
  supportedParameters: [],
  endpoints: [],
})

/** The same limit as for a listed id: an unlisted id is stored in every record of its use. */
const ID_LENGTH_MAX = 256

/** Only the beginning of a hostile id is compared, because the cost of the distance is the product of both lengths. */
const COMPARED_LENGTH = 100

/**
 * Edit distances, Infinity if nothing is near. `best` also compares the names without vendors, since the commonest mistake is a missing or
 * wrong vendor.
 */
const nearness = (wanted: string, known: string): { whole: number; best: number } => {
  const name = nearDistance(nameOf(wanted), nameOf(known))
  // The right vendor does not make the name right, and must not make a wrong name look nearer.
  const whole = vendorOf(wanted) === vendorOf(known) ? name : nearDistance(wanted, known)
  return { whole, best: Math.min(whole, name) }
}

const vendorOf = (id: string): string => id.slice(0, id.indexOf('/') + 1)

/** The id without the vendor. */
const nameOf = (id: string): string => id.slice(id.indexOf('/') + 1)
