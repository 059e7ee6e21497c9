import { describe, expect, test } from 'bun:test'

import { fitsStrictMode, heldFormat } from './openai-strict-schema.ts'

const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }

describe('strict mode takes', () => {
  test.each<[string, unknown, boolean]>([
    ['a closed object that requires all', closed, true],
    ['such objects inside one another', { ...closed, properties: { a: { anyOf: [closed, { type: 'null' }] } } }, true],
    ['a schema that refers to itself', { ...closed, properties: { a: { $ref: '#' } } }, true],
    ['an open object', { ...closed, additionalProperties: true }, false],
    ['an object that is silent of more', { type: 'object', properties: {}, required: [] }, false],
    ['a property that may be left out', { ...closed, required: [] }, false],
    ['an open object inside', { ...closed, properties: { a: { type: 'object' } } }, false],
    ['an open object in a list', { ...closed, properties: { a: { type: 'array', items: { type: 'object', properties: {} } } } }, false],
    ['a keyword that it does not know', { ...closed, properties: { a: { type: 'string', minLength: 1 } } }, false],
    ['a root that is a choice', { anyOf: [closed] }, false],
    ['text', 'x', false],
  ])('%s: %#', (_, schema, taken) => {
    expect(fitsStrictMode(schema)).toBe(taken)
  })
})

test('a schema of a Messages client is enforced where it can be, and reported where not; others say themselves', () => {
  const reported: string[] = []
  const hold = (schema: unknown, dialect: 'chat' | 'messages') =>
    heldFormat({ type: 'json-schema', name: 'r', schema }, dialect, ({ code, field }) => void reported.push(`${code} ${field}`))
  expect(hold(closed, 'messages')).toMatchObject({ strict: true })
  expect(hold(closed, 'chat')).not.toHaveProperty('strict')
  expect(reported).toEqual([])
  expect(hold({ type: 'object' }, 'messages')).not.toHaveProperty('strict')
  expect(reported).toEqual(['mapped_field output_config.format'])
})
