/** How many input tokens a request would cost: the provider's own count where it has one, else our estimate. Nothing is charged or recorded. */
import type { CustomerKeyLookup } from '../byok/customer-keys.ts'
import type { Call } from '../canonical/call.ts'
import type { HiddenTexts } from '../canonical/hidden-prompt.ts'
import type { RoutingPolicy } from '../canonical/routing-policy.ts'
import { dialectFor } from '../models/models.ts'
import { planAttempts } from '../routing/plan-attempts.ts'
import { withCustomerKeys } from './plan-customer-keys.ts'
import { asFailure, targetOf } from './attempt.ts'
import { estimatedInputTokens } from './bill.ts'
import { hideInError } from './hide-in-error.ts'
import type { InferenceParts } from './run-inference.ts'

export interface TokenCount {
  readonly inputTokens: number
  readonly estimated: boolean
}

export type CountTokens = (
  call: Call,
  connection: AbortController,
  customerKeys: CustomerKeyLookup | null,
  policy: RoutingPolicy | null,
  hidden: HiddenTexts | undefined,
) => Promise<TokenCount>

/** Throws as `planAttempts` does, and the provider's failure. Only the first candidate is asked: another's count would be another number. */
export const createCountTokens =
  (parts: Pick<InferenceParts, 'models' | 'adapters' | 'context' | 'routing'>): CountTokens =>
  async (call, connection, customerKeys, policy, hidden) => {
    call.prompt()
    const plan = planAttempts({ ...parts.routing, models: parts.models, call, account: '', sticky: null, policy })
    const [planned] = withCustomerKeys(plan, customerKeys, parts.models).attempts
    const counter = planned === undefined ? null : parts.adapters.counterFor(dialectFor(planned.endpoint.provider, call.dialect))
    if (planned === undefined || counter === null) return { inputTokens: estimatedInputTokens(call), estimated: true }
    const credential = planned.customerKey ?? parts.routing.credentials.pick(planned.endpoint.provider, new Set()) ?? { apiKey: null }
    const attempt = { call, target: targetOf(planned, credential), number: 0, connection, warn: () => undefined }
    try {
      return { inputTokens: await counter(attempt, parts.context), estimated: false }
    } catch (thrown) {
      throw hideInError(asFailure(thrown), hidden)
    }
  }
