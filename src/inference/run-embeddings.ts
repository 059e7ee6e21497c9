/** One embeddings request: the same plan, failover and settlement as any inference, without a stream and without translation. */
import { GatewayError, asGatewayError, errorRow } from '../errors.ts'
import type { JsonBody } from '../lib/json-body.ts'
import { hasEmbeddings, postEmbeddings } from '../providers/openai-chat/embeddings.ts'
import { Run, type InferenceRequest } from './run.ts'
import { planFor, targetOf, type InferenceParts } from './run-inference.ts'

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
    parts.began(run)
    return { run, answer: () => answer(run, parts) }
  }

const answer = async (run: Run, parts: InferenceParts): Promise<JsonBody> => {
  try {
    const attempts = run.plan.attempts.filter(({ endpoint }) => hasEmbeddings({ provider: endpoint.provider.slug }))
    for (const [number, planned] of attempts.entries()) {
      const connection = run.begin(planned)
      try {
        const { body, usage } = await postEmbeddings(
          { body: run.request.call.body, target: targetOf(planned), warn: run.warn, connection },
          parts.context,
        )
        run.observe([{ events: [{ type: 'usage', usage }] }])
        run.succeed()
        return body
      } catch (thrown) {
        const error = run.fail(asGatewayError(thrown))
        if (number === attempts.length - 1 || run.stopped || errorRow(error.type).failover === 'never') throw error
      }
    }
    throw run.fail(new GatewayError('unprocessable', 'No provider of this model has embeddings.'))
  } finally {
    run.end()
    parts.settle(run)
  }
}

async function* noFrames(): AsyncGenerator<never, void, undefined> {}
