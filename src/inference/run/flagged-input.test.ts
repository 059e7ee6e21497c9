import { expect, test } from 'bun:test'

import type { Call } from '../../canonical/call.ts'
import type { Prompt } from '../../canonical/prompt.ts'
import { GatewayError } from '../../errors.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { JsonTextError } from '../../lib/json/json-limits.ts'
import { withFlaggedInput } from './flagged-input.ts'

const callOf = (prompt: () => Prompt): Call => ({
  dialect: 'chat',
  body: JsonBody.read('{}'),
  models: [],
  stream: false,
  maxOutputTokens: null,
  sessionId: null,
  user: null,
  passHeaders: {},
  prompt,
  *readingPrompt() {
    yield
    prompt()
  },
})

const saying = (...texts: readonly string[]): Call =>
  callOf(() => ({
    messages: texts.map((text) => ({ role: 'user', parts: [{ type: 'text', text }] })),
    tools: [],
    toolChoice: { type: 'auto' },
    outputFormat: { type: 'text' },
    settings: {},
    otherFields: [],
  }))

const flagged = new GatewayError('content_policy_violation', 'No.', { metadata: { reasons: ['hate'] } })

test('a moderation error has the last message of the user, at most 100 characters with ... in its middle', () => {
  expect(withFlaggedInput(flagged, saying('earlier', 'this one')).metadata).toEqual({ reasons: ['hate'], flagged_input: 'this one' })
  const long = String(withFlaggedInput(flagged, saying(`a${'b'.repeat(500)}c`)).metadata['flagged_input'])
  expect(long).toHaveLength(100)
  expect(long).toMatch(/^ab+\.\.\.b+c$/)
})

test('what the provider says was flagged takes precedence, and an unreadable prompt counts as none', () => {
  const reported = flagged.withMetadata({ flagged_input: 'told' })
  expect(withFlaggedInput(reported, saying('x'))).toBe(reported)
  const unread = callOf(() => {
    throw new GatewayError('invalid_request')
  })
  expect(withFlaggedInput(flagged, unread).metadata['flagged_input']).toBe('')
})

test('no other failure repeats what the client said', () => {
  const refused = new GatewayError('refusal')
  expect(withFlaggedInput(refused, saying('x'))).toBe(refused)
})

test('nor is a body whose JSON shows its fault only now', () => {
  const broken = callOf(() => {
    throw new JsonTextError('The body is not valid JSON.')
  })
  expect(withFlaggedInput(flagged, broken).metadata).toEqual({ reasons: ['hate'], flagged_input: '' })
})
