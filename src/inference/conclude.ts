/** The failure that a client gets when several attempts have failed: the last one, with what failed before it. */
import { GatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import type { AttemptOutcome } from './run.ts'

/** Statuses on which a client may be told to wait (service.md, "Retry-After"). */
const WAITABLE: ReadonlySet<number> = new Set([429, 503])

/** `attempts`: all of them, the last one being that of `error`. */
export const concludingError = (error: GatewayError, attempts: readonly AttemptOutcome[]): GatewayError => {
  const earlier = attempts.slice(0, -1)
  if (earlier.length === 0) return error
  return new GatewayError(error.type, error.message, {
    cause: error.cause,
    status: error.status,
    metadata: { ...error.metadata, previous_errors: earlier.flatMap(previousError) },
    retryAfterSeconds: WAITABLE.has(error.status) ? smallestHint(attempts) : error.retryAfterSeconds,
  })
}

const previousError = ({ planned, error }: AttemptOutcome): JsonObject[] =>
  error === null
    ? []
    : [
        {
          provider_name: planned.endpoint.provider.name,
          model: planned.model.id,
          code: error.status,
          error_type: error.type,
          message: error.publicMessage,
        },
      ]

/** Whoever is free first is free then. */
const smallestHint = (attempts: readonly AttemptOutcome[]): number | undefined => {
  const hints = attempts.flatMap(({ error }) => (error?.retryAfterSeconds === undefined ? [] : [error.retryAfterSeconds]))
  return hints.length === 0 ? undefined : Math.min(...hints)
}
