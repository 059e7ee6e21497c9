/** Decides which endpoints a caller's guardrails rule out, and names the setting that does (docs/contract/guardrails.md#policy). */
import { type RoutingPolicy, ZDR_AUTHORS, type ZdrAuthor } from '../canonical/routing-policy.ts'
import type { Models } from '../models/models.ts'
import type { OtherNames } from '../models/other-names.ts'
import { comparedPrice, names as isNamed, type Candidate } from './candidate.ts'
import { matchesPattern } from './pattern.ts'
import type { Model, ModelEndpoint } from '../models/model.ts'

/** True if a key with these guardrails can call the model at all. */
export const permits = (model: Model, policy: RoutingPolicy | null, models: Names): boolean =>
  policy === null || model.endpoints.some((endpoint) => byPolicy({ model, endpoint }, policy, models) === null)

type Judged = Pick<Candidate, 'model' | 'endpoint'>

type Names = Pick<Models, 'otherNames'>

export const byPolicy = (candidate: Judged, policy: RoutingPolicy | null, models: Names): string | null => {
  if (policy === null) return null
  const others = models.otherNames(candidate.endpoint)
  // A model under an unlisted name also counts under every catalogue id of the same model at that address.
  const authors = candidate.endpoint.unlisted === true ? [candidate.model.id, ...others.listed] : [candidate.model.id]
  return byLists(candidate, policy, others) ?? byDataPolicy(candidate, policy, authors)
}

/** A model must be allowed by its own id; it is ignored under any name by which a client can ask the provider for it. */
const byLists = ({ model, endpoint }: Judged, policy: RoutingPolicy, others: OtherNames): string | null => {
  const isModel = (pattern: string): boolean => matchesPattern(pattern, model.id)
  const names = [model.id, ...others.listed, ...others.spelled, ...others.variantOf]
  const isProvider = (name: string): boolean => isOf(endpoint, name)
  if (!policy.allowedModels.every((list) => list.some(isModel))) return 'guardrail.allowed_models'
  if (policy.ignoredModels.some((pattern) => names.some((name) => matchesPattern(pattern, name)))) return 'guardrail.ignored_models'
  if (!policy.allowedProviders.every((list) => list.some(isProvider))) return 'guardrail.allowed_providers'
  if (policy.ignoredProviders.some(isProvider)) return 'guardrail.ignored_providers'
  return null
}

/** A guardrail that names a provider also means its tiers. */
const isOf = (endpoint: ModelEndpoint, slug: string): boolean =>
  isNamed(endpoint, slug) || isNamed({ ...endpoint, serviceTier: null }, slug)

const byDataPolicy = ({ endpoint }: Judged, policy: RoutingPolicy, ids: readonly string[]): string | null => {
  const { training, retains } = endpoint.dataPolicy
  const author = ids.map(authorOf).find((one) => policy.zdr[one])
  if (author !== undefined && retains !== false) return reported(`guardrail.enforce_zdr_${author}`, retains)
  if (comparedPrice(endpoint) !== 0) {
    return policy.paidTraining || training === false ? null : reported('guardrail.enable_paid_model_training', training)
  }
  // Text that is not retained cannot be published.
  if (!policy.freePublication && retains !== false) return reported('guardrail.enable_free_model_publication', retains)
  return policy.freeTraining || training === false ? null : reported('guardrail.enable_free_model_training', training)
}

/** A fact that is not known about an endpoint is not promised: it counts as the worse case. */
export const reported = (filter: string, fact: boolean | null): string => (fact === null ? `${filter}: ${NOT_KNOWN}` : filter)

export const NOT_KNOWN = 'not known of this provider'

const authorOf = (modelId: string): ZdrAuthor => {
  const author = modelId.split('/')[0]?.replace('x-ai', 'xai')
  return ZDR_AUTHORS.find((known) => known === author) ?? 'other'
}
