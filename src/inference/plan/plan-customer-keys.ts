/**
 * Adds customers' own keys to the attempts of a plan: they come first, whatever the order of the plan, then the service's keys, then the
 * customers' keys that are only for fallback (docs/contract/routing.md#default-order). Pure.
 */
import type { CustomerKeyLookup } from '../../byok/customer-keys.ts'
import { GatewayError } from '../../errors.ts'
import type { Models } from '../../models/models.ts'
import { isModel } from '../../routing/is-model.ts'
import type { Plan, PlannedAttempt, Removed } from '../../routing/plan-attempts.ts'

const NO_OWN_KEY =
  'No provider meets the requirements: the workspace allows only its own provider keys here, and none of them may be used for this model.'

export const withCustomerKeys = (plan: Plan, lookup: CustomerKeyLookup | null, models: Models): Plan => {
  if (lookup === null) return plan
  const first: PlannedAttempt[] = []
  const shared: PlannedAttempt[] = []
  const last: PlannedAttempt[] = []
  const removed: Removed[] = []
  for (const planned of plan.attempts) {
    const { slug, apiKeys } = planned.endpoint.provider
    const { keys, sharedAllowed } = lookup(slug, (name) => isModel(name, planned, models))
    for (const customerKey of keys) (customerKey.isFallback ? last : first).push({ ...planned, customerKey })
    if (!sharedAllowed) {
      if (keys.length === 0) removed.push({ model: planned.model.id, provider: slug, reason: "only the workspace's own keys may be used" })
    } else if (apiKeys.length > 0 || keys.length === 0) shared.push(planned)
  }
  const attempts = [...first, ...shared, ...last]
  if (attempts.length === 0) {
    throw new GatewayError('provider_overloaded', NO_OWN_KEY, {
      status: 503,
      metadata: { excluded_by: [...plan.removed, ...removed] },
    })
  }
  return { ...plan, attempts, removed: [...plan.removed, ...removed] }
}
