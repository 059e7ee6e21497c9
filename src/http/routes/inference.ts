/** The three inference interfaces: each path is a dialect of the same operation. */
import { z } from 'zod'

import type { ClientDialect } from '../../canonical/call.ts'
import { requestSchema as messagesBody } from '../../formats/anthropic-messages/schema.ts'
import { requestSchema as chatBody } from '../../formats/openai-chat/schema.ts'
import { requestSchema as responsesBody } from '../../formats/openai-responses/schema.ts'
import { answerInference, type InferenceAnswering } from '../inference/answer-inference.ts'
import { inferenceHeaders } from '../inference/opt-ins.ts'
import type { Formats } from '../../formats/formats.ts'
import type { Route } from '../route.ts'

const OPERATIONS = {
  chat: { path: '/chat/completions', operation: 'createChatCompletion', body: chatBody, name: 'Chat Completions' },
  responses: { path: '/responses', operation: 'createResponse', body: responsesBody, name: 'Responses' },
  messages: { path: '/messages', operation: 'createMessage', body: messagesBody, name: 'Messages' },
} as const satisfies Record<ClientDialect, unknown>

export const inferenceRoute = (dialect: ClientDialect, parts: { formats: Formats; answering: InferenceAnswering }): Route => {
  const { path, operation, body, name } = OPERATIONS[dialect]
  const format = parts.formats[dialect]
  return {
    method: 'POST',
    path,
    operation,
    summary: `Call a model or a preset in the ${name} dialect`,
    tag: 'Inference',
    policy: 'inference',
    surface: dialect,
    headers: inferenceHeaders,
    body,
    answers: {
      200: {
        description: 'The answer, or, where `stream` is true, its events. Look for `error` in the body too.',
        schema: z.looseObject({}),
        stream: true,
      },
    },
    errors: [402, 404, 408, 412, 422, 429, 502, 503, 504],
    handle: (request) => answerInference(request, format, parts.answering),
  }
}
