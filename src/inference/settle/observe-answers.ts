/** Writes one log line and a handful of metrics for each finished generation. */
import { inputTokens, outputTokens } from '../../canonical/usage.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Finished } from '../admitted.ts'
import type { AttemptOutcome } from '../run/attempt-outcome.ts'
import { isServiceStop } from '../service-stop.ts'
import { isUnheldTools } from '../unheld-tools.ts'

/** Buckets for the number of tool calls in one answer. */
const STEP_BUCKETS = [1, 2, 3, 5, 10, 20, 30, 50, 100]
const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

export const observeAnswers = (
  metrics: Metrics,
  log: Log,
): ((finished: Pick<Finished, 'request' | 'generationId' | 'log' | 'bill' | 'loop' | 'cache'>) => void) => {
  const generations = metrics.counter('patchbay_generations_total', 'Finished generations by interface, provider and outcome.', [
    'interface',
    'provider',
    'outcome',
  ])
  const tokens = metrics.counter('patchbay_tokens_total', 'Tokens by direction.', ['direction'])
  const duration = metrics.histogram(
    'patchbay_generation_seconds',
    'Time from request to the end of the answer.',
    ['interface'],
    DURATION_BUCKETS,
  )
  const attempts = metrics.counter('patchbay_attempts_total', 'Attempts by provider and outcome.', ['provider', 'outcome'])

  const toolCalls = metrics.counter('patchbay_tool_calls_total', 'Calls of server tools by tool, engine and status.', [
    'tool',
    'engine',
    'status',
  ])
  const toolSeconds = metrics.histogram('patchbay_tool_seconds', 'Time that a server tool took.', ['tool'], DURATION_BUCKETS)
  const loopSteps = metrics.histogram('patchbay_tool_loop_steps', 'Calls of server tools in one answer.', ['interface'], STEP_BUCKETS)

  const cached = metrics.counter('patchbay_response_cache_total', 'Requests that wanted a kept answer, by whether there was one.', [
    'outcome',
  ])

  return ({
    request,
    generationId,
    log: { attempts: made, current, error, cancelled, durationMs },
    bill: { usage, cost },
    loop,
    cache,
  }) => {
    const { dialect, stream } = request.call
    const provider = current?.planned.endpoint.provider.slug ?? 'none'
    const outcome = cancelled ? 'cancelled' : (error?.type ?? 'ok')
    generations.add([dialect, provider, outcome])
    for (const attempt of made) attempts.add([attempt.planned.endpoint.provider.slug, outcomeOf(attempt)])
    tokens.add(['input'], inputTokens(usage))
    tokens.add(['output'], outputTokens(usage))
    duration.observe([dialect], durationMs / 1000)
    if (cache !== null) cached.add([cache.outcome])
    if (loop !== null) {
      loopSteps.observe([dialect], loop.steps)
      for (const { tool, engine, status, durationMs } of loop.calls) {
        toolCalls.add([tool, engine ?? 'none', status])
        toolSeconds.observe([tool], durationMs / 1000)
      }
    }
    const fields = {
      generation_id: generationId,
      request_id: request.requestId,
      interface: dialect,
      stream,
      model: current?.planned.model.id ?? null,
      provider,
      attempts: made.length,
      outcome,
      ...(cache === null ? {} : { response_cache: cache.outcome }),
      tokens_prompt: inputTokens(usage),
      tokens_completion: outputTokens(usage),
      cost_nanos: cost.isKnown ? cost.totalNanos : null,
      duration_ms: Math.round(durationMs * 10) / 10,
    }
    // A client that left is not counted as a failure.
    if (error !== null && error.status >= 500 && !cancelled)
      log.warn({ ...fields, reason: error.publicMessage, cause: error.cause }, 'generation failed')
    else log.info(fields, 'generation')
  }
}

const outcomeOf = ({ error }: Pick<AttemptOutcome, 'error'>): string => {
  if (error === null) return 'ok'
  return isServiceStop(error) || isUnheldTools(error) ? 'cancelled' : error.type
}
