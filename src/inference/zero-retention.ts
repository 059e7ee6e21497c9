/** Says which requests are under zero data retention: nothing of their contents may be kept or leave for another service. */
import type { Call } from '../canonical/call.ts'
import { isObject } from '../lib/json/json.ts'
import type { Prepared } from './request.ts'

/** True if a guardrail demands it, or the request itself or its preset does. */
export const keepsNothing = (guardrails: Prepared['guardrails'], { body }: Pick<Call, 'body'>): boolean => {
  if (demandsZeroRetention(guardrails)) return true
  const provider = body.value('provider')
  return isObject(provider) && provider['zdr'] === true
}

/** True if a guardrail demands it for any author. */
export const demandsZeroRetention = (guardrails: Prepared['guardrails']): boolean =>
  Object.values(guardrails?.policy?.zdr ?? {}).includes(true)
