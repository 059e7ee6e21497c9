import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { googleParameters, googleSchema } from './json-schema.ts'

describe('a schema for Google', () => {
  test.each<[string, unknown, unknown]>([
    ['keeps what Google reads', { type: ['string', 'null'], enum: ['a', null] }, { type: ['string', 'null'], enum: ['a', null] }],
    ['keeps additionalProperties', { type: 'object', additionalProperties: false }, { type: 'object', additionalProperties: false }],
    ['says const as an enum of one', { properties: { kind: { const: 'a' } } }, { properties: { kind: { type: 'string', enum: ['a'] } } }],
    ['lets an enum beside a const stand', { const: 'a', enum: ['a'] }, { type: 'string', enum: ['a'] }],
    ['keeps a const of null', { const: null }, { type: 'null', enum: [null] }],
    [
      'says of which types an enum is',
      { enum: [1, 2.5, 'a', null] },
      { type: ['integer', 'number', 'string', 'null'], enum: [1, 2.5, 'a', null] },
    ],
    ['lets the type of an enum stand', { type: 'number', enum: [1] }, { type: 'number', enum: [1] }],
    ['drops what names the dialect', { $schema: 'x', $comment: 'y', type: 'string' }, { type: 'string' }],
    [
      'writes references out, with what stands beside them',
      { properties: { at: { $ref: '#/$defs/Place', description: 'Where' } }, $defs: { Place: { type: 'string', description: 'A place' } } },
      { properties: { at: { type: 'string', description: 'Where' } } },
    ],
    [
      'reads definitions under their old name',
      { items: { $ref: '#/definitions/a~1b' }, definitions: { 'a/b': { type: 'string' } } },
      { items: { type: 'string' } },
    ],
    [
      'reads references into lists and escaped names',
      { anyOf: [{ type: 'null' }, { $ref: '#/anyOf/0' }, { $ref: '#/$defs/a%20b' }], $defs: { 'a b': true } },
      {
        anyOf: [{ type: 'null' }, { type: 'null' }, { $ref: '#/$defs/a%20b' }],
        $defs: { 'a b': true },
      },
    ],
    [
      'joins an allOf of one',
      { allOf: [{ $ref: '#/$defs/A' }], description: 'd', $defs: { A: { type: 'string' } } },
      { type: 'string', description: 'd' },
    ],
    ['keeps an allOf of more', { allOf: [{ type: 'string' }, { minLength: 1 }] }, { allOf: [{ type: 'string' }, { minLength: 1 }] }],
    [
      'writes a recursive schema out once and keeps its definition',
      { $ref: '#/$defs/Node', $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node', description: 'x' } } } } },
      {
        type: 'object',
        properties: { next: { $ref: '#/$defs/Node' } },
        $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } },
      },
    ],
    ['keeps a reference that leads nowhere', { items: { $ref: '#/$defs/Gone' } }, { items: { $ref: '#/$defs/Gone' } }],
    ['keeps a reference to another document', { items: { $ref: 'https://x.example/y' } }, { items: { $ref: 'https://x.example/y' } }],
    [
      'does not take data for schemas',
      { enum: [{ const: 1, $ref: '#/x' }], default: { const: 1 } },
      { enum: [{ const: 1, $ref: '#/x' }], default: { const: 1 } },
    ],
    [
      'does not take names of properties for keywords',
      { properties: { const: { type: 'string' }, $ref: { type: 'string' } } },
      { properties: { const: { type: 'string' }, $ref: { type: 'string' } } },
    ],
    ['leaves what is no schema', true, true],
  ])('%s', (_, given, sent) => {
    expect(googleSchema(given)).toEqual(sent)
  })

  test('references that double at each step do not explode', () => {
    const steps = Array.from(
      { length: 60 },
      (_, step) => [`D${step}`, { properties: { a: { $ref: `#/$defs/D${step + 1}` }, b: { $ref: `#/$defs/D${step + 1}` } } }] as const,
    )
    const bomb = { $ref: '#/$defs/D0', $defs: Object.fromEntries([...steps, ['D60', { type: 'string' }]]) }
    expect(JSON.stringify(googleSchema(bomb)).length).toBeLessThan(2_000_000)
  })

  test('a chain of references, however long, is no deep recursion', () => {
    const chain = Object.fromEntries(Array.from({ length: 50_000 }, (_, step) => [`D${step}`, { $ref: `#/$defs/D${step + 1}` }]))
    expect(googleSchema({ $ref: '#/$defs/D0', $defs: chain })).toBeObject()
  })
})

const { schema: anySchema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom({ type: 'string' }, { const: 1 }, { $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }, { $ref: '#/gone' }, true, {}),
    fc.record(
      { properties: fc.dictionary(fc.constantFrom('a', 'b', 'const'), tie('schema'), { maxKeys: 3 }), description: fc.string() },
      { requiredKeys: [] },
    ),
    fc.record({ items: tie('schema'), const: fc.jsonValue() }, { requiredKeys: ['items'] }),
    fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }) }),
  ),
}))

const document = fc.record({
  properties: fc.dictionary(fc.constantFrom('x', 'y'), anySchema),
  $defs: fc.record({ A: anySchema, B: anySchema }),
})

/** Every object inside the value that stands in the place of a schema. */
const schemasIn = (value: unknown): Record<string, unknown>[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const {
    properties = {},
    items,
    anyOf = [],
    $defs = {},
  } = value as { properties?: object; items?: unknown; anyOf?: unknown[]; $defs?: object }
  const inner = [...Object.values(properties), items, ...anyOf, ...Object.values($defs)] as unknown[]
  return [value as Record<string, unknown>, ...inner.flatMap(schemasIn)]
}

describe('of any schema', () => {
  test('no const is left, nothing stands beside a reference, and the given one is not changed', () => {
    fc.assert(
      fc.property(document, (given) => {
        const before = JSON.stringify(given)
        for (const schema of schemasIn(googleSchema(given))) {
          expect(Object.hasOwn(schema, 'const')).toBe(false)
          if (typeof schema['$ref'] === 'string') expect(Object.keys(schema)).toEqual(['$ref'])
        }
        expect(JSON.stringify(given)).toBe(before)
      }),
    )
  })

  test('a reference that is left leads where it led', () => {
    fc.assert(
      fc.property(document, (given) => {
        const sent = googleSchema(given)
        for (const { $ref } of schemasIn(sent)) {
          if ($ref === '#/$defs/A' || $ref === '#/$defs/B') expect(sent).toHaveProperty(['$defs', $ref.slice(-1)])
        }
      }),
    )
  })

  test('it is the same each time: the prompt before it stays in the cache', () => {
    fc.assert(
      fc.property(document, (given) =>
        expect(JSON.stringify(googleSchema(structuredClone(given)))).toBe(JSON.stringify(googleSchema(given))),
      ),
    )
  })
})

describe('the schema of a function’s arguments', () => {
  test.each<[string, unknown, unknown]>([
    ['is an object’s', { properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
    ['keeps its type', { type: 'object', properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
    [
      'is an object’s where it begins with a choice',
      { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
      { type: 'object', anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
    ],
    [
      'is an object’s where it only demands',
      { required: ['a'], not: { required: ['b'] } },
      { type: 'object', required: ['a'], not: { required: ['b'] } },
    ],
    ['says nothing beside a reference that is left', { $ref: '#/$defs/Missing' }, { $ref: '#/$defs/Missing' }],
    ['is left out where there are none', { type: 'object', properties: {}, additionalProperties: false, required: [] }, undefined],
    ['is left out where it says nothing', {}, undefined],
    ['is left out where it is none', null, undefined],
    ['is kept where it says more', { type: 'object', minProperties: 1 }, { type: 'object', minProperties: 1 }],
  ])('%s', (_, given, sent) => {
    expect(googleParameters(given)).toEqual(sent)
  })

  test('a free object keeps its schema', () => {
    expect(googleParameters({ type: 'object', additionalProperties: { type: 'string' } })).toEqual({
      type: 'object',
      additionalProperties: { type: 'string' },
    })
  })
})
