import { expect, test } from 'bun:test'

import type { JsonObject } from '../../lib/json/json.ts'
import { withTypesInside } from './types-inside.ts'

const inA = (a: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties: { a }, ...more })

test.each<[string, JsonObject, JsonObject]>([
  [
    'a type beside alternatives stands in each that has none',
    inA({ type: 'object', description: 'D', anyOf: [{ required: ['x'] }, { type: 'object', required: ['y'] }] }),
    inA({
      description: 'D',
      anyOf: [
        { type: 'object', required: ['x'] },
        { type: 'object', required: ['y'] },
      ],
    }),
  ],
  [
    'an alternative that is a reference has the type of what it names',
    inA({ type: 'string', anyOf: [{ $ref: '#/$defs/s' }, { maxLength: 2 }] }, { $defs: { s: { type: 'string', minLength: 9 } } }),
    inA({ anyOf: [{ $ref: '#/$defs/s' }, { type: 'string', maxLength: 2 }] }, { $defs: { s: { type: 'string', minLength: 9 } } }),
  ],
  [
    'beside a reference stands only what the referenced schema does not say',
    inA({ $ref: '#/$defs/s', type: 'object', description: 'Here', title: 'T' }, { $defs: { s: { type: 'object', description: 'There' } } }),
    inA({ $ref: '#/$defs/s', title: 'T' }, { $defs: { s: { type: 'object', description: 'There' } } }),
  ],
  [
    'in definitions and lists too',
    { type: 'object', $defs: { s: { items: { type: 'string', anyOf: [{}] } } }, properties: {} },
    { type: 'object', $defs: { s: { items: { anyOf: [{ type: 'string' }] } } }, properties: {} },
  ],
])('%s', (_, given, wanted) => {
  expect(withTypesInside(given)).toEqual(wanted)
})

test('an alternative that has alternatives itself has the type in those', () => {
  const given = inA({ type: 'string', anyOf: [{ anyOf: [{ minLength: 1 }, { type: 'null' }] }] })
  expect(withTypesInside(given)).toEqual(inA({ anyOf: [{ anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] }] }))
})

test('what any schema of a chain of references says does not stand beside the first', () => {
  const $defs = { a: { $ref: '#/$defs/b', title: 'A' }, b: { $ref: '#/$defs/a', description: 'B' } }
  expect(withTypesInside(inA({ $ref: '#/$defs/a', title: 'T', description: 'D', examples: [1] }, { $defs }))).toMatchObject({
    properties: { a: { $ref: '#/$defs/a', examples: [1] } },
  })
})

test('a schema without such places stays the same object', () => {
  const schema = inA({ anyOf: [{ type: 'string' }, { $ref: '#/$defs/s' }] }, { $defs: { s: { type: 'null' } } })
  expect(withTypesInside(schema)).toBe(schema)
})
