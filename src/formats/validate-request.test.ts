import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { CLIENT_DIALECTS } from '../canonical/call.ts'
import { GatewayError } from '../errors.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { REQUEST_FIELDS } from '../request-fields/request-fields.ts'
import { rules as chat } from './openai-chat/schema.ts'
import { rules as messages } from './anthropic-messages/schema.ts'
import { rules as responses } from './openai-responses/schema.ts'
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

describe('400: a name that a server may take for a known field', () => {
  test.each(['Max_Tokens', 'MAX_COMPLETION_TOKENS', 'N', 'best_oF', 'max_to\u212Aens', '\u017Ftream', 'Fallbacks', 'API_key'])(
    '%s',
    (name) => {
      expect(refusedPaths(() => validateRequest(chat, bodyOf({ [name]: 1 })))).toEqual([name])
    },
  )

  test('the known one is named', () => {
    expect(() => validateRequest(chat, bodyOf({ Max_Tokens: 1 }))).toThrow(/"max_tokens"/)
  })
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

describe('limits of fields that multiply what a request costs, or that name somebody', () => {
  test.each<[string, readonly unknown[], readonly unknown[]]>([
    ['n', [1, 2, 128], [0, 129, 1.5, -1, '128', true, [2], {}]],
    ['best_of', [1, 128], [0, 129, '4', 1.5]],
    ['max_tokens', [1, 1e9], [0, -1, 0.5, '9', Number.POSITIVE_INFINITY, true]],
    ['max_completion_tokens', [1], [0, '9', [9]]],
    ['seed', [0, -7], [0.5, '7']],
    ['logit_bias', [{}, { '7': -100 }], [[], { '7': 101 }, { '7': '1' }]],
    ['top_logprobs', [0, 20], [21, -1, '3']],
    ['safety_identifier', ['', 'x'.repeat(256)], ['x'.repeat(257), 7]],
    ['user', ['x'.repeat(256)], ['x'.repeat(257), {}]],
    ['model', ['m'.repeat(1024)], ['m'.repeat(1025)]],
    ['prompt_cache_key', ['x'.repeat(1024)], ['x'.repeat(1025)]],
    ['audio', [{ voice: 'alloy', format: 'wav' }, { voice: { id: 'v' } }], ['alloy', { voice: 7 }, { format: 1 }]],
    ['functions', [[], [{ name: 'f', parameters: {} }]], [{}, [{}], [{ name: '' }], [{ name: 'f', parameters: [] }]]],
    ['function_call', ['auto', 'none', { name: 'f' }], ['required', {}, { name: 7 }]],
    ['web_search_options', [{}, { search_context_size: 'low' }], ['low', { search_context_size: 'tiny' }]],
    ['strict', [true, false], ['yes', 1]],
  ])('chat: %s', (field, accepted, refused) => {
    for (const value of accepted) expect(validateRequest(chat, bodyOf({ [field]: value }))).toEqual([])
    for (const value of refused) {
      const paths = refusedPaths(() => validateRequest(chat, bodyOf({ [field]: value })))
      expect(paths.length).toBeGreaterThan(0)
      for (const path of paths) expect(path).toStartWith(field)
    }
  })
})

test.each([...CLIENT_DIALECTS])('property: %s: whatever the fields hold, the body passes or is refused as invalid_request', (dialect) => {
  const rules = { chat, responses, messages }[dialect]
  const known = fc.constantFrom(...Object.keys(REQUEST_FIELDS[dialect]))
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 5 }),
    fc.array(
      fc.dictionary(fc.constantFrom('type', 'id', 'name', 'role', 'function', '__proto__', 'constructor'), fc.jsonValue({ maxDepth: 3 })),
    ),
    fc.constantFrom(
      Number.POSITIVE_INFINITY,
      -0,
      2 ** 53,
      '\ud800',
      'x'.repeat(300),
      Array.from({ length: 200 }, () => ({})),
      { ['__proto__']: null },
      [null],
      [[]],
    ),
  )
  fc.assert(
    fc.property(
      fc.dictionary(fc.oneof({ weight: 9, arbitrary: known }, { weight: 1, arbitrary: fc.string() }), value, { maxKeys: 6 }),
      (body) => {
        try {
          validateRequest(rules, bodyOf(body))
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError)
          expect((thrown as GatewayError).type).toBe('invalid_request')
        }
      },
    ),
    { numRuns: 1000 },
  )
})
