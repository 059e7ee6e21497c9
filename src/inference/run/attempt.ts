/** One attempt: its connection, its deadlines, its output, and what it shows about the endpoint. */
import type { Call } from '../../canonical/call.ts'
import type { Frame, TakeFrames } from '../../canonical/event.ts'
import { OWN_DIALECT } from '../../canonical/provider-dialects.ts'
import { errorRow, GatewayError } from '../../errors.ts'
import { isGuardrailBlock } from '../../guardrails/detections.ts'
import { type OutputScreen, screening } from '../../guardrails/screen-output.ts'
import type { Clock } from '../../lib/clock.ts'
import { nextStage } from '../../lib/cohort.ts'
import { once } from '../../lib/once.ts'
import type { AnswerRoom } from '../../providers/transport/answer-room.ts'
import { turnsOf } from '../../providers/transport/answer-turns.ts'
import { isConnectionLack } from '../../providers/transport/own-limits.ts'
import type { ProviderAdapter, ProviderContext, Target } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import { callAtTier } from '../../routing/call-at-tier.ts'
import type { Credential } from '../../routing/credentials.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { RoutingState } from '../../routing/routing-state.ts'
import { asFailure } from '../as-failure.ts'
import type { Admitted } from '../admitted.ts'
import { hideWithin } from '../screen/hide-in-error.ts'
import { isServiceStop } from '../service-stop.ts'
import type { Planned } from '../request.ts'
import { isUnheldTools } from '../unheld-tools.ts'
import { reportOf } from './attempt-report.ts'
import { zoneOf, type FailedAttempt } from './failover.ts'
import { Delivery } from './delivery.ts'
import { dialectOf } from './dialect-of.ts'
import { withFlaggedInput } from './flagged-input.ts'
import type { BegunAttempt } from './attempt-order.ts'
import { holdingTools } from './hold-tools.ts'
import { watchedContext } from './watched-context.ts'

export interface AttemptParts {
  readonly adapters: ProviderRegistry
  readonly context: ProviderContext
  readonly clock: Clock
  readonly routing: Pick<RoutingState, 'health'>
  /** Absent: whole answers have no limit together. */
  readonly answerRoom?: AnswerRoom | undefined
  /** A candidate that has sent no content after this many milliseconds is given up; a model may have its own limit. */
  readonly firstTokenMs: number
}

export interface Failure extends FailedAttempt {
  /** The part of a whole answer that was received before the failure; empty if it has no content. */
  readonly unsent: readonly Frame[]
}

/**
 * Runs one attempt, whose frames go to `deliver`: for a stream, nothing before the first content and everything as it arrives after that;
 * for a whole answer, everything at its end. Resolves with null if the provider answered, otherwise with the failure; never rejects.
 */
export const attempt = async (
  admitted: Running,
  begun: BegunAttempt,
  parts: AttemptParts,
  deliver: TakeFrames,
): Promise<Failure | null> => {
  const { planned } = begun
  const { request, log } = admitted
  const { stream } = request.call
  const { provider } = planned.endpoint
  let failure: Failure | null = null
  const outcome = log.begin(begun)
  const connection = admitted.connection.open()
  const answerSpace = parts.answerRoom?.enter(provider.slug)
  const firstTokenMs = planned.model.firstTokenMs ?? parts.firstTokenMs
  const cancelDeadline = stream
    ? parts.clock.after(firstTokenMs, () => connection.abort(new GatewayError('timeout', `${provider.name} sent no content in time.`)))
    : null
  const delivery = new Delivery(stream, cancelDeadline, deliver, turnsOf(parts.context, { connection }), answerSpace)

  const output = request.screenOutput?.()
  try {
    await nextStage
    const call = callAtTier(callFor(request, planned), planned, log.warn)
    const adapter = adapterOf(parts.adapters, request, planned, call)
    const number = log.attempts.length - 1
    const allowed = admitted.hold?.toolCalls(planned) ?? null
    const target = heldTarget(admitted, begun, allowed instanceof Promise ? await allowed : allowed)
    const upstreamAttempt = { call, target, number, connection, warn: log.warn }
    const screened = output === undefined ? null : screening(output, log, (frames) => delivery.take(frames))
    const observed: TakeFrames = (frames) => {
      log.observe(frames)
      return delivery.take(frames)
    }
    const receive = screened === null ? observed : screened.take
    // A whole answer has ended when it is seen, so its tools can spend no more.
    const covered = admitted.hold === null || !stream ? receive : holdingTools(admitted.hold, planned, receive)
    await adapter(upstreamAttempt, watchedContext(parts.context, answerSpace, admitted, planned), covered)
    const screenedRest = screened?.end()
    if (screenedRest !== undefined) await screenedRest
    log.succeed()
    const behind = delivery.end()
    if (behind !== undefined) await behind
  } catch (thrown) {
    if (isConnectionLack(thrown)) log.notSent()
    const own = ownRefusal(thrown, admitted.connection.stopReason)
    const error = log.fail(
      own ?? withFlaggedInput(ofProvider(passing(asFailure(thrown), output?.screen), provider.name, begun), request.call),
    )
    const zone = delivery.begun ? 'delivered' : zoneOf(outcome, error)
    failure = {
      error,
      zone: own !== null && isUnheldTools(own) ? 'unheld' : zone,
      upstreamStatus: outcome.upstreamStatus,
      unsent: delivery.unsent,
    }
  } finally {
    cancelDeadline?.()
    answerSpace?.free()
    parts.routing.health.end(planned.key, provider.slug, reportOf(admitted.connection.stopped, begun, outcome, failure))
  }
  return failure
}

/** The failure that is no fault of the provider; null for every other one. */
const ownRefusal = (thrown: unknown, stopReason: GatewayError | null): GatewayError | null => {
  if (stopReason !== null && isServiceStop(stopReason)) return stopReason
  return thrown instanceof GatewayError && isUnheldTools(thrown) ? thrown : null
}

/** A provider's failure may quote what the model wrote, such as a call that it could not read. */
const passing = (error: GatewayError, screen: OutputScreen | undefined): GatewayError =>
  screen === undefined || isGuardrailBlock(error) ? error : hideWithin(error, screen.hide)

const adapterOf = (adapters: ProviderRegistry, { apiType }: Planned, planned: PlannedAttempt, call: Call): ProviderAdapter =>
  apiType === 'embeddings' ? adapters.embeddings : adapters.adapterFor(dialectOf(planned, call))

/** A conversation that the service continued is rendered anew, whichever dialect the endpoint speaks. */
export const callFor = ({ call, promptFor }: Pick<Planned, 'call' | 'promptFor'>, planned: PlannedAttempt): Call =>
  withReplaced(promptFor === undefined ? call : { ...call, continued: true, prompt: () => promptFor(planned) }, planned)

const withReplaced = (call: Call, planned: PlannedAttempt): Call => {
  const { replaced } = call
  if (replaced === undefined || dialectOf(planned, call) === OWN_DIALECT[call.dialect]) return call
  const prompt = once(() => {
    const read = call.prompt()
    return { ...read, settings: { ...replaced, ...read.settings } }
  })
  return { ...call, prompt }
}

export const targetOf = ({ model, endpoint, customerKey }: PlannedAttempt, { apiKey }: Pick<Credential, 'apiKey'>): Target => ({
  provider: endpoint.provider.slug,
  providerName: endpoint.provider.name,
  baseUrl: endpoint.provider.baseUrl,
  apiKey,
  storedObjects: customerKey !== undefined || endpoint.provider.storedObjects === true,
  modelId: model.id,
  inputModalities: model.inputModalities,
  upstreamModel: endpoint.upstreamModel,
  unlisted: endpoint.unlisted === true,
  maxCompletionTokens: endpoint.maxCompletionTokens,
  contextLength: endpoint.contextLength ?? model.contextLength,
})

/** Under a budget, a dialect that requires an output limit gets the number of tokens for which money is held. */
const heldTarget = ({ hold }: Pick<Running, 'hold'>, { planned, credential }: BegunAttempt, maxToolCalls: number | null): Target => {
  const target = { ...targetOf(planned, credential), maxToolCalls }
  const outputTokens = hold?.outputTokens(planned.endpoint) ?? null
  return outputTokens === null ? target : { ...target, maxCompletionTokens: outputTokens }
}

/**
 * Every failure of a provider names it, even if nothing came back that could (docs/contract/errors.md#metadata), and says if the key was
 * the customer's own, which only the customer can fix.
 */
const ofProvider = (error: GatewayError, name: string, { credential }: BegunAttempt): GatewayError => {
  const named = error.metadata['provider_name'] !== undefined
  if (named ? !credential.isByok : errorRow(error.type).failover === 'never') return error
  return error.withMetadata({ ...(named ? {} : { provider_name: name }), ...(credential.isByok ? { is_byok: true } : {}) })
}

/** The scope of a run: a whole answer, or one turn of it. */
export interface Running extends Pick<Admitted, 'connection' | 'log' | 'hold'> {
  readonly request: Planned
}
