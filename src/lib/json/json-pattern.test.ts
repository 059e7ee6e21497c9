import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { fillerOf, learnPattern } from './json-pattern.ts'

const said = (parsed: unknown): unknown => (parsed as { said?: unknown } | null)?.said
const learn = (json: string, value: string) => learnPattern(json, value, said)
const chunk = (text: string, padding = 'x'): string =>
  `{"id":"u", "said" : ${JSON.stringify(text)},"usage":null,"obfuscation":"${padding}"}`

describe('a text of the pattern', () => {
  test('property: gives what fills it, and filled it is the same text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), fc.stringMatching(/^\w*$/), (first, second, padding) => {
        const pattern = learn(chunk(first), first)
        const found = pattern?.match(chunk(second, padding)) ?? null
        if (found === null) return
        expect(found.value).toBe(second)
        expect(fillerOf(pattern?.skeleton ?? '')?.(found)).toBe(chunk(second, padding))
      }),
    )
  })

  test('is recognised whatever it says: quotes, escapes, line ends, what is not ASCII', () => {
    const pattern = learn(chunk('Hello'), 'Hello')
    for (const text of ['', 'a', '"', '\\', '"}', '\n', '\\"', 'é😀\u2028', '\u0000', '","usage":null', 'Hello'])
      expect(pattern?.match(chunk(text, 'abc'))).toMatchObject({ value: text, padding: 'abc' })
    expect(pattern?.match('{"id":"u", "said" : "\\u00e9","usage":null,"obfuscation":""}')).toEqual({
      raw: '\\u00e9',
      value: 'é',
      padding: '',
    })
  })

  test('is filled as often as the piece stands in what was made of the skeleton', () => {
    const twice = learn('{"said":"a"}', 'a')
    expect(fillerOf(`[${twice?.skeleton ?? ''},${twice?.skeleton ?? ''}]`)?.({ raw: '\\n', padding: '' })).toBe(
      '[{"said":"\\n"},{"said":"\\n"}]',
    )
  })
})

describe('a text that is not of the pattern is left to a parser', () => {
  const pattern = learn('{"id":"u","said":"a","usage":null}', 'a')
  const others: [string, string][] = [
    ['another beginning', '{"id":"v","said":"a","usage":null}'],
    ['another end', '{"id":"u","said":"a","usage":{}}'],
    ['text behind the end', '{"id":"u","said":"a","usage":null} x'],
    ['a member behind the piece', '{"id":"u","said":"a","provider":"theirs","usage":null}'],
    ['a piece that is no string', '{"id":"u","said":["a"],"usage":null}'],
    ['an escape that is none', '{"id":"u","said":"\\q","usage":null}'],
    ['a line end in the string', '{"id":"u","said":"a\nb","usage":null}'],
    ['a quote that ends the string', '{"id":"u","said":"a"b","usage":null}'],
    ['parts that overlap', '{"id":"u","said":"'],
    ['nothing', ''],
  ]
  for (const [guarantee, json] of others) test(guarantee, () => expect(pattern?.match(json)).toBeNull())

  test('padding that is more than padding', () => {
    const padded = learn(chunk('a'), 'a')
    expect(padded?.match('{"id":"u", "said" : "a","usage":null,"obfuscation":"a","id":"x"}')).toBeNull()
    expect(padded?.match('{"id":"u", "said" : "a","usage":null,"obfuscation":"a\\n"}')).toBeNull()
  })
})

describe('there is no pattern', () => {
  const none: [string, string, string][] = [
    ['where the value stands elsewhere too', '{"said":"a","model":"a"}', 'a'],
    ['where it is spelled in another way, and so found at another place', '{"said":"\\u0061","model":"a"}', 'a'],
    ['where it is not found', '{"said":"\\u0061"}', 'a'],
    ['where only the structure reads like it', '{"said":"\\u002c","b":"c"}', ','],
    ['of a text that holds a slot already', '{"said":"a","x":"\\u0000padding"}', 'a'],
    ['of what is no JSON', '{"said":"a"', 'a'],
  ]
  for (const [guarantee, json, value] of none) test(guarantee, () => expect(learn(json, value)).toBeNull())

  test('left in what lost its slot', () => {
    expect(fillerOf('{"said":"other"}')).toBeNull()
  })
})
