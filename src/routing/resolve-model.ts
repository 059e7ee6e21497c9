/**
 * Resolves the name that a client uses to a model: variants after a colon, `~author/family-latest` (docs/contract/routing.md#model-names),
 * and a vendor's own name.
 */
import type { Models } from '../models/models.ts'
import type { AskedModel, Variant } from './candidate.ts'
import type { Model } from '../models/model.ts'

export const PLAIN: Variant = { sort: null, admits: null, free: false, longest: false, searches: false, unheeded: null }

const VARIANTS = new Map<string, Partial<Variant>>([
  ['nitro', { sort: 'throughput', admits: 'priority' }],
  ['floor', { sort: 'price', admits: 'flex' }],
  ['exacto', { sort: 'exacto' }],
  ['free', { free: true }],
  ['extended', { longest: true }],
  ['online', { searches: true }],
  ['thinking', { unheeded: 'The model has no variant :thinking of its own here; ask with `reasoning` for how it should think.' }],
])

/** An exact id comes before everything else, so that a catalogue may contain `vendor/model:free` as a model of its own. */
export const resolveModel = (name: string, models: Models): AskedModel | undefined => {
  const exact = models.find(name)
  if (exact !== undefined) return { model: exact, variant: PLAIN }
  if (name.length > NAME_LENGTH_MAX) return undefined
  if (name.startsWith('~')) return newest(name, models)
  const colon = name.lastIndexOf(':')
  const variant = colon < 0 ? undefined : VARIANTS.get(name.slice(colon + 1))
  if (variant === undefined) return byVendorName(name, models)
  const base = resolveModel(name.slice(0, colon), models)
  return base === undefined ? undefined : { model: base.model, variant: { ...base.variant, ...variant } }
}

/**
 * Resolves a name only if exactly one model has it; a vendor's `family-latest` is the newest of the family
 * (docs/contract/routing.md#vendor-names).
 */
const byVendorName = (name: string, models: Models): AskedModel | undefined => {
  const [model, ...others] = models.named(name)
  if (model !== undefined) return others.length === 0 ? { model, variant: PLAIN } : undefined
  const family = /^[^/]+(?=-latest$)/.exec(name)?.[0]
  const authors =
    family === undefined
      ? []
      : new Set(
          models
            .list()
            .filter((one) => familyName(one) === family)
            .map(authorOf),
        )
  const [author, ...more] = authors
  return author === undefined || more.length > 0 ? undefined : newest(`~${author}/${name}`, models)
}

/** Longer than any id with all its variants. Names are bounded because the code below reads a name more than once. */
const NAME_LENGTH_MAX = 512

const LATEST = /^~([^/]+)\/(.+?)-latest(:[a-z:]+)?$/

/** The newest model of the family; of two equally new ones, the first in the list. */
const newest = (name: string, models: Models): AskedModel | undefined => {
  const [, author = '', wanted = '', variants = ''] = LATEST.exec(name) ?? []
  const family = models
    .list()
    .filter((model) => isOfFamily(model, author, wanted))
    .reduce<Model | undefined>((best, model) => (best === undefined || model.created > best.created ? model : best), undefined)
  return family === undefined ? undefined : resolveModel(family.id + variants, models)
}

const isOfFamily = (model: Model, author: string, wanted: string): boolean => authorOf(model) === author && familyName(model) === wanted

const authorOf = ({ id }: Model): string => id.slice(0, id.indexOf('/'))

const familyName = ({ id }: Model): string => familyOf(id.slice(id.indexOf('/') + 1))

/**
 * A name without its versions: `claude-sonnet` of `claude-sonnet-4.5`, `gemini-flash` of `gemini-3.8-flash`, `qwen-max` of `qwen3.8-max`.
 */
const familyOf = (slug: string): string =>
  slug
    .split('-')
    .filter((word) => !/^[a-z]?\d/.test(word))
    .map((word) => word.replace(/[\d.]+$/, ''))
    .join('-')
