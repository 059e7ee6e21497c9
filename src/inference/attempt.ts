/** One attempt: its connection, its deadlines, what it says, and what is learnt of the endpoint from it. */
import { carriesContent, type Frame, type TakeFrames } from '../canonical/event.ts'
import { asGatewayError, errorRow, GatewayError } from '../errors.ts'
import { screening } from '../guardrails/screen-output.ts'
import { JsonTextError } from '../lib/json-scan.ts'
import { isConnectionLack } from '../providers/own-limits.ts'
import type { ProviderContext, Target } from '../providers/provider.ts'
import type { Upstream } from '../providers/upstream.ts'
import { callAtTier } from '../routing/call-at-tier.ts'
import type { Credential } from '../routing/credentials.ts'
import type { PlannedAttempt } from '../routing/plan-attempts.ts'
import { reportOf } from './attempt-report.ts'
import { zoneOf, type FailedAttempt } from './failover.ts'
import { dialectOf } from './dialect-of.ts'
import { withFlaggedInput } from './flagged-input.ts'
import type { Dispatch } from './itinerary.ts'
import type { InferenceParts } from './run-inference.ts'
import type { Run } from './run.ts'

/** Before content nothing was said, however much was sent: a provider that never comes to the point is a broken one. */
const HELD_FRAMES_MAX = 10_000

export interface Failure extends FailedAttempt {
  /** What was said before it and has not gone out. */
  readonly held: readonly Frame[]
  /** Some of it is content. */
  readonly said: boolean
}

/**
 * One attempt, whose frames go to `deliver`: of a stream, nothing before the first content and everything as it comes after
 * it; of a whole answer, all at its end. Resolves to null where it answered, else to how it failed; never rejects.
 */
export const attempt = async (run: Run, dispatch: Dispatch, parts: InferenceParts, deliver: TakeFrames): Promise<Failure | null> => {
  const { planned } = dispatch
  const { stream } = run.request.call
  const { provider } = planned.endpoint
  const held: Frame[] = []
  let said = false
  let delivered = false
  let failure: Failure | null = null
  const outcome = run.log.begin(dispatch)
  const connection = run.connection.open()
  const firstTokenMs = planned.model.firstTokenMs ?? parts.firstTokenMs
  let cancelDeadline = stream
    ? parts.clock.after(firstTokenMs, () => connection.abort(new GatewayError('timeout', `${provider.name} sent no content in time.`)))
    : null

  const hold = (frames: readonly Frame[]): ReturnType<TakeFrames> => {
    held.push(...frames)
    said ||= hasContent(frames)
    if (said && cancelDeadline !== null) {
      cancelDeadline()
      cancelDeadline = null
    }
    if (!said && held.length > HELD_FRAMES_MAX) throw new GatewayError('provider_unavailable', 'The provider sent no content.')
    if (!stream || !said) return undefined
    delivered = true
    return deliver(held)
  }

  const take = (batch: readonly Frame[]): ReturnType<TakeFrames> => {
    // A failure that travels as an event comes behind the frames before it; nothing behind it counts.
    const failedAt = batch.findIndex(isFailure)
    const frames = failedAt < 0 ? batch : batch.slice(0, failedAt)
    const behind = frames.length === 0 ? undefined : delivered ? deliver(frames) : hold(frames)
    if (failedAt >= 0) throw errorIn(batch[failedAt])
    return behind
  }

  const observed = (batch: readonly Frame[]): ReturnType<TakeFrames> => {
    run.log.observe(batch)
    return take(batch)
  }

  try {
    const call = callAtTier(run.request.call, planned.serviceTier)
    const adapter = parts.adapters.adapterFor(dialectOf(planned, call))
    const number = run.log.attempts.length - 1
    const upstreamAttempt = { call, target: heldTarget(run, dispatch), number, connection, warn: run.log.warn }
    const screen = run.request.screenOutput?.()
    const screened = screen === undefined ? null : screening(screen, run.log, take)
    await adapter(upstreamAttempt, watched(parts.context, run, planned), screened === null ? observed : screened.take)
    await screened?.end()
    run.log.succeed()
    if (!delivered) await deliver(held)
  } catch (thrown) {
    if (isConnectionLack(thrown)) run.log.notSent()
    const error = run.log.fail(withFlaggedInput(ofProvider(asFailure(thrown), provider.name, dispatch), run.request.call))
    failure = {
      error,
      zone: delivered ? 'delivered' : zoneOf(outcome, error),
      upstreamStatus: outcome.upstreamStatus,
      held: delivered ? [] : held,
      said: said && !delivered,
    }
  } finally {
    cancelDeadline?.()
    parts.routing.health.end(planned.key, provider.slug, reportOf(run.connection.stopped, dispatch, outcome, failure))
  }
  return failure
}

const isFailure = ({ events }: Frame): boolean => events.some(({ type }) => type === 'error')

export const targetOf = ({ model, endpoint }: PlannedAttempt, { apiKey }: Pick<Credential, 'apiKey'>): Target => ({
  provider: endpoint.provider.slug,
  providerName: endpoint.provider.name,
  baseUrl: endpoint.provider.baseUrl,
  apiKey,
  modelId: model.id,
  inputModalities: model.inputModalities,
  upstreamModel: endpoint.upstreamModel,
  unlisted: endpoint.unlisted === true,
  maxCompletionTokens: endpoint.maxCompletionTokens,
  contextLength: endpoint.contextLength ?? model.contextLength,
})

/** Under a budget, a dialect that wants a limit of output gets the one that is held for a request without one. */
export const heldTarget = ({ hold }: Run, { planned, credential }: Dispatch): Target => {
  const target = targetOf(planned, credential)
  const outputTokens = hold?.outputTokens(planned.endpoint) ?? null
  return outputTokens === null ? target : { ...target, maxCompletionTokens: outputTokens }
}

/**
 * The same context, in which a body goes out only when its cost is held, and it is written down that the provider is asked
 * and what status it answers.
 */
export const watched = (context: ProviderContext, { hold, log }: Run, planned: PlannedAttempt): ProviderContext => {
  const sending = (body: string): void | Promise<void> => {
    const covered = hold?.cover(planned, body)
    return covered === undefined ? log.sent(body) : covered.then(() => log.sent(body))
  }
  const watching: Upstream = {
    async post(request) {
      if (hold !== null) await hold.cover(planned, request.body)
      log.sent(request.body)
      const response = await context.upstream.post(request)
      log.answered(response.status)
      return response
    },
  }
  return { ...context, upstream: watching, sending }
}

const errorIn = (frame: Frame | undefined): GatewayError => {
  const event = frame?.events.find(({ type }) => type === 'error')
  return event?.type === 'error' ? event.error : new GatewayError('server')
}

/**
 * Every failure of a provider names it, also where nothing came back that could (docs/contract/errors.md#metadata),
 * and says where the key was the customer's own: then it is the customer's to mend.
 */
const ofProvider = (error: GatewayError, name: string, { credential }: Dispatch): GatewayError => {
  const named = error.metadata['provider_name'] !== undefined
  if (named ? !credential.isByok : errorRow(error.type).failover === 'never') return error
  return error.withMetadata({ ...(named ? {} : { provider_name: name }), ...(credential.isByok ? { is_byok: true } : {}) })
}

/** A large body is parsed as it is read, so a fault in its JSON may show only when an adapter reads a field. */
export const asFailure = (thrown: unknown): GatewayError =>
  thrown instanceof JsonTextError ? new GatewayError('invalid_request', thrown.message, { cause: thrown }) : asGatewayError(thrown)

const hasContent = (frames: readonly Frame[]): boolean => frames.some(({ events }) => events.some(carriesContent))
