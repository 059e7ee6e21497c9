import type { AnswerSpace } from '../../providers/transport/answer-room.ts'
import type { ProviderContext } from '../../providers/provider.ts'
import type { Upstream, UpstreamRequest } from '../../providers/transport/upstream.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { Admitted } from '../admitted.ts'

/**
 * The same context, but a body goes out only when its cost is held, and the log records that the provider is asked and with what status it
 * answers.
 */
export const watchedContext = (
  context: ProviderContext,
  answerSpace: AnswerSpace | undefined,
  { hold, log }: Pick<Admitted, 'hold' | 'log'>,
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
