/**
 * `pareto-router`: chooses among the models with a configured coding score those that no other model beats in both score and
 * price. It handles the model name `patchbay/pareto-code` and does nothing for other models.
 */
import { ownModelName } from '../canonical/own-names.ts'
import { GatewayError } from '../errors.ts'
import type { Models } from '../models/models.ts'
import { cannotRun, type Plugin } from './plugin.ts'
import type { Model } from '../models/model.ts'

export const PARETO_MODEL = 'pareto-code'

/** A requested score is mapped to a tier: these are the minimum scores of the tiers, the best first. */
const TIERS = [0.66, 0.33, 0] as const

interface Scored {
  readonly id: string
  readonly score: number
  /** In dollars per million tokens. */
  readonly price: number
}

export const paretoRouter = (scores: Readonly<Record<string, number>> | undefined, models: Pick<Models, 'find'>): Plugin => ({
  step: 'routing',
  check() {
    if (scores === undefined) throw cannotRun('pareto-router', 'no model has a score for code (`plugins.pareto.scores`).')
  },
  choose(call, options) {
    if (!call.models.some((name) => ownModelName(name) === PARETO_MODEL)) return null
    const priceOf = options['price_source'] === 'weighted_avg' ? averagePrice : promptPrice
    const floor = floorOf(options['min_coding_score'])
    const dearest = typeof options['max_price'] === 'number' ? options['max_price'] : Number.POSITIVE_INFINITY
    const fitting = Object.entries(scores ?? {}).flatMap(([id, score]): Scored[] => {
      const model = models.find(id)
      const price = model === undefined ? null : priceOf(model)
      return price === null || score < floor || price > dearest ? [] : [{ id, score, price }]
    })
    const frontier = fitting.filter((one) => !fitting.some((other) => beats(other, one)))
    if (frontier.length === 0) {
      throw new GatewayError(
        'not_found',
        'No model here has both the coding score and the price that you ask pareto-router for. Lower min_coding_score or raise max_price.',
      )
    }
    // A request with a score wants the cheapest model that reaches it; a request without one, the best model.
    const asksScore = typeof options['min_coding_score'] === 'number'
    return frontier.toSorted((a, b) => (asksScore ? a.price - b.price : b.score - a.score)).map(({ id }) => id)
  },
})

const floorOf = (wanted: unknown): number => (typeof wanted === 'number' ? (TIERS.find((least) => wanted >= least) ?? 0) : TIERS[0])

const beats = (other: Scored, one: Scored): boolean =>
  other.score >= one.score && other.price <= one.price && (other.score > one.score || other.price < one.price)

/** The price at the cheapest endpoint; null if it is unknown. */
const cheapest = (
  { endpoints }: Model,
  priceOf: (prices: { readonly prompt: number; readonly completion: number }) => number,
): number | null => {
  const prices = endpoints.flatMap(({ prices: reported }) => (reported === null ? [] : [priceOf(reported)]))
  return prices.length === 0 ? null : Math.min(...prices)
}

const promptPrice = (model: Model): number | null => cheapest(model, ({ prompt }) => prompt)

/** Weighted as three input tokens per output token. */
const averagePrice = (model: Model): number | null => cheapest(model, ({ prompt, completion }) => (3 * prompt + completion) / 4)
