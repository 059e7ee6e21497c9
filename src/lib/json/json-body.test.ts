import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { JsonBody, readJsonObject } from './json-body.ts'
import { JSON_LIMITS, type JsonLimits, JsonTextError, UNLIMITED } from './json-limits.ts'
import { scanElements } from './json-scan.ts'
import { editElements, editMembers, rawMember } from './json-splice.ts'
import { atOnce } from '../steps.ts'
import { patient } from '../../../test/support/patience.ts'
import type { JsonChanges } from './json.ts'

const refusalOf = (read: () => unknown): string => {
  try {
    read()
    return 'accepted'
  } catch (thrown) {
    if (thrown instanceof JsonTextError) return thrown.message
    throw thrown
  }
}

const refusal = (text: string, limits?: JsonLimits): string => {
  const [kept, parsed] = [refusalOf(() => JsonBody.read(text, limits)), refusalOf(() => readJsonObject(text, limits))]
  expect(parsed).toBe(kept) // two readers of one body must not disagree about it
  return kept
}

const invalid = 'The body is not valid JSON'

describe('refused, because it is not one JSON object', () => {
  test.each<[string, string, string]>([
    ['nothing', '', 'must be a JSON object'],
    ['white space', ' \n\t\r', 'must be a JSON object'],
    ['null', 'null', 'must be a JSON object'],
    ['an array', '[]', 'must be a JSON object'],
    ['a string', '"x"', 'must be a JSON object'],
    ['a number', '1', 'must be a JSON object'],
    ['a byte order mark', '\uFEFF{}', 'begins with a byte order mark'],
    ['a comment before it', '/**/{}', 'must be a JSON object'],
    ['white space of another kind', '\u00A0{}', 'must be a JSON object'],
    ['cut behind the brace', '{', 'it ends too early'],
    ['cut in a key', '{"a', 'a string does not end'],
    ['cut behind a key', '{"a"', 'it ends too early'],
    ['cut behind a colon', '{"a":', 'it ends too early'],
    ['cut in a string', '{"a":"b', 'a string does not end'],
    ['cut in an escape', '{"a":"b\\', 'a string does not end'],
    ['cut behind an escaped quote', '{"a":"b\\"}', 'a string does not end'],
    ['cut in a literal', '{"a":tru', invalid],
    ['cut in an array', '{"a":[1', 'it ends too early'],
    ['cut behind a value', '{"a":1', 'it ends too early'],
    ['cut behind a comma', '{"a":1,', 'it ends too early'],
    ['text behind it', '{} x', 'Text after the end of the JSON object, at character 3'],
    ['another object behind it', '{}{}', 'Text after the end'],
    ['NUL behind it', '{}\0', 'Text after the end'],
    ['a comma too many', '{"a":1,}', invalid],
    ['a comma too many in an array', '{"a":[1,]}', invalid],
    ['a comma alone', '{,}', invalid],
    ['no comma', '{"a":1 "b":2}', invalid],
    ['no colon', '{"a" 1}', invalid],
    ['a colon in an array', '{"a":[1:2]}', invalid],
    ['brackets that do not match', '{"a":[1}}', invalid],
    ['a key without quotes', '{a:1}', invalid],
    ['a key that is a number', '{1:1}', invalid],
    ['single quotes', "{'a':1}", invalid],
    ['a comment', '{"a":1/**/}', invalid],
    ['a leading zero', '{"a":01}', invalid],
    ['a minus alone', '{"a":-}', invalid],
    ['a minus and a zero and more', '{"a":-01}', invalid],
    ['a plus', '{"a":+1}', invalid],
    ['a number that ends in a point', '{"a":1.}', invalid],
    ['a number that begins with a point', '{"a":.5}', invalid],
    ['an exponent without digits', '{"a":1e}', invalid],
    ['an exponent with a sign and no digits', '{"a":1e+}', invalid],
    ['hexadecimal', '{"a":0x10}', invalid],
    ['digits in groups', '{"a":1_000}', invalid],
    ['NaN', '{"a":NaN}', invalid],
    ['Infinity', '{"a":-Infinity}', invalid],
    ['undefined', '{"a":undefined}', invalid],
    ['a literal in capitals', '{"a":True}', invalid],
    ['a literal with more behind it', '{"a":nulll}', invalid],
    ['a line end in a string', '{"a":"b\nc"}', invalid],
    ['a tab in a string', '{"a":"b\tc"}', invalid],
    ['NUL in a string', '{"a":"\0"}', invalid],
    ['a control character in a key', '{"a\u001F":1}', invalid],
    ['an unknown escape', '{"a":"\\x41"}', invalid],
    ['a cut Unicode escape', '{"a":"\\u00g0"}', invalid],
    ['a wrong escape deep inside', '{"a":[{"b":"\\q"}]}', invalid],
  ])('%s', (_, text, message) => {
    expect(refusal(text)).toContain(message)
  })

  test.each<[string, string]>([
    ['as it is', '{"model":1,"model":2}'],
    ['in another spelling', '{"model":1,"mod\\u0065l":2}'],
    ['both escaped', '{"\\u006dodel":1,"m\\u006fdel":2}'],
    ['escaped quotes and slashes', '{"a\\"\\/":1,"a\\u0022/":2}'],
    ['the empty name', '{"":1,"":2}'],
    ['__proto__', '{"__proto__":1,"\\u005f_proto__":2}'],
    ['far apart', `{"a":1,${Array.from({ length: 500 }, (_, index) => `"k${index}":0`).join()},"a":2}`],
  ])('a member named twice, %s', (_, text) => {
    expect(refusal(text)).toMatch(/^The body names ".*" twice\.$/)
  })

  test.each([
    ['in an object', '{"a":{"b":1,"b":2}}'],
    ['in a list', '{"a":[[{"b":1,"c":{},"b":[]}]]}'],
    ['one of them escaped', '{"a":{"b":1,"\\u0062":2}}'],
    ['beyond ASCII, one of them escaped', `{"a":{"日":1,"\\u65e5":2},"large":"${'x'.repeat(40_000)}"}`],
    ['of many', `{"a":{${Array.from({ length: 100 }, (_, at) => `"k${at}":1`).join(',')},"k5":2}}`],
  ])('a member of an inner object named twice, %s', (_, text) => {
    expect(() => JsonBody.ofBytes(Buffer.from(text))).toThrow(/^The body names ".*" twice\.$/)
  })

  test('the same name in several objects is no repetition', () => {
    expect(JsonBody.read('{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}],"c":{"x":{"y":1},"y":2}}').get('b')).toEqual([{ a: 1 }, { a: 2 }])
  })

  test('a hostile name that stands twice is not repeated at length', () => {
    const name = 'n'.repeat(10_000)
    expect(refusal(`{"${name}":1,"${name}":2}`).length).toBeLessThan(120)
  })
})

describe('read', () => {
  test.each<[string, string, unknown]>([
    ['an empty object', ' { } ', {}],
    ['all white space there is', '\r\n\t {"a"\r\n\t :\r\n\t 1\r\n\t ,"b":[ ] }\n', { a: 1, b: [] }],
    [
      'every kind of value',
      '{"a":null,"b":true,"c":false,"d":"","e":[],"f":{},"g":-0.5e+2}',
      { a: null, b: true, c: false, d: '', e: [], f: {}, g: -50 },
    ],
    [
      'numbers at their edges',
      '{"a":0,"b":-0,"c":0.0,"d":1E5,"e":9007199254740991,"f":1e-400}',
      { a: 0, b: -0, c: 0, d: 1e5, e: 9007199254740991, f: 0 },
    ],
    ['brackets and commas in strings', '{"a":"}],{[","b\\"}":"\\\\"}', { a: '}],{[', 'b"}': '\\' }],
    ['escapes of every kind', '{"\\u0061":"\\"\\\\\\/\\b\\f\\n\\r\\t\\ud83d\\ude00"}', { a: '"\\/\b\f\n\r\t😀' }],
    ['a lone surrogate, escaped', '{"a":"\\ud800"}', { a: '\uD800' }],
    ['line separators, which JSON allows raw', '{"a":"\u2028\u2029\u007F"}', { a: '\u2028\u2029\u007F' }],
    ['the same name at two depths', '{"a":{"a":{"a":1}}}', { a: { a: { a: 1 } } }],
  ])('%s', (_, text, value) => {
    expect(readJsonObject(text)).toEqual(value as never)
    const body = JsonBody.read(text)
    expect(Object.fromEntries(body.keys.map((key) => [key, body.get(key)]))).toEqual(value as never)
  })

  test('an integer beyond a double is a number as a setting of its own, and kept as written in what lies deeper', () => {
    const body = JsonBody.read('{"seed":9007199254740993,"input":{"id":9007199254740993}}')
    expect(body.get('seed')).toBe(9007199254740992)
    expect(body.raw('seed')).toBe('9007199254740993')
    expect(JSON.stringify(body.get('input'))).toBe('{"id":9007199254740993}')
  })

  test('the bounds of integers in a schema, which a double holds, do not limit how long a conversation may be', () => {
    const long = Array.from({ length: JSON_LIMITS.exactNodes }, () => 0)
    const read = (bound: string): JsonBody =>
      JsonBody.read(`{"tools":{"minimum":-${bound},"maximum":${bound}},"messages":${JSON.stringify(long)}}`)
    expect(read('9007199254740991').get('tools')).toEqual({ minimum: -9007199254740991, maximum: 9007199254740991 })
    expect(() => read('9007199254740993')).toThrow('an integer beyond 9007199254740991')
  })

  test('names that objects are born with are ordinary members, and nothing is polluted', () => {
    const body = JsonBody.read('{"__proto__":{"polluted":true},"constructor":1,"toString":null}')
    expect(body.keys).toEqual(['__proto__', 'constructor', 'toString'])
    expect(body.get('__proto__')).toEqual({ polluted: true })
    expect(body.get('constructor')).toBe(1)
    expect(body.get('toString')).toBeNull()
    expect(body.value('toString')).toBeUndefined()
    expect(body.get('hasOwnProperty')).toBeUndefined()
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('null is a value for get and absence for value; what is not there is neither', () => {
    const body = JsonBody.read('{"a":null,"b":0,"c":false,"d":""}')
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => body.get(key))).toEqual([null, 0, false, '', undefined])
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => body.value(key))).toEqual([undefined, 0, false, '', undefined])
    expect([body.has('a'), body.has('e')]).toEqual([true, false])
  })

  test('raw is the text of the value, to the byte', () => {
    const body = JsonBody.read('{ "a" : 1.50E+1 , "b":[ 1 ,2 ], "c":"\\u0061" }')
    expect(['a', 'b', 'c', 'd'].map((key) => body.raw(key))).toEqual(['1.50E+1', '[ 1 ,2 ]', '"\\u0061"', undefined])
  })

  test('every JSON object that there is, in any white space, is read as the standard parser reads it', () => {
    fc.assert(
      fc.property(spacedObject, ({ text, value }) => {
        expect(readJsonObject(text)).toEqual(value as never)
        const body = JsonBody.read(text)
        for (const key of body.keys) expect(body.get(key)).toEqual(value[key] as never)
      }),
    )
  })

  test('any text is read or refused exactly as the standard parser would, but for members named twice', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '"b"',
      '\\',
      '0',
      '1',
      '-',
      '.',
      'e',
      'true',
      'null',
      ' ',
      '\n',
      'u',
    )
    const text = fc.oneof(
      fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
      fc.array(piece, { maxLength: 8 }).map((pieces) => `{"a":${pieces.join('')}}`),
      fc
        .tuple(spacedObject, fc.nat(), piece)
        .map(([{ text }, at, put]) => `${text.slice(0, at % text.length)}${put}${text.slice(at % text.length)}`),
    )
    fc.assert(
      fc.property(text, (text) => {
        const outcome = refusal(text)
        if (outcome.endsWith('twice.')) return
        let parsed: unknown
        try {
          parsed = JSON.parse(text)
        } catch {
          parsed = undefined
        }
        const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
        expect({ text, accepted: outcome === 'accepted' }).toEqual({ text, accepted: isObject })
      }),
      { numRuns: 3000 },
    )
  })
})

describe('limits', () => {
  const nested = (levels: number, open = '[', close = ']', core = ''): string => open.repeat(levels) + core + close.repeat(levels)

  test.each<[string, (levels: number) => string]>([
    ['arrays', (levels) => `{"a":${nested(levels - 1)}}`],
    ['objects', (levels) => `{"a":${nested(levels - 1, '{"a":', '}', '1')}}`],
    ['arrays around a value', (levels) => `{"a":${nested(levels - 1, '[', ']', '1')}}`],
    ['in the last member', (levels) => `{"a":1,"b":[2,{"c":3}],"d":${nested(levels - 1)}}`],
    ['in the last item', (levels) => `{"a":[1,2,${nested(levels - 2)}]}`],
    [
      'both kinds in turn',
      (levels) =>
        `{"a":${Array.from({ length: levels - 1 }, (_, at) => (at % 2 === 0 ? '[' : '{"b":')).join('')}${levels % 2 === 0 ? '' : '0'}${Array.from({ length: levels - 1 }, (_, at) => ((levels - at) % 2 === 0 ? ']' : '}')).join('')}}`,
    ],
  ])('64 levels pass and 65 do not: %s', (_, make) => {
    expect(refusal(make(64))).toBe('accepted')
    expect(refusal(make(65))).toBe('The body is nested deeper than 64 levels.')
  })

  test('closed containers are not depth: a thousand siblings pass', () => {
    expect(refusal(`{"a":[${Array.from({ length: 1000 }, () => '[[]]').join()}]}`)).toBe('accepted')
  })

  test.each([5000, 1_000_000])('%d levels are refused without touching the stack', (levels) => {
    expect(refusal(`{"a":${'['.repeat(levels)}`)).toBe('The body is nested deeper than 64 levels.')
    expect(refusal(`{"a":${'{"a":'.repeat(levels)}`)).toBe('The body is nested deeper than 64 levels.')
  })

  test.each<[string, (values: number) => string]>([
    ['in an array', (values) => `{"messages":[${Array.from({ length: values - 1 }, () => '0').join()}]}`],
    ['beside others', (values) => `{"a":0,"tools":[${Array.from({ length: values - 2 }, () => '"x"').join()}]}`],
  ])('200,000 values pass and one more does not: %s', (_, make) => {
    expect(refusal(make(200_000))).toBe('accepted')
    expect(refusal(make(200_001))).toBe('The body holds more than 200000 values.')
  })

  const {
    fields,
    members,
    containers,
    conversation,
    elements,
    escapes,
    fieldNodes,
    nameCharacters,
    numberCharacters,
    identifierCharacters,
  } = JSON_LIMITS
  /** A name written with an escape, in order to hide it. */
  const spelt = (name: string): string => `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"`
  const named = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"${at}":0`).join()}}`
  test.each<[string, number, (count: number) => string, string]>([
    ['fields', fields, named, `The body has more than ${fields} fields.`],
    ['members of an object', members, (count) => `{"a":[${named(count)}]}`, `An object in the body has more than ${members} members.`],
    [
      'objects and arrays',
      containers,
      (count) => `{"a":[${Array.from({ length: count - 1 }, (_, at) => (at % 2 === 0 ? '{}' : '[]')).join()}]}`,
      `The body holds more than ${containers} objects and arrays.`,
    ],
    [
      'objects and arrays of a conversation',
      conversation,
      (count) => `{"messages":[{"a":[${Array.from({ length: count - 3 }, () => '{}').join()}]}],"tools":[{},{}]}`,
      `The body holds more than ${conversation} objects and arrays.`,
    ],
    [
      'messages',
      elements,
      (count) => `{"messages":[${Array.from({ length: count }, () => '{}').join()}]}`,
      `A list in the body holds more than ${elements} objects and arrays.`,
    ],
    [
      'values of a field',
      fieldNodes,
      (count) => `{"messages":[${'0,'.repeat(fieldNodes)}0],"a":[${Array.from({ length: count - 1 }, () => '"x"').join()}]}`,
      `The field "a" of the body holds more than ${fieldNodes} values.`,
    ],
    [
      'characters of names',
      nameCharacters,
      (count) => `{"a":[{"${'n'.repeat(nameCharacters / 2 - 1)}":0}],"${'b'.repeat(count - nameCharacters / 2)}":0}`,
      `The names of the members in the body have more than ${nameCharacters} characters in all.`,
    ],
    ...['name', 'id', 'call_id', 'tool_call_id', 'tool_use_id'].map((member): [string, number, (count: number) => string, string] => [
      `characters of a ${member}`,
      identifierCharacters,
      (count) => `{"tools":[{"function":{"a":["${'x'.repeat(identifierCharacters + 9)}"],${spelt(member)} : "${'n'.repeat(count)}"}}]}`,
      `The member "${member}" at character ${identifierCharacters + 41} of the body has more than ${identifierCharacters} characters.`,
    ]),
    [
      'characters of numbers',
      numberCharacters,
      (count) =>
        `{"a":[${`1.${'1'.repeat(998)},`.repeat(Math.floor(count / 1000) - 1)}1.${'1'.repeat(498 + (count % 1000))},1.${'1'.repeat(498)}]}`,
      `The numbers in the body have more than ${numberCharacters} characters in all.`,
    ],
    ['digits of a number', 1000, (count) => `{"a":[-1.${'1'.repeat(count - 3)}]}`, 'A number in the body has more than 1000 characters.'],
    [
      'escaped characters',
      escapes,
      (count) => `{"a":"${String.raw`\n`.repeat(count)}"}`,
      `The body holds more than ${escapes} escaped characters.`,
    ],
  ])('as many %s as are allowed pass and one more does not', (_, most, make, sentence) => {
    for (const read of [refusal, (text: string) => refusalOf(() => JsonBody.ofBytes(Buffer.from(text)))]) {
      expect(read(make(most))).toBe('accepted')
      expect(read(make(most + 1))).toBe(sentence)
    }
  })

  test('own limits are kept', () => {
    expect(refusal('{"a":[1]}', { ...JSON_LIMITS, depth: 2, nodes: 2 })).toBe('accepted')
    expect(refusal('{"a":[1]}', { ...JSON_LIMITS, depth: 1, nodes: 2 })).toBe('The body is nested deeper than 1 levels.')
    expect(refusal('{"a":[1]}', { ...JSON_LIMITS, depth: 2, nodes: 1 })).toBe('The body holds more than 1 values.')
  })
})

describe('a large body', () => {
  const padding = `"pad":"${'x'.repeat(40_000)}"`

  test('is parsed by member: a fault in one shows when that one is read', () => {
    const body = JsonBody.read(`{${padding},"good":"\\u0061","bad":"\\x"}`)
    expect(body.get('good')).toBe('a')
    expect(() => body.get('bad')).toThrow(JsonTextError)
  })

  test('names members as they are meant, not as they are spelled', () => {
    const body = JsonBody.read(`{${padding},"mod\\u0065l":"a"}`)
    expect(body.get('model')).toBe('a')
    expect(() => JsonBody.read(`{${padding},"mod\\u0065l":"a","model":"b"}`)).toThrow('The body names "model" twice.')
  })

  test('gives the same value again, parsed once', () => {
    const body = JsonBody.read(`{${padding},"list":[1,{"a":2}]}`)
    const first = body.get('list')
    expect(first).toEqual([1, { a: 2 }])
    expect(body.get('list')).toBe(first as never)
    expect(body.with({ pad: null }).get('list')).toBe(first as never)
  })
})

describe('time is linear', () => {
  const scanMs = (text: string): number => {
    const started = performance.now()
    JsonBody.read(text, UNLIMITED)
    return performance.now() - started
  }
  // Quadratic time would need minutes for these; the bound leaves room for a slow machine.
  test.each<[string, string]>([
    ['escaped quotes', `{"a":"${'\\"'.repeat(1_000_001)}"}`],
    ['backslashes', `{"a":"${'\\\\'.repeat(2_000_000)}"}`],
    ['backslashes before many quotes', `{"a":"${`${'\\'.repeat(2001)}"`.repeat(2000)}"}`],
    ['one long string', `{"a":"${'x'.repeat(4_000_000)}"}`],
    ['white space', `{"a":${' '.repeat(4_000_000)}1}`],
    ['long numbers', `{"a":[${`${'1'.repeat(1000)},`.repeat(1000)}0]}`],
    ['many members', `{${Array.from({ length: 100_000 }, (_, at) => `"${at}":""`).join()}}`],
  ])('%s', (_, text) => {
    expect(scanMs(text)).toBeLessThan(patient(2000))
  })

  test('many members are replaced and removed in one pass', () => {
    const body = JsonBody.read(`{${Array.from({ length: 50_000 }, (_, at) => `"${at}":${at}`).join()}}`, UNLIMITED)
    const started = performance.now()
    const changes = Object.fromEntries(body.keys.map((key, at) => [key, at % 2 === 0 ? null : 'true']))
    expect(body.with(changes).keys).toHaveLength(25_000)
    expect(performance.now() - started).toBeLessThan(patient(2000))
  })
})

describe('a text that may be the body with another string', () => {
  test.each([
    ['{ "n" : 1, "a" : "old", "b":[2] }', '{ "n" : 1, "a" : "new/one", "b":[2] }', '"new/one"'],
    ['{"a":{"b":1}}', '{"a":"x"}', '"x"'],
    ['{"a":"x"}', '{"a":"x"}', '"x"'],
    ['{"a":"x","b":1}', '{"a":"y","b":2}', undefined],
    ['{"a":"x","b":1}', '{"a":"y"}', undefined],
    ['{"n":1,"a":"x"}', '{"n":2,"a":"x"}', undefined],
    ['{"a":"x"}', '{"a":"y","b":1}', undefined],
    ['{"a":"x"}', '{"a":"y","b":"z"}', undefined],
    ['{"a":"x"}', '{"a":1}', undefined],
    [String.raw`{"a":"x"}`, String.raw`{"a":"\"}`, undefined],
    ['{"b":"x"}', '{"a":"x"}', undefined],
    // The parts before and behind the value may not overlap.
    ['{"a":""}', '{"a":"}', undefined],
  ])('%s beside %s', (body, text, put) => {
    expect(JsonBody.read(body).stringPutIn('a', text)).toBe(put)
  })

  test('property: is the body with that string, to the byte, or is not taken for it', () => {
    const members = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('', 'x', '"', '\\', ',"b":1', 1, null, []))
    const text = members.map((value) => JSON.stringify(value))
    fc.assert(
      fc.property(text, text, (one, other) => {
        const body = JsonBody.read(one)
        const put = body.stringPutIn('a', other)
        const value = JsonBody.read(other).raw('a') ?? null
        const isLike = body.has('a') && value !== null && /^"[^"\\]*"$/.test(value) && body.textWith({ a: value }) === other
        expect(put).toBe(isLike ? (value ?? '') : undefined)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('with', () => {
  test.each<[string, string, JsonChanges, string]>([
    ['replaces in place', '{ "a" : 1 , "b" : 2 }', { a: '9' }, '{ "a" : 9 , "b" : 2 }'],
    ['keeps the spelling of the name', '{"\\u0061":1}', { a: '9' }, '{"\\u0061":9}'],
    ['adds at the end', '{ "a":1 }', { b: '2', c: '[3]' }, '{ "a":1,"b":2,"c":[3] }'],
    ['adds to an empty object', ' { } ', { a: '1', b: '2' }, ' {"a":1,"b":2 } '],
    ['adds a name that needs escapes', '{}', { 'a"\n\\': '1' }, '{"a\\"\\n\\\\":1}'],
    ['removes the first', '{ "a":1, "b":2, "c":3 }', { a: null }, '{ "b":2, "c":3 }'],
    ['removes one in the middle', '{ "a":1, "b":2, "c":3 }', { b: null }, '{ "a":1, "c":3 }'],
    ['removes the last', '{ "a":1, "b":2, "c":3 }', { c: null }, '{ "a":1, "b":2 }'],
    ['removes the last two', '{"a":1,"b":2,"c":3}', { b: null, c: null }, '{"a":1}'],
    ['removes all but the middle', '{"a":1,"b":2,"c":3}', { a: null, c: null }, '{"b":2}'],
    ['removes all', '{ "a":1, "b":2 }', { a: null, b: null }, '{  }'],
    ['removes the only one', '{"a":1}', { a: null }, '{}'],
    ['removes all and adds', '{"a":1,"b":2}', { a: null, b: null, c: '3' }, '{"c":3}'],
    ['removes the last and adds', '{"a":1,"b":2}', { b: null, c: '3' }, '{"a":1,"c":3}'],
    ['replaces by a value with commas and removes the next', '{"a":1,"b":2}', { a: '[1,2]', b: null }, '{"a":[1,2]}'],
    ['removes past a string with commas', '{"a":",,","b":","}', { b: null }, '{"a":",,"}'],
    ['removes what is not there', '{"a":1}', { b: null }, '{"a":1}'],
  ])('%s', (_, text, changes, expected) => {
    const body = JsonBody.read(text)
    expect(body.with(changes).text).toBe(expected)
    expect(body.textWith(changes)).toBe(expected)
    expect(body.text).toBe(text)
  })

  test('without an effect is the same body', () => {
    const body = JsonBody.read('{"a":1}')
    expect(body.with({})).toBe(body)
    expect(body.with({ b: null })).toBe(body)
    expect(body.with({ a: '1' })).toBe(body)
  })

  test('reads what was changed anew', () => {
    const body = JsonBody.read('{"a":1,"b":{"c":2}}')
    const changed = body.with({ a: '"one"', b: null, d: '[4]' })
    expect(['a', 'b', 'd'].map((key) => changed.get(key))).toEqual(['one', undefined, [4]])
    expect(body.get('a')).toBe(1)
  })

  test('is the same change to the object: values, order, and every byte of what was not named', () => {
    fc.assert(
      fc.property(spacedObject, changesOf, ({ text, value }, picks) => {
        const changes: Record<string, string | null> = {}
        const names = Object.keys(value)
        for (const { at, name, to } of picks) {
          const key = name ?? names[at % Math.max(1, names.length)]
          if (key !== undefined) changes[key] = to === undefined ? null : JSON.stringify(to)
        }
        const body = JsonBody.read(text)
        const changed = body.with(changes)

        const expected = new Map(Object.entries(value))
        for (const [key, to] of Object.entries(changes)) {
          if (to === null) expected.delete(key)
          else expected.set(key, JSON.parse(to) as unknown)
        }
        // Integer-like names come first in an object, so the order is compared only where the text keeps it.
        const kept = body.keys.filter((key) => changes[key] !== null)
        const added = Object.keys(changes).filter((key) => changes[key] !== null && !body.has(key))
        expect(changed.keys).toEqual([...kept, ...added])
        expect(JSON.parse(changed.text)).toEqual(Object.fromEntries(expected))
        for (const key of expected.keys()) expect(changed.get(key)).toEqual(expected.get(key) as never)
        for (const key of body.keys) if (!(key in changes)) expect(changed.raw(key)).toBe(body.raw(key) as string)
        expect(body.textWith(changes)).toBe(changed.text)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('the elements of an array', () => {
  const slices = (text: string): string[] => scanElements(text).map(({ start, end }) => text.slice(start, end))

  test.each<[string, string, string[]]>([
    ['none', '[]', []],
    ['none, in white space', ' [ \n\t ] ', []],
    ['numbers as they are spelled', '[12345678901234567890,1.0,-0.0e+1]', ['12345678901234567890', '1.0', '-0.0e+1']],
    ['nested arrays', '[[1,[2,[]]],[],[[3]]]', ['[1,[2,[]]]', '[]', '[[3]]']],
    ['objects', '[{"a":[1,{"b":2}]},{ }]', ['{"a":[1,{"b":2}]}', '{ }']],
    ['brackets, commas and quotes in strings', '["],[","\\"]","\\\\",{"]":"["}]', ['"],["', '"\\"]"', '"\\\\"', '{"]":"["}']],
    ['white space around them, and in them', '\r\n[ 1 ,\t[ 2 , 3 ]\n, "a b" ] ', ['1', '[ 2 , 3 ]', '"a b"']],
    ['literals', '[null,true,false]', ['null', 'true', 'false']],
  ])('%s', (_, text, expected) => {
    expect(slices(text)).toEqual(expected)
  })

  test.each(['', '{}', '1', '[', '[1', '[1,', '[1,]', '[,]', '[1 2]', '[1}', '[] x', '["a]'])('refused: %s', (text) => {
    expect(() => scanElements(text)).toThrow(JsonTextError)
  })

  test('mean what the standard parser finds', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 3 })), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(slices(text).map((raw) => JSON.parse(raw) as unknown)).toEqual(JSON.parse(text) as unknown[])
      }),
    )
  })

  test('are found in linear time', () => {
    const started = performance.now()
    expect(scanElements(`[${'[1,"]"],'.repeat(300_000)}{}]`)).toHaveLength(300_001)
    expect(performance.now() - started).toBeLessThan(patient(2000))
  })

  test.each<[string, string, Record<number, string | null>, string]>([
    ['none changed', ' [ 1.0 , "\\u0061" ] ', {}, ' [ 1.0 , "\\u0061" ] '],
    ['one replaced', '[ 1.0 , 2 , 3 ]', { 1: '[9]' }, '[ 1.0 , [9] , 3 ]'],
    ['the first removed', '[ 1.0, 2, 3 ]', { 0: null }, '[ 2, 3 ]'],
    ['one in the middle removed', '[ 1.0, 2, 3 ]', { 1: null }, '[ 1.0, 3 ]'],
    ['the last two removed', '[ ",", 2, 3 ]', { 1: null, 2: null }, '[ "," ]'],
    ['one replaced by text with commas, the last removed', '[1, 2]', { 0: '",,"', 1: null }, '[",,"]'],
    ['all removed', '[1,2]', { 0: null, 1: null }, '[]'],
  ])('edited: %s', (_, text, changes, expected) => {
    expect(editElements(text, (raw, index) => (index in changes ? (changes[index] ?? null) : raw))).toBe(expected)
  })

  test('edited in any way are what the same edit makes of the values', () => {
    const edits = fc.array(fc.tuple(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('keep', 'drop', 'put')))
    fc.assert(
      fc.property(edits, fc.constantFrom(undefined, 1, '\t'), (list, indent) => {
        const text = JSON.stringify(
          list.map(([value]) => value),
          null,
          indent,
        )
        const edited = editElements(text, (raw, index) => ({ keep: raw, drop: null, put: '[",",0]' })[list[index]?.[1] ?? 'keep'] ?? null)
        const expected = list.flatMap(([value, edit]) => (edit === 'drop' ? [] : [edit === 'put' ? [',', 0] : value]))
        expect(JSON.parse(edited)).toEqual(JSON.parse(JSON.stringify(expected)))
      }),
    )
  })
})

describe('an object inside a body', () => {
  test('has members changed in place, and no other byte', () => {
    expect(editMembers('{ "n":1.0, "a" : 1 , "b":"\\u0061" }', { a: '2', c: '3' })).toBe('{ "n":1.0, "a" : 2 , "b":"\\u0061","c":3 }')
  })

  test('may name a member twice: the last counts, and a change is made to both', () => {
    const text = '{"a":1,"b":2,"a":3}'
    expect([rawMember(text, 'a'), rawMember(text, 'c')]).toEqual(['3', undefined])
    expect(editMembers(text, { a: '9', c: '4' })).toBe('{"a":9,"b":2,"a":9,"c":4}')
    expect(editMembers(text, { a: null })).toBe('{"b":2}')
  })
})

/** A JSON object with one of the texts for it: white space anywhere, names with or without escapes. */
const spacedObject: fc.Arbitrary<{ text: string; value: Record<string, unknown> }> = fc
  .record({
    members: fc.uniqueArray(
      fc.record({
        key: fc.oneof(fc.string({ unit: 'binary', maxLength: 4 }), fc.constantFrom('model', 'a,b', '"}', '__proto__x', '\\', '1', '0')),
        value: fc.jsonValue({ maxDepth: 3 }),
      }),
      { selector: ({ key }) => key, maxLength: 6 },
    ),
    spaces: fc.array(fc.constantFrom('', '', ' ', '\n\t', ' \r\n'), { minLength: 8, maxLength: 8 }),
    indent: fc.constantFrom(undefined, 1, '\t'),
    escaped: fc.boolean(),
  })
  .map(({ members, spaces, indent, escaped }) => {
    let used = 0
    const space = (): string => spaces[(used += 1) % spaces.length] ?? ''
    const name = (key: string): string =>
      escaped
        ? `"${Array.from({ length: key.length }, (_, at) => `\\u${key.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
        : JSON.stringify(key)
    const body = members
      .map(({ key, value }) => `${space()}${name(key)}${space()}:${space()}${JSON.stringify(value, null, indent)}${space()}`)
      .join(',')
    return {
      text: `${space()}{${body === '' ? space() : body}}${space()}`,
      // The number that the parser makes of it, so that -0 and the like match the text.
      value: Object.fromEntries(members.map(({ key, value }) => [key, JSON.parse(JSON.stringify(value)) as unknown])),
    }
  })

const changesOf = fc.array(
  fc.record({
    at: fc.nat(),
    name: fc.option(fc.string({ maxLength: 3 }), { nil: undefined }),
    to: fc.option(fc.jsonValue({ maxDepth: 2 }), { nil: undefined }),
  }),
  { maxLength: 6 },
)

describe('the text in which names are looked for', () => {
  const TEXTS = [
    'content',
    'text',
    'input',
    'output',
    'thinking',
    'reasoning',
    'reasoning_content',
    'instructions',
    'system',
    'description',
  ]

  /** The value without the ends of long texts: each string that names nothing is the beginning that both have. */
  const sameBeginnings = (found: unknown, whole: unknown, name: string | null): void => {
    if (typeof whole === 'string' && typeof found === 'string') {
      if (name !== null && TEXTS.includes(name)) expect(whole.startsWith(found.replace(/\uFFFD+$/, ''))).toBe(true)
      else expect(found).toBe(whole)
    } else if (Array.isArray(whole) && Array.isArray(found)) {
      expect(found).toHaveLength(whole.length)
      whole.forEach((element, index) => sameBeginnings(found[index], element, null))
    } else if (typeof whole === 'object' && whole !== null && typeof found === 'object' && found !== null) {
      expect(Object.keys(found)).toEqual(Object.keys(whole))
      for (const [key, value] of Object.entries(whole)) sameBeginnings(Reflect.get(found, key), value, key)
    } else expect(found).toBe(whole)
  }

  const word = fc.oneof(
    fc.constantFrom('\\', '"', '\n', 'é', '你', '\u{1F600}', '\u0001', 'plain words, '),
    fc.string({ unit: 'grapheme' }),
  )
  const long = fc.tuple(word, word, fc.integer({ min: 0, max: 90 })).map(([first, second, count]) => first + second.repeat(count))
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      long,
      fc.boolean(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...TEXTS, 'id', 'data', '"content"', 'Content'), tie('value'), { maxKeys: 4 }),
    ),
  })).value

  test('property: is well-formed JSON of the same members and values, where only long words of a model end early', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...TEXTS, 'messages', 'model'), value, { maxKeys: 4 }), fc.boolean(), (members, spaced) => {
        const text = JSON.stringify(members, null, spaced ? 1 : 0)
        for (const body of [JsonBody.read(text), atOnce(JsonBody.readingBytes(Buffer.from(text)))]) {
          // The form of the octets is told by what it holds.
          const asText = (held: string): string => (body.held === text ? held : Buffer.from(held, 'latin1').toString())
          sameBeginnings(JSON.parse(asText(body.searchable)), members, null)
          for (const key of body.keys) {
            expect(body.searchable).toContain(body.rawSearchable(key) ?? 'nothing')
            sameBeginnings({ [key]: JSON.parse(asText(body.rawSearchable(key) ?? '')) as unknown }, { [key]: members[key] }, null)
            expect(body.sizeOf(key)).toBe(body.rawHeld(key)?.length ?? -1)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  test('has the beginnings of a long conversation, and all of what is no text', () => {
    const message = { role: 'user', content: 'words '.repeat(500), file_id: 'f'.repeat(500) }
    const body = JsonBody.read(JSON.stringify({ model: 'm', messages: Array.from({ length: 20 }, () => message) }))
    expect(body.searchable.length).toBeLessThan(body.held.length - 20 * 2900)
    expect(body.searchable.split(message.file_id)).toHaveLength(21)
    expect(body.rawSearchable('model')).toBe('"m"')
    expect(body.rawSearchable('nothing')).toBeUndefined()
  })
})

describe('a large body that is sent on', () => {
  const LARGE = 40_000
  const wire = (text: string, changes: JsonChanges): string | Uint8Array => JsonBody.ofBytes(Buffer.from(text)).wireWith(changes)
  const asText = (sent: string | Uint8Array): string =>
    typeof sent === 'string' ? sent : new TextDecoder('utf-8', { fatal: true }).decode(sent)

  test('property: is byte for byte the text with its changes, whatever stands around the large member', () => {
    const small = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(
        small,
        small,
        fc.string({ unit: 'grapheme', minLength: 1 }),
        small,
        fc.boolean(),
        (before, after, piece, put, removed) => {
          const [first, large, last] = [before, piece.repeat(LARGE), after].map((text) => JSON.stringify(text))
          const text = `{ "e":${first},"model":"m","messages" : [${large}] ,"stop":${last},"gone":1}`
          const changes = { model: JSON.stringify(put), added: '"ü"', ...(removed ? { gone: null, stop: null } : {}) }
          const sent = wire(text, changes)
          expect(sent).toBeInstanceOf(Uint8Array)
          expect(asText(sent)).toBe(JsonBody.read(text).textWith(changes))
        },
      ),
      { numRuns: 30 },
    )
  })

  test('is encoded where nothing large stays as it came: a small body, a changed member, a second sending, no bytes at hand', () => {
    const large = JSON.stringify('é'.repeat(LARGE))
    const text = `{"model":"m","messages":${large}}`
    expect(wire('{"model":"m"}', { model: '"n"' })).toBe('{"model":"n"}')
    expect(wire(text, { messages: '[]' })).toBe('{"model":"m","messages":[]}')
    expect(JsonBody.read(text).wireWith({ model: '"n"' })).toBe(`{"model":"n","messages":${large}}`)
    const body = JsonBody.ofBytes(Buffer.from(text))
    expect(asText(body.wireWith({ model: '"n"' }))).toBe(`{"model":"n","messages":${large}}`)
    expect(body.wireWith({ model: '"n"' })).toBe(`{"model":"n","messages":${large}}`)
  })

  test('is copied from its bytes in more steps where it is larger, though none of its members is large, and no large change is put into its text', () => {
    const stepsFor = (members: number, put: string): number => {
      const text = JSON.stringify(Object.fromEntries(Array.from({ length: members }, (_, at) => [`f${at}`, 'é'.repeat(10_000)])))
      const changes = { f1: put, f2: null, added: put }
      const work = JsonBody.ofBytes(Buffer.from(text)).writingWire(changes)
      for (let steps = 0; ; steps += 1) {
        const { done, value } = work.next()
        if (done !== true) continue
        expect(value).toBeInstanceOf(Uint8Array)
        expect(asText(value) === JsonBody.read(text).textWith(changes)).toBe(true)
        return steps
      }
    }
    expect(stepsFor(10, '1')).toBe(0)
    expect(stepsFor(800, '1')).toBeGreaterThan(stepsFor(400, '1') + 1)
    const large = JSON.stringify('ü'.repeat(LARGE))
    expect(stepsFor(10, large)).toBe(4)
  })

  test('property: read from its bytes it is the body that its text is, whatever its names, and so are its changes', () => {
    const name = fc.string({ unit: 'grapheme', maxLength: 3 })
    const value = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(fc.dictionary(name, value), name, value, fc.boolean(), (members, changed, put, spelled) => {
        const given = JSON.stringify({ ...members, large: 'ä'.repeat(LARGE) })
        const text = spelled ? given.replaceAll('é', '\\u00e9') : given
        const [bytes, plain] = [JsonBody.ofBytes(Buffer.from(text)), JsonBody.read(text)]
        const changes = { [changed]: JSON.stringify(put) }
        const pairs = [
          [bytes, plain],
          [bytes.with(changes), plain.with(changes)],
        ] as const
        for (const [read, expected] of pairs) {
          expect(read.keys).toEqual(expected.keys)
          expect(read.keys.map((key) => [read.raw(key), read.get(key)])).toEqual(
            expected.keys.map((key) => [expected.raw(key), expected.get(key)]),
          )
          expect(read.text).toBe(expected.text)
          expect(read.byteLength).toBe(expected.byteLength)
          expect(read.textWith(changes)).toBe(expected.textWith(changes))
        }
        expect(asText(bytes.wireWith(changes))).toBe(plain.textWith(changes))
      }),
      { numRuns: 100 },
    )
  })

  test.each([
    ['written out, and escaped', '"é":1,"\\u00e9":2'],
    ['twice as it is', '"日":1,"日":2'],
    ['in ASCII', '"model":1,"m\\u006fdel":2'],
  ])('a name that stands twice beside a large member is refused: %s', (_, members) => {
    expect(() => JsonBody.ofBytes(Buffer.from(`{${members},"large":"${'a'.repeat(LARGE)}"}`))).toThrow('twice')
  })

  test('names that differ as text stay two, though the bytes of one read like the other', () => {
    const body = JsonBody.ofBytes(Buffer.from(`{"é":1,"\\u00c3\\u00a9":2,"large":"${'a'.repeat(LARGE)}"}`))
    expect([body.get('é'), body.get('Ã©')]).toEqual([1, 2])
  })

  test('a text of the client that reads like our mark is not taken for it', () => {
    const text = `{"x":"\\u0000value","messages":"${'a'.repeat(LARGE)}"}`
    expect(asText(wire(text, {}))).toBe(text)
  })
})
