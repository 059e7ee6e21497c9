/**
 * Counts the input tokens that a request would cost: by the provider's own count if it has one, else by our estimate. Nothing is charged or
 * recorded.
 */
import type { ProviderContext } from '../providers/provider.ts'
import type { ProviderRegistry } from '../providers/registry.ts'
import { dialectFor } from '../models/models.ts'
import { inTurns, LARGE_BYTES } from '../lib/steps.ts'
import type { RoutingState } from '../routing/routing-state.ts'
import { asFailure } from './as-failure.ts'
import { hideInError } from './screen/hide-in-error.ts'
import { callFor, targetOf } from './run/attempt.ts'
import type { Planned } from './request.ts'
import { estimatedInputTokens } from './run/estimated-tokens.ts'

export interface TokenCount {
  /** The version of a preset whose prompt and tools were counted. */
  readonly preset: Planned['preset']
  readonly inputTokens: number
  readonly estimated: boolean
}

interface CountParts {
  readonly adapters: Pick<ProviderRegistry, 'counterFor'>
  readonly context: ProviderContext
  readonly routing: Pick<RoutingState, 'credentials'>
}

/** Throws the provider's failure. Only the first candidate is asked, because another one would count differently; without a connection none is. */
export const countTokens = async (request: Planned, connection: AbortController | null, parts: CountParts): Promise<TokenCount> => {
  const { call } = request
  const { turn } = parts.context
  if (turn !== undefined && call.body.held.length > LARGE_BYTES) await inTurns(call.readingPrompt(), turn)
  else call.prompt()
  const counted = connection === null ? null : await providersCount(request, connection, parts)
  const { preset } = request
  return counted === null
    ? { preset, inputTokens: estimatedInputTokens(call), estimated: true }
    : { preset, inputTokens: counted, estimated: false }
}

/** Null where the provider has no count. */
const providersCount = async (
  request: Planned,
  connection: AbortController,
  { adapters, context, routing }: CountParts,
): Promise<number | null> => {
  const { call, plan, hidden } = request
  const [planned] = plan.attempts
  const counter = planned === undefined ? null : adapters.counterFor(dialectFor(planned.endpoint.provider, call.dialect))
  if (planned === undefined || counter === null) return null
  const credential = planned.customerKey ?? routing.credentials.pick(planned.endpoint.provider, new Set()) ?? { apiKey: null }
  const attempt = { call: callFor(request, planned), target: targetOf(planned, credential), number: 0, connection, warn: () => undefined }
  try {
    return await counter(attempt, context)
  } catch (thrown) {
    throw hideInError(asFailure(thrown), hidden)
  }
}
