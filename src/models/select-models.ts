/**
 * Selects the models of a list that match a client's query, in the requested order. A model does not match if the fact in question is
 * unknown.
 */
import type { ModelQuery } from '../contract/model-query.ts'
import type { Model } from './model.ts'

export interface ListedModel {
  /** The listed id, display name and creation time; for a preset, its own. */
  readonly id: string
  readonly name: string
  readonly created: number
  /** The model with its capabilities; for a preset, the model behind it. */
  readonly model: Model
}

export const selectModels = <Listed extends ListedModel>(all: readonly Listed[], query: ModelQuery, nowMs: number): readonly Listed[] => {
  const fitting = all.filter((listed) => FILTERS.every((fits) => fits(listed, query, nowMs)))
  const rank = query.sort === undefined ? null : RANKS[query.sort]
  return rank === null ? fitting : fitting.toSorted((one, other) => compareRanks(rank(one), rank(other)))
}

type Filter = (listed: ListedModel, query: ModelQuery, nowMs: number) => boolean

const FILTERS: readonly Filter[] = [
  ({ id, name }, { q }) => q === undefined || id.toLowerCase().includes(q) || name.toLowerCase().includes(q),
  ({ model }, { model_authors: authors }) =>
    authors === undefined || authors.includes(model.id.slice(0, model.id.indexOf('/')).toLowerCase()),
  ({ model }, { providers }) =>
    providers === undefined ||
    model.endpoints.some(({ provider: { slug, name } }) => [slug, name].some((word) => providers.includes(word.toLowerCase()))),
  ({ model }, { supported_parameters: wanted }) => hasAll(model.supportedParameters, wanted),
  ({ model }, { input_modalities: wanted }) => hasAll(model.inputModalities ?? ['text'], wanted),
  ({ model }, { output_modalities: wanted }) =>
    wanted === undefined || wanted.includes('all') || wanted.some((one) => model.outputModalities.includes(one)),
  ({ model }, { context }) => isWithin(model.contextLength, context, undefined),
  ({ model }, { min_price: least, max_price: most }) => isWithin(pricesOf(model)?.prompt, least, most),
  ({ model }, { min_output_price: least, max_output_price: most }) => isWithin(pricesOf(model)?.completion, least, most),
  ({ created }, { min_age_days: least, max_age_days: most }, nowMs) => isWithin(ageDays(created, nowMs), least, most),
  ({ model }, { distillable }) =>
    distillable === undefined || model.endpoints.some((endpoint) => endpoint.distillable === true) === (distillable === 'true'),
  ({ model }, { zdr }) => zdr !== 'true' || model.endpoints.some(({ dataPolicy }) => dataPolicy.retains === false),
  ({ model }, { sandbox_errors: wanted }) => model.listed !== false || wanted === 'true',
]

const hasAll = (own: readonly string[], wanted: readonly string[] | undefined): boolean =>
  wanted === undefined || wanted.every((one) => own.includes(one))

const isWithin = (value: number | null | undefined, least: number | undefined, most: number | undefined): boolean => {
  if (least === undefined && most === undefined) return true
  if (value === null || value === undefined) return false
  return value >= (least ?? 0) && value <= (most ?? Number.POSITIVE_INFINITY)
}

const pricesOf = ({ endpoints: [first] }: Model) => first?.prices

const DAY_MS = 24 * 60 * 60 * 1000

const ageDays = (created: number, nowMs: number): number | null => (created === 0 ? null : (nowMs - created * 1000) / DAY_MS)

/** Null if the value is not known: such models come last. */
type Rank = (listed: ListedModel) => number | null

const RANKS: Readonly<Record<NonNullable<ModelQuery['sort']>, Rank>> = {
  newest: ({ created }) => (created === 0 ? null : -created),
  'pricing-low-to-high': ({ model }) => meanPrice(model),
  'pricing-high-to-low': ({ model }) => negated(meanPrice(model)),
  'context-high-to-low': ({ model }) => negated(model.contextLength),
}

const negated = (value: number | null): number | null => (value === null ? null : -value)

const meanPrice = (model: Model): number | null => {
  const prices = pricesOf(model) ?? null
  return prices === null ? null : (prices.prompt + prices.completion) / 2
}

const compareRanks = (one: number | null, other: number | null): number => {
  if (one === null) return other === null ? 0 : 1
  return other === null ? -1 : one - other
}
