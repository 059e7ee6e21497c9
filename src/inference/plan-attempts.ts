/** Who is asked, in which order, and why others are not: a pure function of the request and the catalogue. */
import type { CustomerKey } from '../byok/customer-keys.ts'
import type { Call } from '../canonical/call.ts'
import type { Warning } from '../canonical/warning.ts'
import { GatewayError } from '../errors.ts'
import { isObject } from '../lib/json.ts'
import type { Model, ModelEndpoint, Models } from '../models/models.ts'
import type { EndpointKey } from '../routing/health.ts'

/** More than this many tries cost more in waiting than they win (reliability.md 6.3). */
export const ATTEMPTS_MAX = 4

export interface PlannedAttempt {
  readonly model: Model
  readonly endpoint: ModelEndpoint
  readonly key: EndpointKey
  /** The customer's own key, instead of the service's. */
  readonly customerKey?: CustomerKey
}

export interface Removed {
  readonly model: string
  readonly provider: string
  /** The filter that removed it. */
  readonly reason: string
}

export interface Plan {
  /** At least one. */
  readonly attempts: readonly PlannedAttempt[]
  readonly candidates: number
  readonly removed: readonly Removed[]
  /** Wishes of the request that are not heeded. */
  readonly warnings: readonly Warning[]
}

/**
 * Throws `not_found` where a model is unknown (with the nearest known ids) and `provider_overloaded` as 503 where no
 * provider meets the requirements, saying which filter removed which (decision 19).
 */
export const planAttempts = (call: Call, models: Models): Plan => {
  const removed: Removed[] = []
  const preferences = readPreferences(call.body.value('provider'))
  const candidates = call.models.flatMap((id) => {
    const model = models.find(id)
    if (model === undefined) {
      if (call.models.length === 1) throw unknownModel(id, models)
      removed.push({ model: shown(id), provider: '*', reason: 'unknown model' })
      return []
    }
    return order(model, preferences).filter(({ endpoint }) => {
      const reason = exclusion(endpoint, preferences)
      if (reason !== null) removed.push({ model: id, provider: endpoint.provider.slug, reason })
      return reason === null
    })
  })
  const first = candidates[0]
  if (first === undefined) throw noProvider(call.models, removed)
  const attempts = preferences.allowFallbacks
    ? candidates.slice(0, ATTEMPTS_MAX)
    : candidates.slice(0, Math.max(1, preferences.order.length)).slice(0, ATTEMPTS_MAX)
  return {
    attempts,
    candidates: candidates.length,
    removed,
    warnings: [...preferences.unheeded.map(unheeded), ...removed.filter(({ provider }) => provider === '*').map(skipped)],
  }
}

interface Preferences {
  readonly order: readonly string[]
  readonly only: readonly string[]
  readonly ignore: readonly string[]
  readonly allowFallbacks: boolean
  /** Conditions that no endpoint is known to meet: nothing is promised that nobody knows. */
  readonly unknowable: readonly string[]
  /** US dollars per million tokens. */
  readonly maxPrice: { readonly prompt: number; readonly completion: number }
  readonly unheeded: readonly string[]
}

/** The part of the `provider` object that is honoured so far; its form was validated with the request. */
const readPreferences = (provider: unknown): Preferences => {
  const object = isObject(provider) ? provider : {}
  const slugs = (value: unknown): string[] => (Array.isArray(value) ? value.filter((slug) => typeof slug === 'string') : [])
  return {
    order: slugs(object['order']),
    only: slugs(object['only']),
    ignore: slugs(object['ignore']),
    allowFallbacks: object['allow_fallbacks'] !== false,
    unknowable: CONDITIONS.filter((name) => isAsked(object[name])),
    maxPrice: readMaxPrice(object['max_price']),
    unheeded: WISHES.filter((name) => isAsked(object[name])),
  }
}

/** The catalogue does not say how a provider keeps data or runs a model, so these leave nobody but the sandbox. */
const CONDITIONS = ['zdr', 'data_collection', 'enforce_distillable_text', 'quantizations']
const WISHES = ['sort', 'preferred_min_throughput', 'preferred_max_latency', 'require_parameters']

const isAsked = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && value !== 'allow' && !(Array.isArray(value) && value.length === 0)

/** Numbers, or numbers as text. */
const readMaxPrice = (value: unknown): Preferences['maxPrice'] => {
  const limits = isObject(value) ? value : {}
  const limit = (name: string): number =>
    limits[name] === undefined || limits[name] === null ? Number.POSITIVE_INFINITY : Number(limits[name])
  return { prompt: limit('prompt'), completion: limit('completion') }
}

const skipped = ({ model }: Removed): Warning => ({
  code: 'unsupported_field',
  field: 'models',
  message: `The model "${model}" does not exist here; it was passed over.`,
})

const unheeded = (name: string): Warning => ({
  code: 'unsupported_field',
  field: `provider.${name}`,
  message: `provider.${name} is not heeded by this version.`,
})

/** Clients name a provider by slug or by display name, in any case (contract 5.3). */
const names = (endpoint: ModelEndpoint, slug: string): boolean => {
  const wanted = slug.toLowerCase()
  return endpoint.provider.slug.toLowerCase() === wanted || endpoint.provider.name.toLowerCase() === wanted
}

const exclusion = (endpoint: ModelEndpoint, preferences: Preferences): string | null => {
  const { only, ignore, order: ordered, allowFallbacks, unknowable, maxPrice } = preferences
  if (only.length > 0 && !only.some((slug) => names(endpoint, slug))) return 'provider.only'
  if (ignore.some((slug) => names(endpoint, slug))) return 'provider.ignore'
  if (!allowFallbacks && ordered.length > 0 && !ordered.some((slug) => names(endpoint, slug))) return 'provider.order without fallbacks'
  const [condition] = unknowable
  if (condition !== undefined && !endpoint.provider.dialects.includes('sandbox')) return `provider.${condition}: not known of this provider`
  const { prompt, completion } = endpoint.prices ?? { prompt: Number.POSITIVE_INFINITY, completion: Number.POSITIVE_INFINITY }
  if (prompt > maxPrice.prompt || completion > maxPrice.completion) return 'provider.max_price'
  return null
}

const order = (model: Model, preferences: Preferences): PlannedAttempt[] => {
  const rank = ({ endpoint }: PlannedAttempt): number => {
    const position = preferences.order.findIndex((slug) => names(endpoint, slug))
    return position < 0 ? preferences.order.length : position
  }
  return model.endpoints
    .map((endpoint) => ({ model, endpoint, key: `${model.id} ${endpoint.provider.slug}` }))
    .sort((a, b) => rank(a) - rank(b))
}

const unknownModel = (id: string, models: Models): GatewayError => {
  const variables = models.enabledBy(id)
  if (variables.length > 0) {
    return new GatewayError('not_found', `No provider of "${shown(id)}" is enabled here. The operator can set ${variables.join(' or ')}.`)
  }
  const near = models.nearest(id, 3).map((known) => {
    const enabling = models.enabledBy(known)
    return enabling.length === 0 ? known : `${known} (set ${enabling.join(' or ')})`
  })
  const hint = near.length === 0 ? 'GET /api/v1/models lists what there is.' : `Did you mean ${near.join(', ')}?`
  return new GatewayError('not_found', `The model "${shown(id)}" does not exist here, or no enabled provider serves it. ${hint}`)
}

const noProvider = (models: readonly string[], removed: readonly Removed[]): GatewayError => {
  const why = removed.map(({ model, provider, reason }) => `${provider} for ${model} (${reason})`).join(', ')
  return new GatewayError(
    'provider_overloaded',
    `No provider meets the requirements for ${models.map(shown).join(', ')}. Removed: ${why}.`,
    {
      status: 503,
      metadata: { excluded_by: removed },
    },
  )
}

/** A hostile name is not repeated at length. */
const shown = (id: string): string => id.slice(0, 200)
