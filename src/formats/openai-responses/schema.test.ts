import { describe, expect, test } from 'bun:test'

import { z } from 'zod'

import { bodyOf, refusalOf, refusedPaths } from '../refusal.test-kit.ts'
import { validateRequest } from '../validate-request.ts'
import { presetBodySchema } from './preset-config.ts'
import { REQUEST_FIELDS } from '../../request-fields/request-fields.ts'
import { requestSchema, rules } from './schema.ts'

const pathsOf = (fields: Readonly<Record<string, unknown>>) => refusedPaths(() => validateRequest(rules, bodyOf(fields)))
const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))

describe('limits, at their edges', () => {
  test.each<[string, unknown, unknown]>([
    ['max_tool_calls', 30, 31],
    ['max_tool_calls', 1, 0],
    ['max_tool_calls', 2, 2.5],
    ['user', 'x'.repeat(256), 'x'.repeat(257)],
    ['safety_identifier', 'x'.repeat(256), 'x'.repeat(257)],
    ['session_id', 'x'.repeat(256), 'x'.repeat(257)],
    ['session_id', '😀'.repeat(256), '😀'.repeat(257)],
    ['metadata', pairs(16), pairs(17)],
    ['metadata', { k: 'v'.repeat(512) }, { k: 'v'.repeat(513) }],
    ['metadata', { ['k'.repeat(64)]: '' }, { ['k'.repeat(65)]: '' }],
    ['metadata', { 'a(b){c}': '' }, { 'a[b': '' }],
    ['metadata', {}, { 'a]b': '' }],
    ['metadata', { k: '' }, { k: 1 }],
    ['stop_server_tools_when', [{ type: 'step_count_is', step_count: 1 }], []],
    ['temperature', 2, 2.01],
    ['temperature', 0, -0.1],
    ['top_p', 1, 1.1],
    ['top_k', 0, -1],
    ['frequency_penalty', -2, -2.1],
    ['presence_penalty', 2, 2.1],
    ['top_logprobs', 20, 21],
    ['max_output_tokens', 1, 0],
    ['models', Array(10).fill('a/b'), Array(11).fill('a/b')],
    ['model', 'a/b', ''],
    ['modalities', ['text', 'image'], ['text', 'audio']],
    ['cache_control', { type: 'ephemeral', ttl: '1h' }, { type: 'persistent' }],
    ['prompt_cache_options', { mode: 'explicit', ttl: '30m' }, { mode: 'none' }],
    ['prompt_cache_options', { ttl: '30m' }, { ttl: 30 }],
    ['prompt_cache_options', { mode: 'implicit' }, 'implicit'],
    ['moderation', { model: 'omni-moderation-latest', policy: { input: { mode: 'block' } } }, { policy: {} }],
    ['provider', { allow_fallbacks: false, sort: { by: 'price', partition: 'none' } }, { fallback: false }],
    ['provider', { max_price: { prompt: 1, completion: '2.5' } }, { max_price: { prompt: 'cheap' } }],
    ['provider', { quantizations: ['fp8'] }, { quantizations: ['fp7'] }],
    ['provider', { preferred_max_latency: { p90: 3 } }, { preferred_max_latency: { p90: 'fast' } }],
    ['provider', { preferred_min_throughput: { p50: 3 } }, { preferred_min_throughput: { p95: 3 } }],
    ['provider', { sort: { by: 'price', partition: 'none' } }, { sort: { by: 'price', partitions: 'none' } }],
    ['provider', { max_price: { prompt: null } }, { max_price: { promt: 1 } }],
    ['reasoning', { effort: 'none', summary: 'auto', enabled: true, context: 'all_turns', mode: 'pro' }, { effort: 'huge' }],
    ['text', { format: { type: 'text' }, verbosity: 'xhigh' }, { verbosity: 'loud' }],
    ['trace', { trace_id: 't', my_key: { any: 'thing' } }, { trace_id: 7 }],
    ['debug', { echo_upstream_body: true }, { echo_upstream_body: 'yes' }],
    ['tool_choice', { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] }, { type: 'function' }],
    ['tool_choice', 'required', 'sometimes'],
    ['store', false, true],
    ['background', false, true],
  ])('%s: one value is taken, the next one is 400', (field, good, bad) => {
    expect(pathsOf({ [field]: good })).toEqual([])
    expect(pathsOf({ [field]: bad }).map((path) => path.split(/[.[]/)[0])).toEqual([field])
  })

  test.each<[string, string[]]>([
    ['service_tier', ['auto', 'default', 'fast', 'flex', 'priority', 'scale', 'ultrafast']],
    ['truncation', ['auto', 'disabled']],
    ['route', ['fallback', 'sort']],
  ])('%s takes its values and null, and no other', (field, values) => {
    for (const value of [...values, null]) expect(pathsOf({ [field]: value })).toEqual([])
    expect(pathsOf({ [field]: 'other' })).toEqual([field])
  })

  test('include takes its five values', () => {
    const five = [
      'file_search_call.results',
      'message.input_image.image_url',
      'computer_call_output.output.image_url',
      'reasoning.encrypted_content',
      'code_interpreter_call.outputs',
    ]
    expect(pathsOf({ include: five })).toEqual([])
    expect(pathsOf({ include: ['all'] })).toEqual(['include[0]'])
  })
})

describe('what cannot be honoured is refused with its reason', () => {
  test.each([
    ['prompt', { id: 'p', variables: {} }],
    ['previous_response_id', 'resp_1'],
    ['conversation', { id: 'conv_1' }],
    ['store', true],
    ['background', true],
  ])('400: %s', (field, value) => {
    const [refusal] = refusalOf(() => validateRequest(rules, bodyOf({ [field]: value })))
    expect(refusal).toStartWith(`${field}: `)
    expect(refusal).not.toContain('Invalid input')
  })

  test('null is fine for all of them', () => {
    expect(pathsOf({ prompt: null, previous_response_id: null, conversation: null, store: null, background: null })).toEqual([])
  })
})

describe('OpenAPI', () => {
  test.each([
    ['a request', requestSchema],
    ['a preset body', presetBodySchema],
  ])('the schema of %s is representable, and every field is in it', (_, schema) => {
    const { $defs = {} } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' })
    const properties = $defs[schema.meta()?.id ?? '']?.properties ?? {}
    expect(Object.entries(REQUEST_FIELDS.responses).filter(([name, { schema }]) => schema !== undefined && !(name in properties))).toEqual(
      [],
    )
  })

  test('limits that are checked by hand are documented too', () => {
    const text = JSON.stringify(z.toJSONSchema(requestSchema, { target: 'draft-2020-12', io: 'input' }))
    expect(text).toContain('"maxLength":256')
    expect(text).toContain('"maxProperties":16')
    expect(text).toContain('"maxLength":512')
  })

  test('every field of a schema may be absent or null', () => {
    expect(requestSchema.safeParse({}).success).toBe(true)
    expect(requestSchema.safeParse(Object.fromEntries(Object.keys(REQUEST_FIELDS.responses).map((name) => [name, null]))).success).toBe(
      true,
    )
  })
})
