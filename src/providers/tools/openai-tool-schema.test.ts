import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { Warning } from '../../canonical/warning.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { vendorOf } from '../vendors/vendors.ts'
import { mendedTools } from './openai-tool-schema.ts'
import { atOnce } from '../../lib/steps.ts'

const mended = (...given: Parameters<typeof mendedTools>) => atOnce(mendedTools(...given))

const mend = (parameters: JsonValue, more: JsonObject = {}): { called: JsonObject; reported: readonly Warning[] } => {
  const reported: Warning[] = []
  const tools = [{ name: 'f', parameters, ...more }]
  const [called = {}] = mended(
    tools,
    'tools',
    { functionIn: (tool) => tool, withFunction: (_, next) => next },
    {
      target: {
        provider: 'openai',
        providerName: 'OpenAI',
        baseUrl: '',
        apiKey: null,
        modelId: 'a/b',
        upstreamModel: 'b',
        maxCompletionTokens: null,
      },
      warn: (warning) => reported.push(warning),
      vendor: vendorOf('openai'),
    },
  )
  return { called: called as JsonObject, reported }
}

const sent = (parameters: JsonValue): JsonValue | undefined => mend(parameters).called['parameters']

const text = { type: 'string' }
const number = { type: 'number' }

describe('a schema that OpenAI takes', () => {
  test.each<[string, JsonObject]>([
    ['an object', { type: 'object', properties: { a: text }, required: ['a'] }],
    ['with alternatives inside', { type: 'object', properties: { a: { anyOf: [text, number] } } }],
    ['with lists that say what they hold', { type: 'object', properties: { a: { type: 'array', items: text } } }],
    ['with a property called items', { type: 'object', properties: { items: text, anyOf: text } }],
  ])('stays the same object: %s', (_, schema) => {
    const { called, reported } = mend(schema)
    expect(called['parameters']).toBe(schema)
    expect(reported).toEqual([])
  })

  test('of something other than an object is for OpenAI to refuse', () => {
    expect(sent({ type: 'string' })).toEqual({ type: 'string' })
  })
})

describe('a schema that OpenAI refuses', () => {
  test.each<[string, JsonValue, JsonObject]>([
    ['an empty one takes no arguments', {}, { type: 'object', properties: {} }],
    ['null too', null, { type: 'object', properties: {} }],
    ['without a type it is of an object', { properties: { a: text } }, { type: 'object', properties: { a: text } }],
    ['an object that may be null is an object', { type: ['object', 'null'], properties: {} }, { type: 'object', properties: {} }],
    [
      'a list of anything says so, however deep',
      { type: 'object', properties: { a: { anyOf: [{ type: ['array', 'null'] }, text] } } },
      { type: 'object', properties: { a: { anyOf: [{ type: ['array', 'null'], items: {} }, text] } } },
    ],
    [
      'a reference at the top is what it names',
      { $ref: '#/$defs/In', $defs: { In: { type: 'object', properties: { a: text }, required: ['a'] } } },
      {
        type: 'object',
        properties: { a: text },
        required: ['a'],
        $defs: { In: { type: 'object', properties: { a: text }, required: ['a'] } },
      },
    ],
    [
      'all of several objects are one',
      {
        allOf: [
          { properties: { a: text }, required: ['a'] },
          { properties: { b: number }, required: ['b'] },
        ],
      },
      { type: 'object', properties: { a: text, b: number }, required: ['a', 'b'] },
    ],
  ])('%s, and that is told', (_, given, wanted) => {
    const { called, reported } = mend(given)
    expect(called['parameters']).toEqual(wanted)
    expect(reported).toMatchObject([{ code: 'mapped_field', field: 'tools[0]' }])
  })

  test('an object gets the properties that go without saying, without a word', () => {
    expect(mend({ type: 'object' })).toEqual({ called: { name: 'f', parameters: { type: 'object', properties: {} } }, reported: [] })
  })

  test('alternatives become one object that requires what each of them requires, and they are described to the model', () => {
    const alternatives = [
      { properties: { kind: { const: 'a' }, by: text }, required: ['kind', 'by'] },
      { properties: { kind: { const: 'b' }, to: number }, required: ['kind'] },
    ]
    for (const keyword of ['anyOf', 'oneOf'])
      expect(sent({ type: 'object', description: 'Moves.', properties: { id: text }, required: ['id'], [keyword]: alternatives })).toEqual({
        type: 'object',
        description: `Moves.\n\nThe arguments also have to satisfy this JSON Schema: ${JSON.stringify({ [keyword]: alternatives })}`,
        properties: { id: text, kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, by: text, to: number },
        required: ['id', 'kind'],
      })
  })

  test('what only says that one of some properties is required loses no property', () => {
    expect(sent({ type: 'object', properties: { a: text, b: text }, anyOf: [{ required: ['a'] }, { required: ['b'] }] })).toMatchObject({
      properties: { a: text, b: text },
    })
  })

  test('is not strictly enforced if strict mode would refuse it, with a warning', () => {
    const { called, reported } = mend({ anyOf: [{ properties: { a: text } }] }, { strict: true })
    expect(called['strict']).toBeUndefined()
    expect(reported[0]?.message).toContain('strictly')
    expect(mend({}, { strict: true }).called).toEqual({
      name: 'f',
      strict: true,
      parameters: { type: 'object', properties: {}, additionalProperties: false, required: [] },
    })
  })

  test('a function without any schema stays so', () => {
    const tools = [{ name: 'f' }]
    const unused = { target: { upstreamModel: 'b' }, warn: () => undefined, vendor: vendorOf('openai') } as unknown as Parameters<
      typeof mendedTools
    >[3]
    expect(mended(tools, 'tools', { functionIn: (tool) => tool, withFunction: (_, next) => next }, unused)).toBe(tools)
  })
})

/** The reasons for which OpenAI would refuse a schema, in its own words. */
const refusals = (schema: unknown): string[] => {
  if (!isObject(schema) || schema['type'] !== 'object') return ['schema must have type object']
  const top = ['oneOf', 'anyOf', 'allOf', 'enum', 'not', '$ref'].filter((keyword) => keyword in schema)
  return [...top, ...('properties' in schema ? [] : ['object schema missing properties']), ...bareLists(schema)]
}

const bareLists = (schema: unknown): string[] => {
  if (!isObject(schema)) return []
  const { type, items, properties, $defs, anyOf, allOf, oneOf } = schema
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'))
  const inside = [
    items,
    ...[properties, $defs].flatMap((named) => (isObject(named) ? Object.values(named) : [])),
    ...[anyOf, allOf, oneOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : [])),
  ]
  return [...(isList && !isObject(items) ? ['array schema missing items'] : []), ...inside.flatMap(bareLists)]
}

const { schema: anySchema } = fc.letrec<{ inner: JsonObject; schema: JsonObject }>((tie) => {
  const inner = tie('inner')
  const list = fc.array(inner, { minLength: 1, maxLength: 3 })
  const type = fc.constantFrom<JsonValue>('object', 'array', 'string', ['object', 'null'], ['array', 'null'])
  return {
    inner: fc.oneof({ maxDepth: 2 }, fc.record({ type }, { requiredKeys: [] }), tie('schema')),
    schema: fc.record(
      {
        type,
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'items', '__proto__', 'anyOf'), inner, { maxKeys: 3 }),
        required: fc.subarray(['a', 'b', 'items']),
        items: fc.oneof(inner, list),
        anyOf: list,
        oneOf: list,
        allOf: list,
        not: inner,
        $ref: fc.constantFrom('#/$defs/a', '#/$defs/b', '#', 'https://a.example/schema'),
        $defs: fc.dictionary(fc.constantFrom('a', 'b'), inner, { maxKeys: 2 }),
      },
      { requiredKeys: [] },
    ),
  }
})

test('whatever a client sends, OpenAI takes it or it is of no object; what it takes is not touched', () => {
  fc.assert(
    fc.property(anySchema, (schema) => {
      const before = JSON.stringify(schema)
      const mended = sent(schema)
      expect(JSON.stringify(schema)).toBe(before)
      if (refusals(schema).length === 0) expect(mended).toBe(schema)
      else if (mended !== schema) expect(refusals(mended)).toEqual([])
    }),
    { numRuns: 200 },
  )
})

test('its work is bounded, however many references lead round', () => {
  const names = Array.from({ length: 2000 }, (_, index) => `d${index}`)
  const chain = names.map((name, index) => [name, { anyOf: [{ $ref: `#/$defs/d${(index + 1) % 2000}` }], properties: { [name]: text } }])
  const { properties } = sent({ anyOf: [{ $ref: '#/$defs/d0' }], $defs: Object.fromEntries(chain) as JsonObject }) as { properties: object }
  expect(Object.keys(properties)).toHaveLength(64)
})
