/** Turns failures of Chat Completions upstreams, including those that are routers themselves, into typed errors. */
import type { GatewayError } from '../../errors.ts'
import { jsonIn } from '../../lib/json/json.ts'
import { openaiFailure } from '../failures/openai-failure.ts'
import type { Target } from '../provider.ts'

/** `status`: that of the response; 200 for an error inside a body or a stream. */
export const chatFailure = (status: number, bodyText: string, target: Target, retryAfterSeconds?: number): GatewayError =>
  openaiFailure({ status: status === 200 ? null : status, body: jsonIn(bodyText), raw: bodyText, retryAfterSeconds }, target)
