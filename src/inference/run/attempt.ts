/** One attempt: its connection, its deadlines, its output, and what it shows about the endpoint. */
import type { Call } from '../../canonical/call.ts'
import { carriesContent, type Frame, type TakeFrames } from '../../canonical/event.ts'
import type { Usage } from '../../canonical/usage.ts'
import { errorRow, GatewayError } from '../../errors.ts'
import { isGuardrailBlock } from '../../guardrails/detections.ts'
import { type OutputScreen, screening } from '../../guardrails/screen-output.ts'
import type { Clock } from '../../lib/clock.ts'
import { nextStage } from '../../lib/cohort.ts'
import type { AnswerRoom, AnswerSpace } from '../../providers/transport/answer-room.ts'
import { isConnectionLack } from '../../providers/transport/own-limits.ts'
import type { ProviderAdapter, ProviderContext, Target } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import type { Upstream, UpstreamRequest } from '../../providers/transport/upstream.ts'
import { callAtTier } from '../../routing/call-at-tier.ts'
import type { Credential } from '../../routing/credentials.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { RoutingState } from '../../routing/routing-state.ts'
import { asFailure } from '../as-failure.ts'
import type { Admitted } from '../admitted.ts'
import { hideWithin } from '../hide-in-error.ts'
import { isServiceStop } from '../service-stop.ts'
import type { Planned } from '../request.ts'
import { isUnheldTools } from '../unheld-tools.ts'
import { reportOf } from './attempt-report.ts'
import { zoneOf, type FailedAttempt } from './failover.ts'
import { dialectOf } from './dialect-of.ts'
import { withFlaggedInput } from './flagged-input.ts'
import type { BegunAttempt } from './attempt-order.ts'

/** The maximum number of frames without content. A provider that sends more counts as broken. */
const HELD_FRAMES_MAX = 10_000

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
  readonly held: readonly Frame[]
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
  const held: Frame[] = []
  let said = false
  let delivered = false
  let failure: Failure | null = null
  const outcome = log.begin(begun)
  const connection = admitted.connection.open()
  const answerSpace = parts.answerRoom?.enter(provider.slug)
  const firstTokenMs = planned.model.firstTokenMs ?? parts.firstTokenMs
  const cancelDeadline = stream
    ? parts.clock.after(firstTokenMs, () => connection.abort(new GatewayError('timeout', `${provider.name} sent no content in time.`)))
    : null

  const keepBack = (frames: readonly Frame[]): ReturnType<TakeFrames> => {
    held.push(...frames)
    said ||= hasContent(frames)
    if (said) cancelDeadline?.()
    if (!said && held.length > HELD_FRAMES_MAX) throw new GatewayError('provider_unavailable', 'The provider sent no content.')
    if (!stream || !said) return undefined
    delivered = true
    return deliver(held)
  }

  const take = (frames: readonly Frame[]): ReturnType<TakeFrames> => (delivered ? deliver(frames) : keepBack(frames))

  const observed = (batch: readonly Frame[]): ReturnType<TakeFrames> => {
    log.observe(batch)
    return take(batch)
  }

  /**
   * A stream goes on once what the provider's own tools do in it is held. A whole answer has ended when it is seen, and so has a stream
   * whose model has finished: no more can be spent.
   */
  const covered = (pass: TakeFrames): TakeFrames => {
    const { hold } = admitted
    if (hold === null || !stream) return pass
    let finished = false
    return (batch) => {
      const passed = pass(batch)
      finished ||= batch.some(({ events }) => events.some(({ type }) => type === 'finish'))
      const counts = finished ? null : countsIn(batch)
      if (counts === null) return passed
      return passed === undefined ? hold.coverTools(planned, counts) : passed.then(() => hold.coverTools(planned, counts))
    }
  }

  const output = request.screenOutput?.()
  try {
    await nextStage
    const call = callAtTier(callFor(request, planned), planned, log.warn)
    const adapter = adapterOf(parts.adapters, request, planned, call)
    const number = log.attempts.length - 1
    const allowed = admitted.hold?.toolCalls(planned) ?? null
    const target = heldTarget(admitted, begun, allowed instanceof Promise ? await allowed : allowed)
    const upstreamAttempt = { call, target, number, connection, warn: log.warn }
    const screened = output === undefined ? null : screening(output, log, take)
    const receive = covered(screened === null ? observed : screened.take)
    await adapter(upstreamAttempt, watched(parts.context, answerSpace, admitted, planned), receive)
    const screenedRest = screened?.end()
    if (screenedRest !== undefined) await screenedRest
    log.succeed()
    const behind = delivered ? undefined : deliver(held)
    if (behind !== undefined) await behind
  } catch (thrown) {
    if (isConnectionLack(thrown)) log.notSent()
    const own = ownRefusal(thrown, admitted.connection.stopReason)
    const error = log.fail(
      own ?? withFlaggedInput(ofProvider(passing(asFailure(thrown), output?.screen), provider.name, begun), request.call),
    )
    failure = {
      error,
      zone: own !== null && isUnheldTools(own) ? 'unheld' : delivered ? 'delivered' : zoneOf(outcome, error),
      upstreamStatus: outcome.upstreamStatus,
      held: said && !delivered ? held : [],
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
  promptFor === undefined ? call : { ...call, continued: true, prompt: () => promptFor(planned) }

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

/** The newest counts, with those of tools that are at work; null if there are none. */
const countsIn = (batch: readonly Frame[]): Usage | null => {
  let counts: Usage | null = null
  for (const { events } of batch) for (const event of events) if (event.type === 'usage') counts = event.underWay ?? event.usage
  return counts
}

/**
 * The same context, but a body goes out only when its cost is held, and the log records that the provider is asked and with what status it
 * answers.
 */
const watched = (
  context: ProviderContext,
  answerSpace: AnswerSpace | undefined,
  { hold, log }: Pick<Running, 'hold' | 'log'>,
  planned: PlannedAttempt,
): ProviderContext => {
  const { turn } = context
  const sending = (body: UpstreamRequest['body']): void | Promise<void> => {
    const covered = hold?.cover(planned, body, turn)
    return covered === undefined ? log.sent(body, turn) : covered.then(() => log.sent(body, turn))
  }
  const watching: Upstream = {
    async post(request) {
      const waiting = sending(request.body)
      if (waiting !== undefined) await waiting
      const joining = log.traceHeaders?.(log.attempts.length - 1, planned.endpoint.provider.baseUrl) ?? null
      const response = await context.upstream.post(joining === null ? request : { ...request, headers: { ...request.headers, ...joining } })
      log.answered(response.status)
      return response
    },
  }
  return { ...context, answerSpace, upstream: watching, sending }
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

const hasContent = (frames: readonly Frame[]): boolean => frames.some(({ events }) => events.some(carriesContent))

/** The scope of a run: a whole answer, or one turn of it. */
export interface Running extends Pick<Admitted, 'connection' | 'log' | 'hold'> {
  readonly request: Planned
}
