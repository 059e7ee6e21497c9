import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { createStreamedArguments } from './streamed-arguments.ts'

const assemble = (...pieces: readonly unknown[]): unknown => {
  const args = createStreamedArguments()
  return pieces.every((piece) => args.add([piece])) ? JSON.parse(args.json()) : null
}

/** A value as Google streams it: each leaf at its path, strings in pieces of which the last one ends the string. */
const piecesOf = (value: unknown, path: string, cut: number): object[] => {
  if (Array.isArray(value)) return value.flatMap((entry, index) => piecesOf(entry, `${path}[${index}]`, cut))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, entry]) => piecesOf(entry, `${path}${stepOf(name)}`, cut))
  if (typeof value === 'string')
    return [
      { jsonPath: path, stringValue: value.slice(0, cut), willContinue: true },
      { jsonPath: path, stringValue: value.slice(cut), willContinue: true },
      { jsonPath: path, stringValue: '' },
    ]
  if (typeof value === 'number') return [{ jsonPath: path, numberValue: value }]
  return [typeof value === 'boolean' ? { jsonPath: path, boolValue: value } : { jsonPath: path, nullValue: 'NULL_VALUE' }]
}

const stepOf = (name: string): string => (/^[a-z]\w*$/i.test(name) ? `.${name}` : `['${name.replaceAll(/['\\]/g, '\\$&')}']`)

const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x || 0),
  fc.boolean(),
  fc.constant(null),
)
const name = fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), fc.constantFrom('__proto__', 'constructor', 'a.b', "it's", 'x[0]', '$'))
const { object } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ maxDepth: 3, depthIdentifier: 'json' }, leaf, tie('object'), fc.array(tie('value'), { minLength: 1, maxLength: 3 })),
  object: fc.dictionary(name, tie('value'), { minKeys: 1, maxKeys: 3, noNullPrototype: false, depthIdentifier: 'json' }),
}))

test('arguments that are streamed leaf by leaf are assembled', () => {
  fc.assert(
    fc.property(object, fc.nat(5), (args, cut) => {
      const json = JSON.stringify(args)
      const reported = createStreamedArguments()
      for (const piece of piecesOf(JSON.parse(json), '$', cut)) expect(reported.add([piece])).toBe(true)
      expect(JSON.stringify(JSON.parse(reported.json()))).toBe(json)
    }),
  )
})

test('a string that is sent again replaces the one before it', () => {
  const first = { jsonPath: '$.a', stringValue: 'one' }
  expect(assemble(first, { jsonPath: '$.a', stringValue: 'two' })).toEqual({ a: 'two' })
  expect(assemble({ ...first, willContinue: true }, { jsonPath: '$.a', stringValue: 'two' })).toEqual({ a: 'onetwo' })
})

describe('what has no place is refused, and takes neither memory nor time', () => {
  test.each([
    ['no path', { stringValue: 'a' }],
    ['no value', { jsonPath: '$.a' }],
    ['the root', { jsonPath: '$', stringValue: 'a' }],
    ['a wildcard', { jsonPath: '$..a', stringValue: 'a' }],
    ['a far index', { jsonPath: '$.a[999999999]', stringValue: 'a' }],
    ['a path without an end', { jsonPath: `$${'.a'.repeat(100_000)}`, stringValue: 'a' }],
    ['an index of an object', { jsonPath: '$[0]', stringValue: 'a' }],
    ['what is no object', 7],
  ])('%s', (_, piece) => {
    expect(assemble(piece)).toBeNull()
  })

  test('a place inside a text', () => {
    expect(assemble({ jsonPath: '$.a', stringValue: 'x' }, { jsonPath: '$.a.b', stringValue: 'y' })).toBeNull()
  })
})
