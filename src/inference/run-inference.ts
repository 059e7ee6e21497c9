/**
 * The story of one inference: plan, try, fail over until content was delivered, settle. It speaks the language of the
 * middle; parsing before it and rendering after it are the formats' part. Stream or not, this is the one path.
 */
import type { Call } from '../canonical/call.ts'
import type { Frame } from '../canonical/event.ts'
import { carriesContent } from '../canonical/event.ts'
import { GatewayError, asGatewayError, errorRow } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { JsonTextError } from '../lib/json-scan.ts'
import type { Models } from '../models/models.ts'
import { dialectFor, speaksDialectOf } from '../models/models.ts'
import type { ProviderContext, Target } from '../providers/provider.ts'
import type { ProviderRegistry } from '../providers/registry.ts'
import { planAttempts, type Plan, type PlannedAttempt } from './plan-attempts.ts'
import { Run, strictError, type InferenceRequest } from './run.ts'

export interface InferenceParts {
  readonly models: Models
  readonly adapters: ProviderRegistry
  readonly context: ProviderContext
  readonly clock: Clock
  readonly ids: IdSource
  /** A candidate that has said nothing after this long is given up. */
  readonly firstTokenMs: number
  /** Told of a run that begins and of one that has ended; they never wait and never throw. */
  readonly began: (run: Run) => void
  readonly settle: (run: Run) => void
}

export type RunInference = (request: InferenceRequest) => Run

/**
 * A malformed conversation is our own check, so it has its status and reaches nobody (decision 16). Where every attempt
 * stays in the client's dialect nothing is parsed: the provider is the judge of its own.
 */
const checkPrompt = (call: Call, plan: Plan): void => {
  if (plan.attempts.some(({ endpoint }) => !speaksDialectOf(endpoint.provider, call.dialect))) call.prompt()
}

/** Before content nothing was said, however much was sent: a provider that never comes to the point is a broken one. */
const HELD_FRAMES_MAX = 10_000

export const createInference =
  (parts: InferenceParts): RunInference =>
  (request) => {
    const plan = planAttempts(request.call, parts.models)
    const [unheeded] = plan.warnings
    if (request.strict && unheeded !== undefined) throw strictError(unheeded)
    checkPrompt(request.call, plan)
    const run = new Run(request, plan, parts, (begun) => answer(begun, parts))
    parts.began(run)
    return run
  }

/**
 * The frames of the answer. For a stream, nothing before the first content and everything as it comes after it; for a
 * whole answer, all at its end. Throws the last error where nothing was delivered; after that a failure is the last event.
 */
async function* answer(run: Run, parts: InferenceParts): AsyncGenerator<readonly Frame[], void, undefined> {
  try {
    for (const [number, planned] of run.plan.attempts.entries()) {
      const last = number === run.plan.attempts.length - 1
      const held: Frame[] = []
      let said = false
      let delivered = false
      try {
        for await (const frames of framesOf(run, planned, number, parts)) {
          run.observe(frames)
          if (delivered) {
            yield frames
            continue
          }
          held.push(...frames)
          said ||= hasContent(frames)
          if (!said && held.length > HELD_FRAMES_MAX) throw new GatewayError('provider_unavailable', 'The provider sent no content.')
          if (!run.request.call.stream || !said) continue
          delivered = true
          yield held
        }
        run.succeed()
        if (!delivered) yield held
        return
      } catch (thrown) {
        const error = run.fail(asGatewayError(thrown))
        if (delivered) {
          yield [{ events: [{ type: 'error', error }] }]
          return
        }
        if (!last && !run.stopped && errorRow(error.type).failover === 'elsewhere') continue
        if (!said) throw error
        yield [...held, { events: [{ type: 'error', error }] }]
        return
      }
    }
  } finally {
    run.end()
    parts.settle(run)
  }
}

export const targetOf = ({ model, endpoint }: PlannedAttempt): Target => ({
  provider: endpoint.provider.slug,
  providerName: endpoint.provider.name,
  baseUrl: endpoint.provider.baseUrl,
  apiKey: endpoint.provider.apiKeys[0] ?? null,
  modelId: model.id,
  upstreamModel: endpoint.upstreamModel,
  maxCompletionTokens: endpoint.maxCompletionTokens,
})

/** One attempt's frames. A failure that travels as an event is thrown behind the frames before it. */
async function* framesOf(
  run: Run,
  planned: PlannedAttempt,
  number: number,
  parts: InferenceParts,
): AsyncGenerator<readonly Frame[], void, undefined> {
  const { call } = run.request
  const { provider } = planned.endpoint
  const connection = run.begin(planned)
  const target = targetOf(planned)
  let cancelDeadline = call.stream
    ? parts.clock.after(parts.firstTokenMs, () =>
        connection.abort(new GatewayError('timeout', `${provider.name} sent no content in time.`)),
      )
    : null
  try {
    const adapter = parts.adapters.adapterFor(dialectFor(provider, call.dialect))
    for await (const frames of adapter({ call, target, number, connection, warn: run.warn }, parts.context)) {
      if (cancelDeadline !== null && hasContent(frames)) {
        cancelDeadline()
        cancelDeadline = null
      }
      const failedAt = frames.findIndex(({ events }) => events.some(({ type }) => type === 'error'))
      if (failedAt < 0) {
        yield frames
        continue
      }
      if (failedAt > 0) yield frames.slice(0, failedAt)
      const event = frames[failedAt]?.events.find(({ type }) => type === 'error')
      throw event?.type === 'error' ? event.error : new GatewayError('server')
    }
  } catch (thrown) {
    throw ofProvider(asFailure(thrown), provider.name)
  } finally {
    cancelDeadline?.()
  }
}

/** Every failure of a provider names it, also where nothing came back that could (service.md, "Provider errors", rule 5). */
const ofProvider = (error: GatewayError, name: string): GatewayError =>
  errorRow(error.type).failover === 'never' || error.metadata['provider_name'] !== undefined
    ? error
    : new GatewayError(error.type, error.message, {
        cause: error.cause,
        status: error.status,
        retryAfterSeconds: error.retryAfterSeconds,
        metadata: { provider_name: name, ...error.metadata },
      })

/** A large body is parsed as it is read, so a fault in its JSON may show only when an adapter reads a field. */
const asFailure = (thrown: unknown): GatewayError =>
  thrown instanceof JsonTextError ? new GatewayError('invalid_request', thrown.message, { cause: thrown }) : asGatewayError(thrown)

const hasContent = (frames: readonly Frame[]): boolean => frames.some(({ events }) => events.some(carriesContent))
