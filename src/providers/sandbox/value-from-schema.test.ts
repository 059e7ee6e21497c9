import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'
import { z } from 'zod'

import { valueFor } from './value-from-schema.ts'

const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
})

describe('a value of the schema satisfies it', () => {
  test.each<[string, z.ZodType]>([
    ['string', z.string()],
    ['lengths', z.string().min(9).max(12)],
    ['short', z.string().max(2)],
    ['date', z.iso.date()],
    ['date-time', z.iso.datetime()],
    ['email', z.email()],
    ['uuid', z.uuid()],
    ['url', z.url()],
    ['integer', z.int()],
    ['integer range', z.int().min(5).max(5)],
    ['integer above', z.int().gt(5)],
    ['integer below', z.int().lt(-5)],
    ['multiple', z.int().min(5).multipleOf(4)],
    ['number', z.number()],
    ['number between', z.number().gt(0).lt(0.1)],
    ['number above', z.number().gt(1)],
    ['number below', z.number().max(0)],
    ['boolean', z.boolean()],
    ['null', z.null()],
    ['nullable', z.string().nullable()],
    ['literal', z.literal('x')],
    ['enum', z.enum(['b', 'a'])],
    ['array', z.array(z.int())],
    ['array length', z.array(z.string()).length(3)],
    ['no items', z.array(z.string()).max(0)],
    ['tuple', z.tuple([z.string(), z.int()])],
    ['union', z.union([z.null(), z.object({ a: z.int() })])],
    ['discriminated', z.discriminatedUnion('type', [z.object({ type: z.literal('a'), x: z.int() }), z.object({ type: z.literal('b') })])],
    ['intersection', z.intersection(z.object({ a: z.int() }), z.object({ b: z.string() }))],
    ['record', z.record(z.string(), z.int())],
    ['nested', z.strictObject({ a: z.strictObject({ b: z.array(z.strictObject({ c: z.int().optional(), d: z.boolean() })) }) })],
    ['recursive', tree],
  ])('%s', (_, schema) => {
    const value = valueFor(z.toJSONSchema(schema))
    expect(schema.safeParse(value)).toMatchObject({ success: true })
  })

  test('a definition by reference, and a required member that nobody defines', () => {
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/a~1b' } }, required: ['a', 'z'], $defs: { 'a/b': { const: 4 } } }
    expect(valueFor(schema)).toEqual({ a: 4, z: 'text' })
  })

  test('null is chosen only where nothing else is allowed', () => {
    expect(valueFor({ anyOf: [{ type: 'null' }, { type: 'integer' }] })).toBe(1)
    expect(valueFor({ type: ['null', 'integer'] })).toBe(1)
    expect(valueFor({ type: 'null' })).toBeNull()
  })
})

describe('a hostile schema', () => {
  test('that refers to itself ends', () => {
    for (const schema of [
      { $ref: '#' },
      { allOf: [{ $ref: '#' }] },
      { anyOf: [{ $ref: '#' }, {}] },
      { type: 'array', minItems: 1, items: { $ref: '#' } },
    ]) {
      expect(JSON.stringify(valueFor(schema)).length).toBeLessThan(10_000)
    }
  })

  test('that doubles with every level is bounded', () => {
    const required = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    const schema = { type: 'object', required, properties: Object.fromEntries(required.map((name) => [name, { $ref: '#' }])) }
    expect(JSON.stringify(valueFor(schema)).length).toBeLessThan(100_000)
  })

  test('that asks for a billion items or characters is bounded', () => {
    const schema = { type: 'object', properties: { a: { type: 'array', minItems: 1e9 }, b: { type: 'string', minLength: 1e9 } } }
    expect(JSON.stringify(valueFor(schema)).length).toBeLessThan(10_000)
  })

  test('with a member __proto__ does not change any prototype', () => {
    const value = valueFor(JSON.parse('{"properties":{"__proto__":{"properties":{"polluted":{"const":1}}}}}'))
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":1}}')
  })

  test('of any form has a JSON value, always the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (schema) => {
        expect(JSON.stringify(valueFor(schema))).toBe(JSON.stringify(valueFor(schema)))
      }),
    )
  })
})
