import { describe, expect, test } from 'bun:test'

import { createGrowth } from '../../lib/json/json-size.ts'
import { closeSchema as closeWithin } from './closed-schema.ts'
import { encode } from './encode.test-kit.ts'

const closeSchema = (schema: Record<string, unknown>, of: 'tool' | 'format') => closeWithin(schema, of, createGrowth(200_000))

const object = (properties: object, more: object = {}): Record<string, unknown> => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})
const tool = (parameters: unknown, name = 'f') => ({ type: 'function', name, description: null, parameters, strict: true }) as const

describe('a schema for which no grammar exists is sent without strict, as it was written, with a warning', () => {
  test.each<[string, Record<string, unknown>]>([
    ['a map of numbers', object({ scores: { type: 'object', additionalProperties: { type: 'number' } } })],
    ['a map of anything', object({ scores: { type: 'object', additionalProperties: true } })],
    ['an object of which nothing is told', object({ extra: { type: 'object' } })],
    ['members by pattern', object({ extra: { type: 'object', patternProperties: { '^x': { type: 'string' } } } })],
    ['an open map at the root', { type: 'object', additionalProperties: { type: 'string' } }],
    [
      'a tree',
      object(
        { root: { $ref: '#/$defs/node' } },
        { $defs: { node: object({ children: { type: 'array', items: { $ref: '#/$defs/node' } } }) } },
      ),
    ],
    ['a schema within itself', object({ next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } })],
    [
      'two that refer to each other',
      object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: object({ b: { $ref: '#/$defs/b' } }), b: object({ a: { $ref: '#/$defs/a' } }) } }),
    ],
    ['a reference to nowhere', object({ a: { $ref: 'https://a.example/schema' } })],
  ])('%s', (_, parameters) => {
    const { sent, reported } = encode({ tools: [tool(parameters)] })
    expect(sent['tools']).toEqual([{ name: 'f', input_schema: parameters }])
    expect(reported).toEqual(['unsupported_field tools[0].strict'])
    const format = encode({ outputFormat: { type: 'json-schema', name: 'x', schema: parameters } })
    expect(format.sent['output_config']).toBeUndefined()
    expect(JSON.stringify(format.sent['system'])).toContain(JSON.stringify(JSON.stringify(parameters)).slice(1, -1))
    expect(format.reported).toEqual(['mapped_field response_format'])
  })
})

describe('what can be said in another way stays strict', () => {
  test('a single reference in allOf, with what stands beside it', () => {
    const city = object({ name: { type: 'string' } })
    const closed = closeSchema(
      object(
        { city: { allOf: [{ $ref: '#/$defs/city' }], description: 'Where' } },
        { $defs: { city, unused: { $ref: '#/$defs/unused' } } },
      ),
      'tool',
    )
    expect(closed).toMatchObject({ schema: object({ city: { ...city, description: 'Where' } }, { $defs: { city } }), loosened: [] })
  })

  test.each(['^(?=a)b', 'a(?!b)', '(?<=a)b', '(?<!a)b', String.raw`\bword`, String.raw`(a)\1`])('the pattern %s, in words', (pattern) => {
    const closed = closeSchema(object({ a: { type: 'string', pattern } }), 'tool')
    expect(closed).toMatchObject({
      schema: { properties: { a: { type: 'string', description: `(pattern: ${JSON.stringify(pattern)})` } } },
      loosened: ['pattern'],
    })
  })

  test.each<[string, unknown]>([
    ['not', { const: 'x' }],
    ['if', { const: 'x' }],
    ['dependentRequired', { b: ['c'] }],
    ['prefixItems', [{ type: 'string' }]],
    ['unevaluatedProperties', false],
  ])('the keyword %s, which no grammar holds, in words', (keyword, value) => {
    const closed = closeSchema(object({ a: { type: 'string', [keyword]: value } }), 'tool')
    expect(closed).toMatchObject({
      schema: object({ a: { type: 'string', description: `(${keyword}: ${JSON.stringify(value)})` } }),
      loosened: [keyword],
    })
  })

  test('a plain pattern, as it is', () => {
    const schema = object({ a: { type: 'string', pattern: String.raw`^[a-z]+\d$` } })
    expect(closeSchema(schema, 'tool')).toMatchObject({ schema, loosened: [] })
  })

  test('a definition that is used often', () => {
    const line = object({ at: { type: 'number' } })
    const schema = object({ a: { $ref: '#/$defs/line' }, b: { type: 'array', items: { $ref: '#/$defs/line' } } }, { $defs: { line } })
    expect(closeSchema(schema, 'tool')).toMatchObject({ schema, loosened: [] })
  })
})

describe('all strict schemas of a request together have limits', () => {
  const strictOf = (parameters: readonly Record<string, unknown>[], more: object = {}) => {
    const { sent, reported } = encode({ tools: parameters.map((each, index) => tool(each, `f${index}`)), ...more })
    const tools = sent['tools'] as readonly { readonly strict?: boolean }[]
    return { strict: tools.filter(({ strict }) => strict === true).length, reported }
  }
  const simple = object({ a: { type: 'string' } })
  const optional = (count: number) =>
    object(Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'string' }])), { required: [] })
  const unions = (count: number) =>
    object(Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { anyOf: [{ type: 'string' }, { type: 'null' }] }])))

  test('20 strict tools', () => {
    const { strict, reported } = strictOf(Array.from({ length: 22 }, () => simple))
    expect(strict).toBe(20)
    expect(reported).toEqual(['unsupported_field tools[20].strict', 'unsupported_field tools[21].strict'])
  })

  test('24 optional parameters', () => {
    expect(strictOf([optional(24)])).toEqual({ strict: 1, reported: [] })
    expect(strictOf([optional(25)])).toEqual({ strict: 0, reported: ['unsupported_field tools[0].strict'] })
    expect(strictOf([optional(20), optional(5), optional(4)])).toEqual({ strict: 2, reported: ['unsupported_field tools[1].strict'] })
  })

  test('16 parameters of several types, wherever they are', () => {
    expect(strictOf([unions(16)])).toEqual({ strict: 1, reported: [] })
    expect(strictOf([unions(10), object({ list: { type: 'array', items: unions(7) } })])).toEqual({
      strict: 1,
      reported: ['unsupported_field tools[1].strict'],
    })
    const types = object(Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`p${i}`, { type: ['string', 'null'] }])))
    expect(strictOf([types])).toEqual({ strict: 0, reported: ['unsupported_field tools[0].strict'] })
  })

  test('the form of the answer goes before the tools', () => {
    const { strict, reported } = strictOf([unions(10)], { outputFormat: { type: 'json-schema', name: 'x', schema: unions(10) } })
    expect([strict, reported]).toEqual([0, ['unsupported_field tools[0].strict']])
  })
})
