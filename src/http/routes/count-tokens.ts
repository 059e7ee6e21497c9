import { z } from 'zod'

import type { ClientFormat } from '../../formats/format.ts'
import { requestSchema } from '../../formats/anthropic-messages/schema.ts'
import { GatewayError } from '../../errors.ts'
import type { CountTokens } from '../../inference/count-tokens.ts'
import { JsonBody } from '../../lib/json-body.ts'
import type { InferenceAnswering } from '../answer-inference.ts'
import { jsonResponse } from '../json-response.ts'
import { principalOf, type Route } from '../route.ts'

export const countTokensRoute = (parts: {
  format: ClientFormat
  answering: Pick<InferenceAnswering, 'prepareCall' | 'customerKeys'>
  countTokens: CountTokens
}): Route => ({
  method: 'POST',
  path: '/messages/count_tokens',
  operation: 'countTokens',
  summary: 'Count the input tokens of a Messages request',
  tag: 'Inference',
  policy: 'inference',
  surface: 'messages',
  body: requestSchema,
  answers: {
    200: {
      description: "The provider's count, or, where it has none, an estimate.",
      schema: z.object({ input_tokens: z.int(), estimated: z.boolean().meta({ description: 'True for an estimate of ours.' }) }),
    },
  },
  errors: [404, 422, 429, 502, 503, 504],
  async handle(request) {
    const caller = principalOf(request)
    const {
      call,
      policy = null,
      hidden,
    } = await parts.answering.prepareCall(JsonBody.read(await request.text()), parts.format, request.headers, caller)
    const connection = new AbortController()
    request.signal.addEventListener('abort', () => connection.abort(new GatewayError('timeout', 'The client closed the connection.')), {
      once: true,
    })
    const customerKeys = await parts.answering.customerKeys(caller)
    const { inputTokens, estimated } = await parts.countTokens(call, connection, customerKeys, policy, hidden)
    return jsonResponse({ input_tokens: inputTokens, estimated })
  },
})
