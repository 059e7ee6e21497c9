import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { createSchemaCheck } from './json-schema.ts'
import type { JsonValue } from './json.ts'

const faults = (schema: unknown, value: JsonValue): string[] =>
  createSchemaCheck(schema)(value).faults.map(({ path, message }) => `${path} ${message}`)

const NODE = {
  $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, value: { type: 'integer' } }, required: ['value'] } },
  $ref: '#/$defs/node',
}

// A literal object with a `then` member would be taken for a promise.
const CONDITIONAL: unknown = JSON.parse('{"if":{"properties":{"k":{"const":1}}},"then":{"required":["a"]},"else":{"required":["b"]}}')

describe('a fault is reported with its place', () => {
  test.each<[string, unknown, JsonValue, string[]]>([
    ['type', { type: 'object' }, [], ['$ must be object']],
    ['types', { type: ['string', 'null'] }, 1, ['$ must be string or null']],
    ['integer', { type: 'integer' }, 1.5, ['$ must be integer']],
    ['required', { type: 'object', required: ['a', 'toString'] }, {}, ['$.a is required', '$.toString is required']],
    ['a member', { properties: { a: { type: 'number' } } }, { a: 'x' }, ['$.a must be number']],
    ['another member', { properties: { a: {} }, additionalProperties: false }, { b: 1 }, ['$.b is not allowed']],
    ['a member by pattern', { patternProperties: { '^x': { type: 'number' } } }, { xa: 'a', y: 'b' }, ['$.xa must be number']],
    ['a list', { items: { type: 'string' } }, ['a', 1], ['$[1] must be string']],
    ['a tuple', { prefixItems: [{ type: 'string' }], items: false }, ['a', 1], ['$[1] is not allowed']],
    ['a tuple of draft 7', { items: [{ type: 'string' }], additionalItems: false }, [1, 1], ['$[0] must be string', '$[1] is not allowed']],
    ['enum', { enum: ['a', { b: 1 }] }, 'c', ['$ must be one of ["a",{"b":1}]']],
    ['const', { const: { a: 1, b: 2 } }, { a: 1 }, ['$ must be {"a":1,"b":2}']],
    ['length', { minLength: 2, maxLength: 2 }, '💡', ['$ must have at least 2 characters']],
    ['bounds', { minimum: 1, exclusiveMaximum: 3 }, 3, ['$ must be less than 3']],
    ['bounds of draft 4', { minimum: 1, exclusiveMinimum: true }, 1, ['$ must be at least 1']],
    ['multiple', { multipleOf: 0.1 }, 0.35, ['$ must be a multiple of 0.1']],
    [
      'unique',
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      ['$ must not have an item twice'],
    ],
    [
      'contains',
      { contains: { type: 'number' }, minContains: 2 },
      [1, 'a'],
      ['$ must contain at least 2 items that match the schema of contains'],
    ],
    ['pattern', { pattern: '^a+$' }, 'b', ['$ must match "^a+$"']],
    ['anyOf', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, ['$ must match one of the schemas of anyOf']],
    ['oneOf', { oneOf: [{ type: 'number' }, { minimum: 0 }] }, 1, ['$ must match exactly one of the schemas of oneOf, and matches 2']],
    ['not', { not: { type: 'string' } }, 'a', ['$ must not match the schema of not']],
    ['if', CONDITIONAL, { k: 2 }, ['$.b is required']],
    ['dependents', { dependentRequired: { a: ['b'] } }, { a: 1 }, ['$.b is required beside "a"']],
    ['dependencies of draft 7', { dependencies: { a: { required: ['b'] } } }, { a: 1 }, ['$.b is required']],
    ['a name', { propertyNames: { maxLength: 1 } }, { ab: 1 }, ['$.ab has a name that is not allowed']],
    ['a reference', NODE, { value: 1, next: { value: 2, next: {} } }, ['$.next.next.value is required']],
    ['nothing allowed', false, 1, ['$ is not allowed']],
  ])('%s', (_, schema, value, expected) => {
    expect(faults(schema, value)).toEqual(expected)
  })
})

test('what keeps to its schema has no fault', () => {
  expect(faults(NODE, { value: 1, next: { value: 2 } })).toEqual([])
  expect(faults({ multipleOf: 0.1 }, 0.3)).toEqual([])
  expect(faults({ type: 'integer' }, 3)).toEqual([])
  expect(faults({ nullable: true, type: 'string' }, null)).toEqual([])
  expect(faults({ items: [{ type: 'string' }] }, ['a', 1])).toEqual([])
  expect(
    faults({ $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: {} }, $ref: '#/definitions/a', type: 'null' }, 1),
  ).toEqual([])
})

test.each<[unknown, JsonValue, string]>([
  [{ pattern: '(?=a)' }, 'b', 'pattern (?=a)'],
  [{ $ref: 'https://example.com/schema.json' }, 1, '$ref https://example.com/schema.json'],
  [{ unevaluatedProperties: false }, { a: 1 }, 'unevaluatedProperties'],
  [{ patternProperties: { '(a)\\1': false }, additionalProperties: false }, { b: 1 }, 'pattern (a)\\1'],
])('what cannot be checked counts as valid and is reported: %j', (schema, value, reported) => {
  expect(createSchemaCheck(schema)(value)).toEqual({ faults: [], unchecked: [reported] })
})

test('a pattern that others need exponential time for takes as many steps as its text is long', () => {
  const check = createSchemaCheck({ type: 'string', pattern: '^(a+)+$' })
  expect(check('a'.repeat(40)).faults).toEqual([])
  // An engine that tries every path would need 2^40 steps for this one, and would never return.
  expect(check(`${'a'.repeat(40)}!`).faults).toHaveLength(1)
})

test.each([
  ['^[a-z]*$', ''],
  ['^(?:ab)?$', ''],
  ['[a-z]*', '1'],
])('the pattern %s holds where its match has no length: %j', (pattern, value) => {
  expect(faults({ pattern }, value)).toEqual([])
})

const many = <Value>(count: number, make: (index: number) => Value): Value[] => Array.from({ length: count }, (_, index) => make(index))

test.each<[string, unknown, JsonValue]>([
  ['many values', { items: { enum: many(50_000, (index) => `v${index}`) } }, many(5000, () => 'none')],
  ['large values', { items: { enum: [{ a: 'x'.repeat(200_000) }, { b: 'x'.repeat(200_000) }] } }, many(2000, () => ({}))],
  ['many names that are required', { items: { required: many(50_000, (index) => `n${index}`) } }, many(2000, () => ({}))],
  ['many patterns of texts', { allOf: many(5000, (index) => ({ pattern: `(a|b|c)*x${index}` })) }, 'abc'.repeat(3000)],
  ['many lengths', { allOf: many(20_000, (index) => ({ minLength: index })) }, 'abc'.repeat(10_000)],
  ['many looks for doubles', { allOf: many(5000, () => ({ uniqueItems: true })) }, many(2000, (index) => index)],
  [
    'many patterns of names',
    { patternProperties: Object.fromEntries(many(5000, (index) => [`^k${index}`, {}])) },
    Object.fromEntries(many(2000, (index) => [`z${index}`, 1])),
  ],
  [
    'many dependents',
    { items: { dependentRequired: Object.fromEntries(many(50_000, (index) => [`d${index}`, []])) } },
    many(2000, () => ({})),
  ],
])('%s in a schema, for many values, are given up before they hold up others', (_, schema, value) => {
  const check = createSchemaCheck(schema)
  const begun = performance.now()
  expect(check(value).unchecked).toContain('a schema that takes too long to check')
  expect(performance.now() - begun).toBeLessThan(2000)
})

const option = { type: 'object', properties: { a: { $ref: '#/$defs/n' } } }

test.each<[string, unknown, JsonValue]>([
  ['refers to itself', { $ref: '#' }, 1],
  // Each level tries the one below twice, down to a leaf that fails.
  [
    'branches at every level',
    { $defs: { n: { anyOf: [option, option] } }, $ref: '#/$defs/n' },
    Array.from({ length: 60 }).reduce<JsonValue>((inner) => ({ a: inner }), 1),
  ],
])('a schema that %s is given up, and the value counts as valid', (_, schema, value) => {
  expect(createSchemaCheck(schema)(value)).toEqual({ faults: [], unchecked: ['a schema that takes too long to check'] })
})

test('property: any schema and any value are checked without an error, the same each time', () => {
  const word = fc.constantFrom(
    'type',
    'properties',
    'items',
    'anyOf',
    'oneOf',
    'allOf',
    'not',
    'if',
    'enum',
    'const',
    'required',
    'pattern',
    '$ref',
    'patternProperties',
    'additionalProperties',
    'minLength',
    'uniqueItems',
    'contains',
    'dependencies',
    'propertyNames',
    '$defs',
    'then',
  )
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom('string', 'object', '#', '#/$defs/a', '#/items/0', '(a+)+$', '[', '(?=x)'),
      fc.array(tie('schema'), { maxLength: 3 }),
      fc.dictionary(word, tie('schema'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(schema, fc.jsonValue({ maxDepth: 3 }), (any, value) => {
      const check = createSchemaCheck(any)
      expect(check(value as JsonValue)).toEqual(check(value as JsonValue))
    }),
  )
})
