/** Which endpoint a caller's guardrails rule out, and by which of their lists. */
import type { RoutingPolicy, ZdrAuthor } from '../canonical/routing-policy.ts'
import type { Model, ModelEndpoint } from '../models/models.ts'

/** Null: allowed. What is not known of an endpoint is not promised: it counts as the worse. */
export const policyExclusion = (policy: RoutingPolicy | null, model: Model, endpoint: ModelEndpoint): string | null => {
  if (policy === null) return null
  const isModel = named([model.id])
  const isProvider = named([endpoint.provider.slug, endpoint.provider.name])
  if (policy.allowedModels?.some(isModel) === false) return 'guardrail.allowed_models'
  if (policy.ignoredModels.some(isModel)) return 'guardrail.ignored_models'
  if (policy.allowedProviders?.some(isProvider) === false) return 'guardrail.allowed_providers'
  if (policy.ignoredProviders.some(isProvider)) return 'guardrail.ignored_providers'
  // Nothing leaves this process with the sandbox; of no other provider is it known so far how it keeps data.
  if (endpoint.provider.dialects.includes('sandbox')) return null
  const author = authorOf(model.id)
  if (policy.zdr[author]) return `guardrail.enforce_zdr_${author}: not known of this provider`
  const free = endpoint.prices !== null && endpoint.prices.prompt === 0 && endpoint.prices.completion === 0
  if (free && !policy.freePublication) return 'guardrail.enable_free_model_publication: not known of this provider'
  if (free && !policy.freeTraining) return 'guardrail.enable_free_model_training: not known of this provider'
  if (!free && !policy.paidTraining) return 'guardrail.enable_paid_model_training: not known of this provider'
  return null
}

const named = (names: readonly string[]): ((wanted: string) => boolean) => {
  const known = new Set(names.map((name) => name.toLowerCase()))
  return (wanted) => known.has(wanted.toLowerCase())
}

const AUTHORS: Readonly<Record<string, ZdrAuthor>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'google',
  'x-ai': 'xai',
  xai: 'xai',
}

const authorOf = (modelId: string): ZdrAuthor => {
  const author = modelId.split('/')[0]?.toLowerCase() ?? ''
  return Object.hasOwn(AUTHORS, author) ? (AUTHORS[author] ?? 'other') : 'other'
}
