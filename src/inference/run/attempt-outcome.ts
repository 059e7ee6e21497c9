/** One attempt: the endpoint that it asked, when, and what came of it. */
import type { Usage } from '../../canonical/usage.ts'
import type { GatewayError } from '../../errors.ts'
import type { Credential } from '../../routing/credentials.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'

export interface AttemptOutcome {
  /** The number of the turn in the answer, from 1: one that runs tools takes several. */
  readonly turn: number
  readonly planned: PlannedAttempt
  readonly credential: Credential
  readonly startedMs: number
  /** When its first content came; null where none did, and until it ends. */
  readonly contentMs: number | null
  readonly endedMs: number
  readonly error: GatewayError | null
  /** The use when it ended; an attempt that failed may have used something too. */
  readonly usage: Usage
  /** The request was handed over to go out: from here on a failure is the provider's. */
  readonly asked: boolean
  /** The status of the provider's server; null where it did not answer, or has none. */
  readonly upstreamStatus: number | null
  /** The provider's name for its answer; null until it ends. */
  readonly upstreamId: string | null
}

/** The status of an attempt as its provider gave it, where it did; else ours for what happened. */
export const statusOf = ({ error, upstreamStatus }: AttemptOutcome): number =>
  error === null ? 200 : upstreamStatus !== null && upstreamStatus >= 300 ? upstreamStatus : error.status
