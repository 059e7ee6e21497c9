import { z } from 'zod'

import type { ClientFormat } from '../../formats/format.ts'
import { requestSchema } from '../../formats/anthropic-messages/schema.ts'
import { GatewayError } from '../../errors.ts'
import type { Pipeline } from '../../inference/pipeline.ts'
import { Refused } from '../../inference/refused.ts'
import { jsonResponse } from '../json-response.ts'
import { receivedOf } from '../received.ts'
import type { Route } from '../route.ts'

export const countTokensRoute = (format: ClientFormat, pipeline: Pick<Pipeline, 'countTokens'>): Route => ({
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
    const received = receivedOf(request, { apiType: 'completions', format, ...(await request.json()) })
    const connection = new AbortController()
    const leave = (): void => connection.abort(new GatewayError('timeout', 'The client closed the connection.'))
    request.signal.addEventListener('abort', leave, { once: true })
    if (request.signal.aborted) leave()
    const count = await pipeline.countTokens(received, connection)
    if (count instanceof Refused) throw count.error
    return jsonResponse({ input_tokens: count.inputTokens, estimated: count.estimated })
  },
})
