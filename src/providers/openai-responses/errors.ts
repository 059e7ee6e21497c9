/**
 * Turns failures of Responses upstreams, in statuses, bodies and events, into typed errors, including those of upstreams that are routers
 * themselves.
 */
import type { GatewayError } from '../../errors.ts'
import { jsonIn } from '../../lib/json/json.ts'
import { openaiFailure } from '../failures/openai-failure.ts'
import type { Target } from '../provider.ts'

/** For a response whose status is not 200. */
export const responsesFailure = (status: number, bodyText: string, target: Target, retryAfterSeconds?: number): GatewayError =>
  openaiFailure({ status, body: jsonIn(bodyText), raw: bodyText, retryAfterSeconds }, target)

/**
 * For a failure inside a 200: an `error` or `response.error` event, flat or nested; the response of `response.failed`; a whole body that
 * failed or holds only an error. `raw` is its text.
 */
export const inBandFailure = (body: unknown, raw: string, target: Target): GatewayError =>
  openaiFailure({ status: null, body, raw }, target)
