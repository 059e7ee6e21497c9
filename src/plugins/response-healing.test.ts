import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { isObject } from '../lib/json/json.ts'
import { loadHeal } from './response-healing.ts'

const heal = await loadHeal('object')

describe('the usual faults of JSON are mended', () => {
  test.each([
    ['a bracket that is missing', '{"a": [1, 2', '{"a": [1, 2]}'],
    ['a comma too many', '{"a": 1,}', '{"a": 1}'],
    ['a fence around it', '```json\n{"a": 1}\n```', '{"a": 1}'],
    ['words around it', 'Here\'s the data: {"a": 1} Is that fine?', '{"a": 1}'],
    ['names without quotes', "{a: 'b'}", '{"a": "b"}'],
    ['a fence without its end', '```\n{"a": 1', '{"a": 1}'],
    ['a fence inside a string of it', '{"code": "```js\\nx\\n```",}', '{"code": "```js\\nx\\n```"}'],
  ])('%s', (_, written, healed) => {
    expect(JSON.parse(heal(written))).toEqual(JSON.parse(healed))
  })

  test('a quote that stands escaped in a text does not end the text', () => {
    expect(heal(String.raw`Here: {"a": "\"}"} done`)).toBe(String.raw`{"a": "\"}"}`)
  })

  test('words in front of it do not make a list of words and JSON', () => {
    expect(heal('Here is: {"a":1}')).toBe('{"a":1}')
  })

  test('a list is found where a list is asked for', async () => {
    expect((await loadHeal('array'))('See {this}: [1, 2,] done')).toBe('[1, 2]')
  })
})

test('a text that is longer than 256 KB stays as it is, so that it delays nobody', () => {
  const broken = (length: number): string => `{"a": "${'x'.repeat(length - '{"a": "",}'.length)}",}`
  expect(heal(broken(256 * 1024))).toEndWith('x"}')
  expect(heal(broken(256 * 1024 + 1))).toEndWith('x",}')
})

test('values are kept as they were written: numbers beyond what a double holds, and names that stand twice', () => {
  expect(heal('```json\n{"n": 9007199254740993, "a": 1, "a": 2}\n```')).toBe('{"n": 9007199254740993, "a": 1, "a": 2}')
  expect(heal('{"n": 9007199254740993, "a": 1, "a": 2')).toBe('{"n": 9007199254740993, "a": 1, "a": 2}')
})

test('what is no JSON of the kind that was asked for stays as it is', () => {
  const texts = ['', 'I am sorry, I cannot do that.', '[1, 2]', '12', `{${'['.repeat(100_000)}`, '{"a":'.repeat(40_000), '{"a" 1\n{"b":2}']
  for (const text of texts) expect(heal(text)).toBe(text)
})

test('valid JSON stays as it was written, whatever stands in it', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(heal(json)).toBe(json)
    }),
  )
})

test('any text: the same text, or a JSON object', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', '```', '```json\n', '{"a":', "'", '//', '/*'),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      const healed = heal(text)
      if (healed !== text) expect(isObject(JSON.parse(healed))).toBe(true)
    }),
  )
})
