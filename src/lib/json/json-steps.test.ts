import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { JsonBody } from './json-body.ts'
import { JsonLimitError, JsonTextError, UNLIMITED } from './json-limits.ts'
import { parseExact } from './exact-json.ts'
import { parseExactInSteps, writeInSteps } from './json-steps.ts'
import type { JsonValue } from './json.ts'
import { atOnce, type Steps } from '../steps.ts'

/** Characters at which a piece may end; they differ in length in UTF-8, in UTF-16 and as JSON. */
const sign = fc.constantFrom('a', '"', '\\', '\n', '\u0001', 'é', '你', '😀', '\ud83d', '\ude00', '')

/** Longer than a piece, so that for some length of the padding each of the signs is at the end of a piece. */
const longText = fc
  .tuple(fc.integer({ min: 131_060, max: 131_080 }), fc.array(sign, { maxLength: 30 }), fc.constantFrom('x', 'é', '😀', '\\', '你'))
  .map(([length, signs, filler]) => filler.repeat(length).slice(0, length) + signs.join('') + filler.repeat(140_000))

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null), longText),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'toJSON', 'é', '1', '')), tie('value'), { maxKeys: 5 }),
  ),
}))

const count = <Result>(steps: Steps<Result>): number => {
  let taken = 0
  while (steps.next().done !== true) taken += 1
  return taken
}

const readAll = (body: JsonBody): JsonValue | undefined => {
  atOnce(body.reading())
  return body.get('a')
}

describe('what is read in steps is what is read at once', () => {
  test('property: of any JSON, as text and as bytes', () => {
    fc.assert(
      fc.property(value, (given) => {
        const text = JSON.stringify({ a: given, filler: 'x'.repeat(40_000) })
        expect(readAll(JsonBody.ofBytes(new TextEncoder().encode(text), UNLIMITED))).toEqual(
          (JSON.parse(text.toWellFormed()) as { a: JsonValue }).a,
        )
        expect(readAll(JsonBody.read(text, UNLIMITED))).toEqual((JSON.parse(text) as { a: JsonValue }).a)
      }),
      { numRuns: 40 },
    )
  })

  test('property: of any answer, also with white space about it', () => {
    fc.assert(
      fc.property(value, fc.constantFrom('', ' ', '\n\t'), (given, space) => {
        const text = `${space}{"n":12345678901234567890,"a":${JSON.stringify(given)},"filler":"${'x'.repeat(140_000)}"}${space}`
        expect(JSON.stringify(atOnce(parseExactInSteps(text)))).toBe(JSON.stringify(parseExact(text)))
      }),
      { numRuns: 40 },
    )
  })

  test.each(['}', ' {}', ',1', 'x'])('an answer followed by %p is refused, like a truncated one', (behind) => {
    const text = `{"a":["${'x'.repeat(200_000)}"]}`
    expect(atOnce(parseExactInSteps(text))).toEqual(parseExact(text))
    for (const bad of [text + behind, text.slice(0, -1), text.slice(0, 200_000)]) expect(() => atOnce(parseExactInSteps(bad))).toThrow()
  })

  test('a text of its own is read, and refused where it does not end, ends early or is no text within', () => {
    const text = JSON.stringify('"x'.repeat(200_000))
    expect(atOnce(parseExactInSteps(` ${text} `))).toEqual(parseExact(text))
    for (const bad of [text.slice(0, -1), `"${text}`, `${text}"`, text.replace('x', '\n')])
      expect(() => atOnce(parseExactInSteps(bad))).toThrow()
  })

  test('a list of its own is read, with none, one or many elements, short and long, and nothing behind it', () => {
    const long = 'x'.repeat(200_000)
    for (const list of [[], [1], [long], [1, long, 2], [long, long], Array.from({ length: 150_000 }, () => [1])]) {
      const text = JSON.stringify(list, null, 1).padEnd(140_000)
      expect(atOnce(parseExactInSteps(text))).toEqual(list)
      for (const bad of [`${text}]`, text.trimEnd().slice(0, -1)]) expect(() => atOnce(parseExactInSteps(bad))).toThrow()
    }
  })

  test('a name that stands for a prototype is a member, and large integers stay as they were written', () => {
    const text = `{"a":{"__proto__":"${'x'.repeat(200_000)}","n":12345678901234567890}}`
    expect(JSON.stringify(readAll(JsonBody.read(text)))).toBe(text.slice(5, -1))
  })

  test('an object of more members than a request may have is refused, also within a list', () => {
    const members = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"a longer name ${index}":1`).join(',')}}`
    expect(Object.keys(atOnce(parseExactInSteps(members(10_000))) as object)).toHaveLength(10_000)
    for (const bad of [members(10_001), `[${members(10_001)}]`]) expect(() => atOnce(parseExactInSteps(bad))).toThrow(JsonLimitError)
  })

  test.each([
    ['a broken escape in a long text', `{"a":"${'x'.repeat(200_000)}\\q"}`],
    ['a control character in a long text', `{"a":"${'x'.repeat(200_000)}\u0001"}`],
    ['a broken number in a long list', `{"a":["${'x'.repeat(200_000)}",01]}`],
    ['an unfinished escape at the end', `{"a":"${'x'.repeat(200_000)}\\u00"}`],
  ])('%s is refused', (_, text) => {
    expect(() => readAll(JsonBody.read(text))).toThrow(JsonTextError)
  })
})

test('the elements of a list are looked for a few at a time: those before a fault are read before it is found', () => {
  const stepsBeforeFault = (elements: number): number => {
    const reading = parseExactInSteps(`[${'{"b":[1]},'.repeat(elements)}{"b":01}]`)
    let taken = 0
    expect(() => {
      while (reading.next().done !== true) taken += 1
    }).toThrow(SyntaxError)
    return taken
  }
  expect(stepsBeforeFault(160_000)).toBeGreaterThan(stepsBeforeFault(40_000) + 6)
})

describe('what is written in steps is what is written at once', () => {
  test('property: of any value', () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(atOnce(writeInSteps(given))).toBe(JSON.stringify(given))
      }),
      { numRuns: 40 },
    )
  })

  test('what is undefined is left out of an object, and null in a list', () => {
    const given = { a: undefined, b: [undefined, 'x'.repeat(200_000)], c: {} }
    expect(atOnce(writeInSteps(given))).toBe(JSON.stringify(given))
  })
})

test('four times as much takes four times as many steps, to be read and to be written', () => {
  for (const make of [
    (times: number) => 'é\n'.repeat(200_000 * times),
    (times: number) => Array.from({ length: 30_000 * times }, String),
  ]) {
    const text = (times: number): string => JSON.stringify({ messages: make(times) })
    const reading = (times: number): number => count(JsonBody.ofBytes(new TextEncoder().encode(text(times))).reading())
    expect(reading(4)).toBeGreaterThan(3 * reading(1) - 6)
    const writing = (times: number): number => count(writeInSteps(make(times)))
    expect(writing(4)).toBeGreaterThan(3 * writing(1) - 6)
  }
})
