/** One embeddings request: the same plan, failover and settlement as any inference, without a stream and without translation. */
import { GatewayError, asGatewayError } from '../errors.ts'
import type { JsonBody } from '../lib/json-body.ts'
import type { Provider } from '../models/models.ts'
import { hasEmbeddings, postEmbeddings } from '../providers/openai-chat/embeddings.ts'
import { heldTarget, watched } from './attempt.ts'
import { reportOf } from './attempt-report.ts'
import { concludingError } from './conclude.ts'
import { zoneOf, type FailedAttempt } from './failover.ts'
import { createItinerary, type Dispatch } from './itinerary.ts'
import { Run, type InferenceRequest } from './run.ts'
import { limitTotal, nobodyFree, planFor, type InferenceParts } from './run-inference.ts'

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
  const cancelTotal = limitTotal(run, parts)
  try {
    const attempts = run.plan.attempts.filter(({ endpoint }) => answersEmbeddings(endpoint.provider))
    if (attempts.length === 0) throw run.refuse(new GatewayError('unprocessable', 'No provider of this model has embeddings.'))
    const itinerary = createItinerary(attempts, parts.routing, run.request.call.models.length > 1)
    for (let dispatch = itinerary.first(); dispatch !== null;) {
      const outcome = await attempt(run, dispatch, parts)
      if ('body' in outcome) return outcome.body
      const next = run.stopped ? null : itinerary.after(outcome)
      if (next === null) throw run.refuse(concludingError(outcome.error, run.attempts, itinerary.notTried))
      dispatch = next
    }
    throw run.refuse(nobodyFree(itinerary.notTried, parts.routing.health))
  } finally {
    cancelTotal()
    run.end()
    parts.settle(run)
  }
}

const attempt = async (run: Run, dispatch: Dispatch, parts: InferenceParts): Promise<{ readonly body: JsonBody } | FailedAttempt> => {
  const { planned } = dispatch
  const { connection, outcome } = run.begin(dispatch)
  let failure: FailedAttempt | null = null
  try {
    const { body, usage } = await postEmbeddings(
      { body: run.request.call.body, target: heldTarget(run, dispatch), warn: run.warn, connection },
      watched(parts.context, run, outcome),
    )
    run.observe([{ events: [{ type: 'usage', usage }] }])
    run.succeed()
    return { body }
  } catch (thrown) {
    const error = run.fail(asGatewayError(thrown))
    failure = { error, zone: zoneOf(outcome, error), upstreamStatus: outcome.upstreamStatus }
    return failure
  } finally {
    parts.routing.health.end(planned.key, planned.endpoint.provider.slug, reportOf(run, dispatch, outcome, failure))
  }
}

/** They go up untranslated, so only to those who speak what the client wrote. */
const answersEmbeddings = ({ slug, dialects }: Provider): boolean =>
  dialects.some((dialect) => dialect === 'openai-chat' || dialect === 'openai-responses') && hasEmbeddings({ provider: slug })

const noFrames = (): Promise<void> => Promise.resolve()
