/**
 * Refuses Anthropic's advisor with a model that the lists of the guardrails keep from the caller: Anthropic asks that model itself, so no plan
 * holds it (docs/contract/guardrails.md#policy).
 */
import type { Call } from '../../canonical/call.ts'
import type { RoutingPolicy } from '../../canonical/routing-policy.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import type { Models } from '../../models/models.ts'
import { matchesPattern } from '../../routing/pattern.ts'
import { permits } from '../../routing/policy.ts'
import { resolveModel } from '../../routing/resolve-model.ts'
import { toolsOfRequest } from '../web/denied-words.ts'

/** Throws `permission_denied`. */
export function* refuseAdvisors(call: Call, policy: RoutingPolicy | null, models: Models): Steps<void> {
  if (policy === null || call.dialect !== 'messages' || !(yield* lookForName(ADVISOR, call.body.searchable))) return
  for (const { raw, at } of yield* toolsOfRequest(call)) {
    if (!isObject(raw) || typeof raw['type'] !== 'string' || !/^advisor_\d{8}$/.test(raw['type']) || typeof raw['model'] !== 'string')
      continue
    if (isPermitted(raw['model'], policy, models)) continue
    throw new GatewayError(
      'permission_denied',
      `${at}.model: the guardrails of this key do not allow this model. Name another one, or send the request without the tool.`,
    )
  }
}

const ADVISOR = /"advisor_\d/

/** A model that the catalogue lacks is known by its name alone. */
const isPermitted = (name: string, policy: RoutingPolicy, models: Models): boolean => {
  const found = resolveModel(name, models)
  if (found !== undefined) return permits(found.model, policy, models)
  return policy.allowedModels.length === 0 && !policy.ignoredModels.some((pattern) => matchesPattern(pattern, `anthropic/${name}`))
}
