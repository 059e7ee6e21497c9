/** One attempt: the endpoint that it asked, its times, and its result. */
import type { Usage } from '../../canonical/usage.ts'
import type { GatewayError } from '../../errors.ts'
import type { Credential } from '../../routing/credentials.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'

export interface AttemptOutcome {
  /** The number of the turn in the answer, from 1: an answer that runs tools takes several turns. */
  readonly turn: number
  readonly planned: PlannedAttempt
  readonly credential: Credential
  readonly startedMs: number
  /** The time of the first content; null if none came, and until the attempt ends. */
  readonly contentMs: number | null
  readonly endedMs: number
  readonly error: GatewayError | null
  /** The usage at the end; a failed attempt may have used tokens too. */
  readonly usage: Usage
  /** True once the request was handed over to be sent: from then on a failure is the provider's. */
  readonly asked: boolean
  /** The status of the provider's server; null if it did not answer or has none. */
  readonly upstreamStatus: number | null
  /** The provider's id for its answer; null until the attempt ends. */
  readonly upstreamId: string | null
}

/** The status that the provider gave for an attempt, if it gave one; otherwise ours for what happened. */
export const statusOf = ({ error, upstreamStatus }: AttemptOutcome): number => {
  if (error === null) return 200
  return upstreamStatus !== null && upstreamStatus >= 300 ? upstreamStatus : error.status
}
