/**
 * Imported price lists, which override the shipped catalogue and are overridden by the operator's file
 * (docs/contract/models.md#imported-prices).
 */
import { z } from 'zod'

import { modelEntry, modelId, type Catalogue, type EndpointEntry, type ModelEntry, type PriceEntry } from './catalogue-schema.ts'
import { PRICE_LIST_KINDS, type PriceListKind } from './price-lists/price-list.ts'
import type { ListedModels } from './price-lists/read-price-list.ts'

/** A list replaces the earlier one of the same kind. */
export interface CatalogueImport {
  readonly kind: PriceListKind
  /** The date of its prices. */
  readonly asOf: string
  readonly importedAt: string
  readonly models: ListedModels
}

/** A day of the calendar: an import with anything else could not be read again. */
export const pricesDay = z.iso.date()

const stored = z.object({
  kind: z.enum(PRICE_LIST_KINDS),
  asOf: pricesDay,
  importedAt: z.iso.datetime(),
  models: z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text)
      } catch {
        context.addIssue({ code: 'custom', message: 'it is not JSON' })
        return z.NEVER
      }
    })
    .pipe(z.record(modelId, modelEntry.required({ endpoints: true }))),
})

/**
 * Parses the rows of storage, whose entries are JSON. Instead of a row that cannot be read (it is damaged, or a newer version wrote it)
 * the list of that kind in `known` stays, if there is one; `onDamaged` gets a sentence that names the row and says what to do.
 */
export const readImports = (
  rows: readonly { readonly kind: string; readonly models: string }[],
  onDamaged: (sentence: string) => void,
  known: readonly CatalogueImport[] = [],
): readonly CatalogueImport[] =>
  rows.flatMap((row) => {
    const { data, error } = stored.safeParse(row)
    if (data !== undefined) return [data]
    const [issue] = error.issues
    const before = known.filter(({ kind }) => kind === row.kind)
    const holds =
      before.length === 0 ? 'and is left out: the shipped prices hold instead' : 'so the list of before holds until the next start'
    onDamaged(
      `The imported price list "${row.kind}" in the database cannot be read (${issue?.path.join('.')}: ${issue?.message}), ${holds}. If a newer version of Patchbay imported it, upgrade this one; otherwise import it again with patchbay catalogue import, or remove it with patchbay catalogue forget ${row.kind}.`,
    )
    return before
  })

/** The source of a price and its date; the date is null for the operator's file, which has none. */
export interface PriceSource {
  readonly from: 'catalogue' | 'operator' | CatalogueImport['kind']
  readonly asOf: string | null
}

export interface LayeredCatalogue {
  readonly models: Readonly<Record<string, ModelEntry>>
  /** Undefined if no list changed the entry. */
  readonly sourceOf: (endpoint: EndpointEntry) => PriceSource | undefined
  /** Models that are only in an imported list. */
  readonly added: ReadonlySet<string>
}

/** Later imports override earlier ones. */
export const layerImports = (shipped: Catalogue['models'], imports: readonly CatalogueImport[]): LayeredCatalogue => {
  const models: Record<string, ModelEntry> = { ...shipped }
  const sources = new Map<EndpointEntry, PriceSource>()
  for (const { kind, asOf, models: listed } of imports.toSorted((a, b) => (a.importedAt < b.importedAt ? -1 : 1))) {
    for (const [id, entry] of Object.entries(listed)) {
      const below = models[id]
      const endpoints = [...(below?.endpoints ?? [])]
      for (const reported of entry.endpoints) {
        const at = endpoints.findIndex((endpoint) => isSameEndpoint(endpoint, reported))
        const merged = at < 0 ? reported : withNews(endpoints[at] ?? reported, reported)
        sources.set(merged, { from: kind, asOf })
        if (at < 0) endpoints.push(merged)
        else endpoints[at] = merged
      }
      models[id] = { ...entry, ...below, endpoints }
    }
  }
  return {
    models,
    sourceOf: (endpoint) => sources.get(endpoint),
    added: new Set(Object.keys(models).filter((id) => !Object.hasOwn(shipped, id))),
  }
}

/** Lists know no service tiers: their entries are ordinary endpoints. */
export const isSameEndpoint = (one: EndpointEntry, other: EndpointEntry): boolean =>
  one.provider === other.provider && one.model === other.model && one.service_tier === other.service_tier && one.variant === other.variant

const withNews = (known: EndpointEntry, reported: EndpointEntry): EndpointEntry => ({
  ...known,
  ...reported,
  prices: newPrices(known.prices, reported.prices),
})

/**
 * If a list agrees on input and output, the other known prices are kept; if it does not, it replaces all prices of tokens. What does not
 * follow from those, the fees of the provider's tools and the factors of geographies, is kept unless the list has its own.
 */
const newPrices = (known: PriceEntry | undefined, reported: PriceEntry | undefined): PriceEntry | undefined => {
  if (known === undefined || reported === undefined) return reported ?? known
  if (known.prompt === reported.prompt && known.completion === reported.completion) return { ...known, ...reported }
  const kept = KEPT.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]]))
  return { ...Object.fromEntries(kept), ...reported }
}

const KEPT = ['web_search', 'file_search', 'container', 'drawing', 'inference_geo'] as const satisfies readonly (keyof PriceEntry)[]
