import { expect, test } from 'bun:test'
import { z } from 'zod'

import { knownKeys, nearestKey } from './nearest-key.ts'

const named = z.strictObject({ inner: z.string() }).meta({ id: 'Named' })
const schema = z.strictObject({
  checks: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('contains'), text: z.string() }),
      z.strictObject({ type: z.literal('cost'), max_usd: z.number() }),
    ]),
  ),
  either: z.union([named, named.nullable(), z.string()]),
  by_name: z.record(z.string(), named),
})

test('the names of every shape that a tag tells apart are known', () => {
  expect(knownKeys(schema, ['checks', 0])).toEqual(['type', 'text', 'max_usd'])
  expect(nearestKey(schema, ['checks', 0], 'max-usdd')).toBe('max_usd')
})

test('so are those of alternatives, of named schemas and of members with any name', () => {
  expect(knownKeys(schema, ['either'])).toEqual(['inner'])
  expect(knownKeys(schema, ['by_name', 'x'])).toEqual(['inner'])
})

test('nothing is near to a name that is like none', () => {
  expect(nearestKey(schema, ['checks', 0], 'colour')).toBeNull()
})

test('a schema is described once, however many names are not known', () => {
  let reads = 0
  const counted = z.strictObject({
    get inner() {
      reads += 1
      return z.string()
    },
  })
  for (let at = 0; at < 8; at += 1) expect(nearestKey(counted, [], `innr${'x'.repeat(at % 2)}`)).toBe('inner')
  expect(reads).toBeLessThanOrEqual(1)
})
