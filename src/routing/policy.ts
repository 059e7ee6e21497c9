/** Which endpoint a caller's guardrails rule out, and by which of their settings (contract 7.1). */
import { type RoutingPolicy, ZDR_AUTHORS, type ZdrAuthor } from '../canonical/routing-policy.ts'
import type { Model, ModelEndpoint } from '../models/models.ts'
import { comparedPrice, names, type Candidate } from './candidate.ts'
import { matchesPattern } from './pattern.ts'

/** Whether a key with these guardrails can call the model at all. */
export const permits = (model: Model, policy: RoutingPolicy | null): boolean =>
  policy === null || model.endpoints.some((endpoint) => byPolicy({ model, endpoint }, policy) === null)

type Judged = Pick<Candidate, 'model' | 'endpoint'>

export const byPolicy = (candidate: Judged, policy: RoutingPolicy | null): string | null =>
  policy === null ? null : (byLists(candidate, policy) ?? byDataPolicy(candidate, policy))

const byLists = ({ model, endpoint }: Judged, policy: RoutingPolicy): string | null => {
  const isModel = (pattern: string): boolean => matchesPattern(pattern, model.id)
  const isProvider = (name: string): boolean => isOf(endpoint, name)
  if (!policy.allowedModels.every((list) => list.some(isModel))) return 'guardrail.allowed_models'
  if (policy.ignoredModels.some(isModel)) return 'guardrail.ignored_models'
  if (!policy.allowedProviders.every((list) => list.some(isProvider))) return 'guardrail.allowed_providers'
  if (policy.ignoredProviders.some(isProvider)) return 'guardrail.ignored_providers'
  return null
}

/** A guardrail that names a provider means its tiers too. */
const isOf = (endpoint: ModelEndpoint, slug: string): boolean => names(endpoint, slug) || names({ ...endpoint, serviceTier: null }, slug)

const byDataPolicy = ({ model, endpoint }: Judged, policy: RoutingPolicy): string | null => {
  const { training, retains } = endpoint.dataPolicy
  const author = authorOf(model.id)
  if (policy.zdr[author] && retains !== false) return told(`guardrail.enforce_zdr_${author}`, retains)
  if (comparedPrice(endpoint) !== 0) {
    return policy.paidTraining || training === false ? null : told('guardrail.enable_paid_model_training', training)
  }
  // What nobody keeps, nobody publishes.
  if (!policy.freePublication && retains !== false) return told('guardrail.enable_free_model_publication', retains)
  return policy.freeTraining || training === false ? null : told('guardrail.enable_free_model_training', training)
}

/** What is not known of an endpoint is not promised: it counts as the worse. */
export const told = (filter: string, fact: boolean | null): string => (fact === null ? `${filter}: ${NOT_KNOWN}` : filter)

export const NOT_KNOWN = 'not known of this provider'

const authorOf = (modelId: string): ZdrAuthor => {
  const author = modelId.split('/')[0]?.toLowerCase().replace('x-ai', 'xai')
  return ZDR_AUTHORS.find((known) => known === author) ?? 'other'
}
