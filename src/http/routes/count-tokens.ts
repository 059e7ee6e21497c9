/** The two paths that count the input of a request: that of Messages and that of Responses. Chat Completions has none. */
import { z } from 'zod'

import { requestSchema as messagesBody } from '../../formats/anthropic-messages/schema.ts'
import { requestSchema as responsesBody } from '../../formats/openai-responses/schema.ts'
import { GatewayError } from '../../errors.ts'
import type { Pipeline } from '../../inference/pipeline.ts'
import { Refused } from '../../inference/refused.ts'
import type { Formats } from '../../formats/formats.ts'
import { presetHeader } from '../inference/answer-headers.ts'
import { jsonResponse } from '../response/json-response.ts'
import { dryRunHeader, strictHeader, wantsDryRun } from '../inference/opt-ins.ts'
import { receivedOf } from '../inference/received.ts'
import type { Route } from '../route.ts'

const COUNTS = {
  messages: { path: '/messages/count_tokens', operation: 'countTokens', body: messagesBody, name: 'Messages', members: {}, schema: {} },
  responses: {
    path: '/responses/input_tokens',
    operation: 'countInputTokens',
    body: responsesBody,
    name: 'Responses',
    members: { object: 'response.input_tokens' },
    schema: { object: z.literal('response.input_tokens') },
  },
} as const

export const countTokensRoute = (
  dialect: keyof typeof COUNTS,
  parts: { readonly formats: Formats; readonly pipeline: Pick<Pipeline, 'countTokens'> },
): Route => {
  const { path, operation, body, name, members, schema } = COUNTS[dialect]
  const format = parts.formats[dialect]
  return {
    method: 'POST',
    path,
    operation,
    summary: `Count the input tokens of a ${name} request`,
    tag: 'Inference',
    policy: 'inference',
    surface: dialect,
    headers: { ...strictHeader, ...dryRunHeader },
    body,
    answers: {
      200: {
        description: "The provider's count, or, where it has none, an estimate.",
        schema: z.object({
          ...schema,
          input_tokens: z.int(),
          estimated: z.boolean().meta({ description: 'True for an estimate of ours.' }),
        }),
      },
    },
    errors: [404, 408, 422, 429, 502, 503, 504],
    async handle(request) {
      const received = receivedOf(request, 'completions', format, await request.json())
      const connection = new AbortController()
      const leave = (): void => connection.abort(new GatewayError('timeout', 'The client closed the connection.'))
      request.signal.addEventListener('abort', leave, { once: true })
      if (request.signal.aborted) leave()
      const count = await parts.pipeline.countTokens(received, wantsDryRun(request.headers) ? null : connection)
      if (count instanceof Refused) throw count.error
      const answer = { ...members, input_tokens: count.inputTokens, estimated: count.estimated }
      return jsonResponse(answer, { headers: presetHeader(count.preset) })
    },
  }
}
