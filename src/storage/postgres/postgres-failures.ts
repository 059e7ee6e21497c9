/** Classifies failures of PostgreSQL and of its driver, mostly by SQLSTATE. */
import { textOf } from '../../lib/json/json.ts'
import type { RetryableFailure } from '../database.ts'

const UNIQUE_VIOLATION = '23505'

/** https://www.postgresql.org/docs/current/mvcc-serialization-failure-handling.html: serialization failure, deadlock, lock timeout. */
const CONFLICTS = new Set(['40001', '40P01', '55P03'])

/** The possible races: for a version number, and for the slug of a preset or a workspace. Any other duplicate is a bug, which a retry would only repeat. */
const RACED_CONSTRAINTS = new Set(['presets_workspace_id_slug_unique', 'preset_versions_preset_id_version_unique', 'workspaces_slug_key'])

export const retryableFailure = (error: unknown): RetryableFailure | null => {
  const { code, constraint } = serverError(error)
  if (CONFLICTS.has(code)) return 'conflict'
  return code === UNIQUE_VIOLATION && RACED_CONSTRAINTS.has(constraint) ? 'conflict' : null
}

/** Statements that were sent at once get this after one of them has failed, and whoever waits for all may hear it before the reason. */
export const AFTER_FAILURE = '25P02'

export const READ_ONLY = '25006'

/** Read-only transaction, cancelled statement, idle transaction. */
const OUTAGES = new Set([READ_ONLY, '57014', '25P03'])

/**
 * True if the server is unavailable, rather than having refused the statement: connection exceptions (class 08),
 * shutting down or starting (57P0x), out of connections, memory or disk (class 53), a statement or an idle transaction that took too long;
 * a standby (25006), where the address leads for a while when a primary is replaced, so that the connection must not be kept; and
 * errors that are not from the server, such as a broken socket.
 */
export const isOutage = (error: unknown): boolean => {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return false
  // Only errors from the server have a severity. The code alone is not enough: EPIPE looks like a SQLSTATE.
  if (!('severity' in error)) return true
  const { code } = serverError(error)
  return code.startsWith('08') || code.startsWith('57P0') || code.startsWith('53') || OUTAGES.has(code)
}

const SHUTTING_DOWN = '57P01'

/** True if the connection is gone, rather than silent: another one may do. */
export const isBroken = (error: unknown): boolean =>
  isOutage(error) &&
  (serverError(error).code === SHUTTING_DOWN || !(error instanceof Error && 'severity' in error)) &&
  messageOf(error) !== NO_ANSWER

/** The driver's words for the end of `query_timeout`. */
const NO_ANSWER = 'Query read timeout'

export const serverError = (error: unknown): { code: string; constraint: string } => {
  if (!(error instanceof Error)) return { code: '', constraint: '' }
  const { code, constraint } = error as Error & { code?: unknown; constraint?: unknown }
  return { code: textOf(code), constraint: textOf(constraint) }
}

export const messageOf = (thrown: unknown): string => {
  if (!(thrown instanceof Error)) return String(thrown)
  // A refused connection to a name with several addresses is an AggregateError without a message of its own.
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(messageOf).join('; ')
  return thrown.message
}
