/** Failures of Responses upstreams, as statuses, bodies and events, also of those that are routers themselves, as typed errors. */
import type { GatewayError } from '../../errors.ts'
import { jsonIn } from '../../lib/json.ts'
import { openaiFailure } from '../openai-failure.ts'
import type { Target } from '../provider.ts'

/** A response whose status is not 200. */
export const responsesFailure = (status: number, bodyText: string, target: Target, retryAfterSeconds?: number): GatewayError =>
  openaiFailure({ status, body: jsonIn(bodyText), raw: bodyText, retryAfterSeconds }, target)

/**
 * A failure reported inside a 200: an `error` or `response.error` event, flat or nested; the response of `response.failed`;
 * a whole body that failed or holds nothing but an error. `raw` is its text.
 */
export const inBandFailure = (body: unknown, raw: string, target: Target): GatewayError =>
  openaiFailure({ status: null, body, raw }, target)
