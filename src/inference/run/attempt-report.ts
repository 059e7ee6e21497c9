/** Reports what an attempt shows about the health of its endpoint. */
import { outputTokens } from '../../canonical/usage.ts'
import { isGuardrailBlock } from '../../guardrails/detections.ts'
import { isAnswerRoomLack } from '../../providers/transport/answer-room.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import { credentialFault, describesRequest, type FailedAttempt } from './failover.ts'
import type { BegunAttempt } from './attempt-order.ts'
import type { AttemptReport } from '../../routing/endpoint-health.ts'

/** With fewer output tokens nothing can be said about a provider's speed. */
const TOKENS_MIN = 10

/** `stopped`: the answer was no longer waited for. */
export const reportOf = (
  stopped: boolean,
  { spareKeys, retry }: BegunAttempt,
  outcome: AttemptOutcome,
  failure: FailedAttempt | null,
): AttemptReport => {
  const firstMs = outcome.contentMs === null ? null : outcome.contentMs - outcome.startedMs
  const { startedMs } = outcome
  const retryAfterSeconds = failure?.error.retryAfterSeconds ?? null
  const reported = { firstTokenMs: firstMs, tokensPerSecond: null, retryAfterSeconds, startedMs, retry }
  if (stopped) return { ...reported, outcome: 'cancelled' }
  if (failure !== null && isOurs(failure)) return { ...reported, outcome: 'cancelled' }
  // An answer that a guardrail withholds was still given by the provider.
  if (failure === null || isGuardrailBlock(failure.error)) return { ...reported, outcome: 'ok', tokensPerSecond: pace(outcome) }
  // A fault of one of several keys is neither a failure nor a success of the endpoint.
  if (spareKeys && credentialFault(failure) !== null) return { ...reported, outcome: 'cancelled' }
  if (failure.error.type === 'rate_limit_exceeded') return { ...reported, outcome: 'rate-limited' }
  return { ...reported, outcome: describesRequest(failure.error.type) ? 'fault-of-request' : 'failure' }
}

/** An endpoint that was not asked has shown nothing about its health, nor has one for whose answer there was no room or no money here. */
const isOurs = ({ zone, error }: FailedAttempt): boolean => zone === 'not-asked' || zone === 'unheld' || isAnswerRoomLack(error)

const pace = ({ contentMs, endedMs, usage }: AttemptOutcome): number | null => {
  const tokens = outputTokens(usage)
  const seconds = contentMs === null ? 0 : (endedMs - contentMs) / 1000
  return tokens < TOKENS_MIN || seconds <= 0 ? null : tokens / seconds
}
