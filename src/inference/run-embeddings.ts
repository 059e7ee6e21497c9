/** One embeddings request: the same plan, failover and settlement as any inference, without a stream and without translation. */
import { GatewayError, asGatewayError } from '../errors.ts'
import type { JsonBody } from '../lib/json-body.ts'
import type { Provider } from '../models/models.ts'
import { hasEmbeddings, postEmbeddings } from '../providers/openai-chat/embeddings.ts'
import { heldTarget, watched } from './attempt.ts'
import { reportOf } from './attempt-report.ts'
import { concludingError } from './conclude.ts'
import { zoneOf, type FailedAttempt } from './failover.ts'
import type { InferenceRequest } from './inference-request.ts'
import { createItinerary, type Dispatch } from './itinerary.ts'
import { Run } from './run.ts'
import { nobodyFree, planFor, type InferenceParts } from './run-inference.ts'

export interface EmbeddingsRun {
  readonly run: Run
  /** The provider's own answer. To be called once. Throws the last attempt's error. */
  answer(): Promise<JsonBody>
}

export type RunEmbeddings = (request: InferenceRequest) => EmbeddingsRun

/** Throws `not_found` and 503 as `planAttempts` does. */
export const createEmbeddings =
  (parts: InferenceParts): RunEmbeddings =>
  (request) => {
    const run = new Run(request, planFor(request, parts), parts, noFrames)
    return { run, answer: () => answer(run, parts) }
  }

const answer = async (run: Run, parts: InferenceParts): Promise<JsonBody> => {
  parts.began(run)
  run.connection.limit(parts.totalMs)
  try {
    const attempts = run.plan.attempts.filter(({ endpoint }) => answersEmbeddings(endpoint.provider))
    if (attempts.length === 0) throw run.log.refuse(new GatewayError('unprocessable', 'No provider of this model has embeddings.'))
    const itinerary = createItinerary(attempts, parts.routing, run.request.call.models.length > 1)
    for (let dispatch = itinerary.first(); dispatch !== null;) {
      const outcome = await attempt(run, dispatch, parts)
      if ('body' in outcome) return outcome.body
      const next = run.connection.stopped ? null : itinerary.after(outcome)
      if (next === null) throw run.log.refuse(concludingError(outcome.error, run.log.attempts, itinerary.notTried))
      dispatch = next
    }
    throw run.log.refuse(nobodyFree(itinerary.notTried, parts.routing.health))
  } finally {
    run.end()
    parts.settle(run)
  }
}

const attempt = async (run: Run, dispatch: Dispatch, parts: InferenceParts): Promise<{ readonly body: JsonBody } | FailedAttempt> => {
  const { planned } = dispatch
  const outcome = run.log.begin(dispatch)
  const connection = run.connection.open()
  let failure: FailedAttempt | null = null
  try {
    const { body, usage } = await postEmbeddings(
      { body: run.request.call.body, target: heldTarget(run, dispatch), warn: run.log.warn, connection },
      watched(parts.context, run, planned),
    )
    run.log.observe([{ events: [{ type: 'usage', usage }] }])
    run.log.succeed()
    return { body }
  } catch (thrown) {
    const error = run.log.fail(asGatewayError(thrown))
    failure = { error, zone: zoneOf(outcome, error), upstreamStatus: outcome.upstreamStatus }
    return failure
  } finally {
    parts.routing.health.end(planned.key, planned.endpoint.provider.slug, reportOf(run.connection.stopped, dispatch, outcome, failure))
  }
}

/** They go up untranslated, so only to those who speak what the client wrote. */
const answersEmbeddings = ({ slug, dialects }: Provider): boolean =>
  dialects.some((dialect) => dialect === 'openai-chat' || dialect === 'openai-responses') && hasEmbeddings({ provider: slug })

const noFrames = (): Promise<void> => Promise.resolve()
