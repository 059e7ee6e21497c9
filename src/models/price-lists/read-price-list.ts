/** Reads a price list as entries of the catalogue, with a finding for each line that is rejected. */
import { objectIn } from '../../lib/json/json.ts'
import { modelEntry, modelId, type EndpointEntry, type ModelEntry, type PriceEntry } from '../catalogue-schema.ts'
import { exactPrices, SenselessPrice } from './exact-prices.ts'
import { isHosted, readHosted } from './hosted.ts'
import { isLitellm, readLitellm } from './litellm.ts'
import { isModelsDev, readModelsDev } from './models-dev.ts'
import { PRICE_LIST_KINDS, type ListedEndpoint, type PriceListKind } from './price-list.ts'
import { newModelId } from './provider-names.ts'

/** The file is not a price list. `message` is one sentence. */
export class PriceListError extends Error {
  override readonly name = 'PriceListError'
}

/** A line of a list that is rejected, and why. */
export interface RefusedLine {
  readonly place: string
  readonly reason: string
}

export type ListedModels = Readonly<Record<string, ListedModel>>
export type ListedModel = ModelEntry & { readonly endpoints: readonly EndpointEntry[] }

export interface PriceList {
  readonly kind: PriceListKind
  readonly models: ListedModels
  readonly refused: readonly RefusedLine[]
  /** Providers of the list that no configuration knows, with their numbers of models in the list. */
  readonly unknownProviders: ReadonlyMap<string, number>
}

/** The entries known before the list is read: a line finds its model by their endpoints. */
export interface KnownCatalogue {
  readonly providers: ReadonlySet<string>
  readonly models: Readonly<Record<string, ModelEntry>>
}

const READERS = {
  litellm: { fits: isLitellm, read: readLitellm },
  'models.dev': { fits: isModelsDev, read: readModelsDev },
  hosted: { fits: isHosted, read: readHosted },
} as const

/**
 * `kind`: null if the file itself shows it. `knownWithout`: the catalogue without the earlier list of a kind, so that a mistake in that
 * list is not the measure of this one. Throws PriceListError.
 */
export const readPriceList = (
  text: string,
  kind: PriceListKind | null,
  knownWithout: (kind: PriceListKind) => KnownCatalogue,
): PriceList => {
  const file = objectIn(text.replace(/^\uFEFF/, ''))
  if (file === null) throw new PriceListError('it is not a JSON object.')
  const found = PRICE_LIST_KINDS.find((one) => READERS[one].fits(file))
  if (found === undefined || (kind !== null && !READERS[kind].fits(file)))
    throw new PriceListError(
      kind === null
        ? `it looks like none of ${PRICE_LIST_KINDS.join(', ')}.`
        : `it does not look like ${kind}${found === undefined ? '' : `, but like ${found}`}.`,
    )
  const chosen = kind ?? found
  const known = knownWithout(chosen)
  const listed = READERS[chosen].read(file, known.providers)
  return { kind: chosen, ...placed(listed, known), unknownProviders: unknownOf(listed) }
}

const unknownOf = (listed: readonly ListedEndpoint[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const { provider, listedProvider } of listed)
    if (provider === null) counts.set(listedProvider, (counts.get(listedProvider) ?? 0) + 1)
  return counts
}

const placed = (listed: readonly ListedEndpoint[], known: KnownCatalogue): Pick<PriceList, 'models' | 'refused'> => {
  const knownIds = idsByEndpoint(known.models)
  const models: Record<string, { facts: Omit<ModelEntry, 'endpoints'>; endpoints: EndpointEntry[] }> = {}
  const refused: RefusedLine[] = []
  const seen = new Map<string, string>()
  for (const line of listed) {
    const { place, provider, upstreamModel, facts, limits } = line
    if (provider === null) continue
    const refuse = (reason: string): void => void refused.push({ place, reason })
    const key = endpointKey(provider, upstreamModel)
    const id = knownIds.get(key) ?? newModelId(provider, upstreamModel)
    try {
      const prices = exactPrices(line.prices, upstreamModel.endsWith(':free'))
      if (prices === null) {
        refuse('has no price per token')
        continue
      }
      refuseLeaps(prices, knownPrices(known.models[id], provider, upstreamModel))
      const endpoint: EndpointEntry = { provider, model: upstreamModel, prices, ...limits }
      const first = seen.get(key)
      if (first !== undefined) {
        if (first !== JSON.stringify(endpoint)) refuse('stands in the list twice, with different prices; the first is taken')
        continue
      }
      if (!modelId.safeParse(id).success || !modelEntry.safeParse({ ...facts, endpoints: [endpoint] }).success) {
        refuse('has a name or a limit that no model has')
        continue
      }
      seen.set(key, JSON.stringify(endpoint))
      const model = (models[id] ??= { facts, endpoints: [] })
      model.endpoints.push(endpoint)
    } catch (thrown) {
      if (!(thrown instanceof SenselessPrice)) throw thrown
      refuse(thrown.message)
    }
  }
  return { models: Object.fromEntries(Object.entries(models).map(([id, { facts, endpoints }]) => [id, { ...facts, endpoints }])), refused }
}

const endpointKey = (provider: string, upstreamModel: string): string => `${provider} ${upstreamModel}`

const idsByEndpoint = (models: KnownCatalogue['models']): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(models).flatMap(([id, { endpoints = [] }]) =>
      endpoints.map(({ provider, model }) => [endpointKey(provider, model), id] as const),
    ),
  )

const knownPrices = (entry: ModelEntry | undefined, provider: string, upstreamModel: string): PriceEntry | null =>
  entry?.endpoints?.find(
    (endpoint) => endpoint.provider === provider && endpoint.model === upstreamModel && endpoint.service_tier === undefined,
  )?.prices ?? null

/** The maximum factor between the known and the new price: units that were confused differ by a thousand or a million. */
const LEAP = 100

const refuseLeaps = (prices: PriceEntry, known: PriceEntry | null): void => {
  for (const field of ['prompt', 'completion'] as const) {
    const before = known?.[field] ?? 0
    const after = prices[field]
    if (before > 0 && (after > before * LEAP || after * LEAP < before))
      throw new SenselessPrice(
        `${field}: $${after} a million tokens is too far from the known $${before}; if it is right, put it into your own file`,
      )
  }
}
