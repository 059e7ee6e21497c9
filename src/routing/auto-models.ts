/**
 * The models that the service chooses itself for `patchbay/auto` and `patchbay/free`, with the preferences of the auto-router plugin
 * (docs/contract/routing.md#automatic-choice).
 */
import type { Call } from '../canonical/call.ts'
import { ownModelName } from '../canonical/own-names.ts'
import { isObject, textsIn } from '../lib/json/json.ts'
import type { Models } from '../models/models.ts'
import { comparedPrice } from './candidate.ts'
import { matchesPattern } from './pattern.ts'
import { heeds, preferredParameters } from './sent-parameters.ts'
import type { Model } from '../models/model.ts'

/** The strategy behind the name of an automatic choice; null for any other name. */
export const autoStrategy = (name: string): 'auto' | 'free' | null => {
  const own = ownModelName(name)
  if (own === 'auto' || own === 'auto-beta') return 'auto'
  return own === 'free' ? 'free' : null
}

/** The five equal parts of the price range. */
const COST_TIERS = ['low', 'medium', 'high', 'xhigh', 'max'] as const
const MIDDLE = COST_TIERS[2]
type CostTier = (typeof COST_TIERS)[number]

interface RouterPreferences {
  readonly allowed: readonly string[]
  readonly excluded: readonly string[]
  readonly costTier: CostTier
  /** True if the conversation stays with the model that answered in it last. */
  readonly pins: boolean
}

/**
 * Every model that may be chosen, the best one first: models that support what the request needs (tools, formats); among those the wanted
 * fifth of the price range, then the fifths next to it; among those the newest first. The sandbox is chosen only if a pattern names it or
 * there is nothing else.
 */
export const autoModels = (name: string, strategy: 'auto' | 'free', call: Call, models: Models): AutoModels => {
  const { allowed, excluded, costTier, pins } = readRouter(name, call)
  const fits = (model: Model): boolean =>
    model.outputModalities.includes('text') &&
    (allowed.length === 0 || allowed.some((pattern) => matchesPattern(pattern, model.id))) &&
    !excluded.some((pattern) => matchesPattern(pattern, model.id)) &&
    (strategy === 'auto' || cheapest(model) === 0)
  const fitting = models.list().filter(fits)
  const spoke = pins ? lastSpeaker(call) : null
  const pinned = spoke === null ? undefined : fitting.find(({ id }) => id === spoke)
  const real = allowed.length > 0 ? fitting : fitting.filter((model) => !isSandbox(model))
  const pinnedFirst = (picked: readonly Model[]): AutoModels => ({
    models: pinned === undefined ? picked : [pinned, ...picked.filter((model) => model !== pinned)],
    pinned,
  })
  if (real.length === 0) return pinnedFirst(fitting)
  const needed = preferredParameters(call)
  const lacking = (model: Model): number => needed.filter((parameter) => !heeds(model.supportedParameters, parameter)).length
  const fifths = priceFifths(real)
  const wanted = COST_TIERS.indexOf(costTier)
  const distance = (model: Model): number => (strategy === 'free' ? 0 : Math.abs((fifths.get(model) ?? COST_TIERS.length) - wanted))
  const sorted = real
    .map((model) => ({ model, lacking: lacking(model), distance: distance(model) }))
    .sort((a, b) => a.lacking - b.lacking || a.distance - b.distance || b.model.created - a.model.created)
    .map(({ model }) => model)
  return pinnedFirst(sorted)
}

export interface AutoModels {
  /** The best one first. */
  readonly models: readonly Model[]
  /** The model that the request pins, which then comes first; undefined if none is pinned or it may no longer be chosen. */
  readonly pinned: Model | undefined
}

/** The model that the last message of the assistant names; null if it names none. */
const lastSpeaker = ({ body }: Call): string | null => {
  const said = body.value('messages') ?? body.value('input')
  if (!Array.isArray(said)) return null
  const last = said.findLast((item) => isObject(item) && item['role'] === 'assistant')
  return isObject(last) && typeof last['model'] === 'string' ? last['model'] : null
}

const readRouter = (name: string, { body }: Call): RouterPreferences => {
  const plugins = body.value('plugins')
  const routers = Array.isArray(plugins) ? plugins.filter((item) => isObject(item) && item['enabled'] !== false) : []
  const own = `${ownModelName(name)}-router`
  const plugin = [own, 'auto-router', 'auto-beta-router'].flatMap(
    (id) => routers.find((item) => isObject(item) && item['id'] === id) ?? [],
  )[0]
  const preferences = isObject(plugin) ? plugin : {}
  return {
    allowed: textsIn(preferences['allowed_models']),
    excluded: textsIn(preferences['excluded_models']),
    costTier: COST_TIERS.find((tier) => tier === preferences['cost_tier']) ?? MIDDLE,
    pins: preferences['pin_model'] === true,
  }
}

const isSandbox = ({ endpoints }: Model): boolean => endpoints.every(({ provider }) => provider.dialects.includes('sandbox'))

/** Null if no price is known. */
const cheapest = ({ endpoints }: Model): number | null => {
  const prices = endpoints.map(comparedPrice).filter((price) => price !== null)
  return prices.length === 0 ? null : Math.min(...prices)
}

/** The fifth of the price range, 0 to 4, by the rank of the price. Models without a price are not in the map. */
const priceFifths = (models: readonly Model[]): ReadonlyMap<Model, number> => {
  const priced = models.flatMap((model) => {
    const price = cheapest(model)
    return price === null ? [] : [{ model, price }]
  })
  priced.sort((a, b) => a.price - b.price)
  return new Map(priced.map(({ model }, index) => [model, Math.floor((index * COST_TIERS.length) / priced.length)]))
}
