import { expect, test } from 'bun:test'

import { GatewayError } from '../errors.ts'
import { errorBody } from './anthropic-messages/render-error.ts'
import { errorMember } from './openai-chat/render-error.ts'

const CLAUDE = 'Anthropic: prompt is too long: 200012 tokens > 200000 maximum'
const OPENAI = "OpenAI: This model's maximum context length is 128000 tokens."

const messages = (error: GatewayError): readonly unknown[] => [
  errorMember(error)['message'],
  (errorBody(error, null) as { error: { message: string } }).error.message,
]

test('a conversation that is too long is told in the words by which libraries of the dialect know it', () => {
  expect(messages(new GatewayError('context_length_exceeded', CLAUDE))).toEqual([
    `${CLAUDE} (context_length_exceeded: reduce the length of the messages)`,
    CLAUDE,
  ])
  expect(messages(new GatewayError('context_length_exceeded', OPENAI))).toEqual([
    `${OPENAI} (context_length_exceeded: reduce the length of the messages)`,
    `${OPENAI} (prompt is too long)`,
  ])
})

test('every other error has its own sentence alone', () => {
  expect(messages(new GatewayError('invalid_request', OPENAI))).toEqual([OPENAI, OPENAI])
})
