/**
 * The story of one inference: plan, try, fail over until content was delivered, settle. It speaks the language of the
 * middle; parsing before it and rendering after it are the formats' part. Stream or not, this is the one path.
 */
import type { Call } from '../canonical/call.ts'
import type { TakeFrames } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import { isGuardrailBlock } from '../guardrails/detections.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { Models } from '../models/models.ts'
import { speaksDialectOf } from '../models/models.ts'
import type { ProviderContext } from '../providers/provider.ts'
import type { ProviderRegistry } from '../providers/registry.ts'
import type { HealthView } from '../routing/health.ts'
import { planAttempts, type Plan } from '../routing/plan-attempts.ts'
import type { RoutingState } from '../routing/routing-state.ts'
import { attempt, type Failure } from './attempt.ts'
import { concludingError, notTriedMember, whyNot } from './conclude.ts'
import { strictError, type InferenceRequest } from './inference-request.ts'
import { createItinerary, type NotTried } from './itinerary.ts'
import { withCustomerKeys } from './plan-customer-keys.ts'
import { rememberRoute } from './remember-route.ts'
import { Run } from './run.ts'

export interface InferenceParts {
  readonly models: Models
  readonly adapters: ProviderRegistry
  readonly context: ProviderContext
  readonly clock: Clock
  readonly ids: IdSource
  readonly routing: RoutingState
  /** A candidate that has said nothing after this long is given up; a model may have a time of its own. */
  readonly firstTokenMs: number
  /** No answer takes longer, whatever it is doing. */
  readonly totalMs: number
  /** Called when a run begins to answer, thus after it was admitted, and when it has ended; they never wait and never throw. */
  readonly began: (run: Run) => void
  readonly settle: (run: Run) => void
}

export type RunInference = (request: InferenceRequest) => Run

export const createInference =
  (parts: InferenceParts): RunInference =>
  (request) =>
    new Run(request, planRequest(request, parts), parts, (run, deliver) => answer(run, parts, deliver))

/**
 * Who would be asked. Throws what is no provider's judgement: an unknown model, nobody who meets the requirements, a
 * wish that a strict request cannot have, a malformed conversation.
 */
export const planRequest = (request: InferenceRequest, parts: Pick<InferenceParts, 'models' | 'routing'>): Plan => {
  const plan = planFor(request, parts)
  const [unheeded] = plan.warnings
  if (request.strict && unheeded !== undefined) throw strictError(unheeded)
  checkPrompt(request.call, plan)
  return plan
}

export const planFor = (
  { call, caller, customerKeys = null, policy = null }: Pick<InferenceRequest, 'call' | 'caller' | 'customerKeys' | 'policy'>,
  { models, routing }: Pick<InferenceParts, 'models' | 'routing'>,
): Plan => {
  const { health, sticky, random } = routing
  return withCustomerKeys(
    planAttempts({ call, models, health, account: caller.workspaceId, sticky: sticky.find, random, policy }),
    customerKeys,
    models,
  )
}

/**
 * A malformed conversation is our own check, so it has its status and reaches nobody
 * (docs/contract/errors.md#own-checks). Where every attempt stays in the client's dialect nothing is parsed: the
 * provider is the judge of its own.
 */
const checkPrompt = (call: Call, plan: Plan): void => {
  if (plan.attempts.some(({ endpoint }) => !speaksDialectOf(endpoint.provider, call.dialect))) call.prompt()
}

/** The answer, handed over as it comes. Rejects with the last error where nothing was said; after that a failure is the last event. */
const answer = async (run: Run, parts: InferenceParts, deliver: TakeFrames): Promise<void> => {
  parts.began(run)
  run.connection.limit(parts.totalMs)
  try {
    const itinerary = createItinerary(run.plan.attempts, parts.routing, run.request.call.models.length > 1)
    let failure: Failure | null = null
    for (let dispatch = itinerary.first(); dispatch !== null; dispatch = run.connection.stopped ? null : itinerary.after(failure)) {
      failure = await attempt(run, dispatch, parts, deliver)
      if (failure === null) return
    }
    if (failure === null) throw run.log.refuse(nobodyFree(itinerary.notTried, parts.routing.health))
    const error = run.log.refuse(concludingError(failure.error, run.log.attempts, run.connection.stopped ? [] : itinerary.notTried))
    // What was blocked is not delivered in part either.
    if (failure.zone !== 'delivered' && (!failure.said || isGuardrailBlock(error))) throw error
    await deliver([...failure.held, { events: [{ type: 'error', error }] }])
  } finally {
    run.end()
    rememberRoute(run, parts.routing.sticky)
    parts.settle(run)
  }
}

/** No attempt was made, so it is our own refusal. It says of each provider that fits why it was not asked. */
export const nobodyFree = (notTried: readonly NotTried[], health: HealthView): GatewayError =>
  new GatewayError('provider_overloaded', `No provider that fits can be asked now: ${whyNot(notTried)}. Try again shortly.`, {
    retryAfterSeconds: Math.min(...notTried.map(({ planned }) => health.of(planned.key).retryAfterSeconds ?? 1)),
    metadata: { not_tried: notTriedMember(notTried) },
  })
