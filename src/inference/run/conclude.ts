/** The failure that a client gets: the last one, together with earlier failures and with the endpoints that were not asked. */
import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import type { NotTried } from './attempt-order.ts'

/** Statuses for which `Retry-After` may be sent (docs/contract/errors.md#retry-after). */
const WAITABLE: ReadonlySet<number> = new Set([429, 503])

/** `attempts`: all attempts, of which the last one failed with `error`. */
export const concludingError = (error: GatewayError, attempts: readonly AttemptOutcome[], notTried: readonly NotTried[]): GatewayError => {
  const earlier = attempts.slice(0, -1)
  if (earlier.length === 0 && notTried.length === 0) return error
  const message = notTried.length === 0 ? error.message : `${error.message} Not tried: ${whyNot(notTried)}.`
  return new GatewayError(error.type, message, {
    cause: error.cause,
    status: error.status,
    metadata: {
      ...error.metadata,
      ...(earlier.length === 0 ? {} : { previous_errors: earlier.flatMap(previousError) }),
      ...(notTried.length === 0 ? {} : { not_tried: notTriedMember(notTried) }),
    },
    retryAfterSeconds: WAITABLE.has(error.status) ? smallestHint(attempts) : error.retryAfterSeconds,
  })
}

/** A sentence for people: each provider once, with the reason of its first model. */
export const whyNot = (notTried: readonly NotTried[]): string => {
  const reported = new Map(notTried.toReversed().map(({ planned, why }) => [planned.endpoint.provider.name, WHY[why]]))
  return [...reported]
    .toReversed()
    .map(([name, why]) => `${name} ${why}`)
    .join(', ')
}

/** The list for programs. */
export const notTriedMember = (notTried: readonly NotTried[]): JsonObject[] =>
  notTried.map(({ planned, why }) => ({ provider_name: planned.endpoint.provider.name, model: planned.model.id, reason: WHY[why] }))

const WHY: Readonly<Record<NotTried['why'], string>> = {
  full: 'is at its concurrency limit',
  broken: 'failed recently',
  retries: 'is at its limit of concurrent retries',
  'no-key': 'has no key that works now',
  enough: 'would exceed the limit of attempts',
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

/** Seconds until the first of the providers becomes available. */
const smallestHint = (attempts: readonly AttemptOutcome[]): number | undefined => {
  const hints = attempts.flatMap(({ error }) => (error?.retryAfterSeconds === undefined ? [] : [error.retryAfterSeconds]))
  return hints.length === 0 ? undefined : Math.min(...hints)
}
