import { expect, test } from 'bun:test'

import { JsonBody } from '../lib/json-body.ts'
import { rules as chat } from './openai-chat/schema.ts'
import { rules as messages } from './anthropic-messages/schema.ts'
import { bodyOf, refusedPaths } from './refusal.test-kit.ts'
import { validateRequest } from './validate-request.ts'

test('a usual body passes without a warning', () => {
  const body = { model: 'a/b', messages: [{ role: 'user', content: 'hi' }], temperature: 0.7, stream: true }
  expect(validateRequest(chat, bodyOf(body))).toEqual([])
})

test('unknown fields are let through, whatever they are called', () => {
  const body = JSON.parse('{"later":"x","constructor":1,"__proto__":{"a":1},"toString":[],"locked":7}') as Record<string, unknown>
  expect(validateRequest(chat, bodyOf(body))).toEqual([])
})

test('null fields are absent', () => {
  expect(validateRequest(chat, bodyOf({ temperature: null, tools: null, provider: null, messages: null }))).toEqual([])
})

test('400 names the faults of all fields, between fields too', () => {
  expect(
    refusedPaths(() => validateRequest(messages, bodyOf({ temperature: 'hot', models: [], fallbacks: [{}], tools: [{ type: 'custom' }] }))),
  ).toEqual(['temperature', 'fallbacks[0].model', 'tools[0].name', 'tools[0].input_schema', 'fallbacks'])
})

test('a tool of an unknown type gives a warning', () => {
  expect(validateRequest(chat, bodyOf({ tools: [{ type: 'later' }] }))).toMatchObject([
    { code: 'unknown_tool_type', field: 'tools[0].type' },
  ])
})

test('the conversation is not even read', () => {
  const body = { keys: ['model', 'messages'], get: (field: string) => (field === 'messages' ? unread() : 'a/b') }
  expect(validateRequest({ ...chat, checkTogether: () => undefined }, body)).toEqual([])
})

test('a JsonBody is a body', () => {
  const body = JsonBody.read('{"model":"a/b","temperature":3}')
  expect(refusedPaths(() => validateRequest(chat, body))).toEqual(['temperature'])
})

const unread = (): never => {
  throw new Error('read all the same')
}
