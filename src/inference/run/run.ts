/** One run: attempts in order until one answers. A run settles nothing, so that one request may take several runs. */
import type { TakeFrames } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { isGuardrailBlock } from '../../guardrails/detections.ts'
import type { HealthView } from '../../routing/health.ts'
import type { RoutingState } from '../../routing/routing-state.ts'
import { createAttemptOrder, type NotTried } from './attempt-order.ts'
import { attempt, type AttemptParts, type Failure, type Running } from './attempt.ts'
import { concludingError, notTriedMember, whyNot } from './conclude.ts'

export interface RunParts extends AttemptParts {
  readonly routing: RoutingState
}

/**
 * Hands the answer to `take` as it comes, and resolves when it has ended: with null, or with the failure that ended it. Everything handed
 * over by then is part of the answer.
 */
export const run = async (admitted: Running, parts: RunParts, take: TakeFrames): Promise<GatewayError | null> => {
  const { request, connection, log } = admitted
  const order = createAttemptOrder(request.plan.attempts, parts.routing, request.call.models.length > 1)
  let failure: Failure | null = null
  for (let begun = order.first(); begun !== null; begun = connection.stopped ? null : order.after(failure)) {
    failure = await attempt(admitted, begun, parts, take)
    if (failure === null) return null
  }
  if (failure === null) return log.refuse(nobodyFree(order.notTried, parts.routing.health))
  const error = log.refuse(
    concludingError(failure.error, log.attempts, connection.stopped || failure.zone === 'unheld' ? [] : order.notTried),
  )
  // A blocked answer must not be delivered in part either.
  if (failure.unsent.length > 0 && !isGuardrailBlock(error)) {
    const behind = take(failure.unsent)
    if (behind !== undefined) await behind
  }
  return error
}

/** No attempt was made, so this is our own refusal. It says why each suitable provider was not asked. */
const nobodyFree = (notTried: readonly NotTried[], health: HealthView): GatewayError =>
  new GatewayError('provider_overloaded', `No provider that fits can be asked now: ${whyNot(notTried)}. Try again shortly.`, {
    retryAfterSeconds: Math.min(...notTried.map(({ planned }) => health.of(planned.key).retryAfterSeconds ?? 1)),
    metadata: { not_tried: notTriedMember(notTried) },
  })
