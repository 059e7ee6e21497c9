import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { JsonObject, JsonValue } from '../lib/json/json.ts'
import { mergedUsage } from './merged-usage.ts'

const OURS: JsonObject = { prompt_tokens: 5, cost: 0.25, prompt_tokens_details: { cached_tokens: 1 } }

test("what only the vendor knows stays in its place, ours takes the place of the vendor's, and the rest is added", () => {
  expect(mergedUsage('{"vendor":[1],"prompt_tokens":4,"prompt_tokens_details":{"x":null}}', OURS)).toBe(
    '{"vendor":[1],"prompt_tokens":5,"prompt_tokens_details":{"x":null,"cached_tokens":1},"cost":0.25}',
  )
})

test.each([
  ['a number as it was written', '{"seconds":1.50,"id":12345678901234567890}', '"seconds":1.50,"id":12345678901234567890'],
  ['white space', '{ "a" : 1 }', '{ "a" : 1'],
  ['an escape', '{"a":"\\u0041\\/"}', '"a":"\\u0041\\/"'],
  ['a name that is a number', '{"b":1,"1":2}', '"b":1,"1":2'],
])('the vendor keeps %s', (_, upstream, kept) => {
  const merged = mergedUsage(upstream, OURS)
  expect(merged).toContain(kept)
  expect(JSON.parse(merged)).toMatchObject(OURS)
})

test.each([null, 'null', '[1]', '{"a":1,"a":2}', '{"a":'])('ours says all that counts where the vendor says %s', (upstream) => {
  expect(mergedUsage(upstream, OURS)).toBe(JSON.stringify(OURS))
})

test('however it is spaced, the same is merged', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), (upstream) => {
      const compact = mergedUsage(JSON.stringify(upstream), OURS)
      const spaced = mergedUsage(JSON.stringify(upstream, null, 1), OURS)
      expect(JSON.parse(compact) as JsonValue).toEqual(JSON.parse(spaced) as JsonValue)
    }),
  )
})
