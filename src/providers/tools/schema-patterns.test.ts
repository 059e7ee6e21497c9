import { describe, expect, test } from 'bun:test'

import { threadCpu } from '../../../test/support/thread-cpu.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { type PatternForm, withPatternsInWords } from './schema-patterns.ts'

const text = (pattern: string): JsonObject => ({ type: 'object', properties: { a: { type: 'string', pattern } } })

const isTaken = (pattern: string, form: PatternForm): boolean => {
  const schema = text(pattern)
  return withPatternsInWords(schema, form) === schema
}

describe('a pattern that the provider compiles stays', () => {
  test.each<[PatternForm, string]>([
    ['python', '^[a-z0-9_-]{1,64}$'],
    ['python', String.raw`^[\w-]+@[\w.-]+\.\w{2,}$`],
    ['python', String.raw`^(?!\.\.)(?:a|b)+(c)\1$`],
    ['python', String.raw`[^\]\[\\"]`],
    ['python', String.raw`\x41\u0041\0`],
    ['python', String.raw`[-\w]`],
    ['python', String.raw`(?i)^\A[a-z]+\Z`],
    ['python', String.raw`(?P<year>\d{4})-(?P<month>\d{2})(?i:x)\1`],
    ['python', '(?<=ab)c(?<!d)e'],
    ['without-lookaround', String.raw`^\d{4}-\d{2}$`],
    ['grammar', '^(?:[a-z]+|[0-9]{2})$'],
    ['grammar', String.raw`^a\.b\*$`],
    ['any', String.raw`\p{Cc}`],
  ])('%s: %s', (form, pattern) => {
    expect(isTaken(pattern, form)).toBe(true)
  })
})

describe('a pattern that the provider refuses is told in words', () => {
  test.each<[PatternForm, string]>([
    ['python', String.raw`^(?!__.*__$)[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}"\\./[\]]{1,200}$`],
    ['python', String.raw`\p{L}`],
    ['python', String.raw`\u{1F600}`],
    ['python', String.raw`(?<year>\d{4})`],
    ['python', '(?<=a+)b'],
    ['python', String.raw`\cA`],
    ['python', '[^]'],
    ['python', '[]a]'],
    ['python', String.raw`[\w-.]`],
    ['python', String.raw`[+-\d]`],
    ['python', '(?L)a'],
    ['python', '(?P<a>x)(?P<a>y)'],
    ['python', String.raw`\8`],
    ['python', String.raw`[\777]`],
    ['without-lookaround', String.raw`a\Z`],
    ['without-lookaround', '^(?!a)b$'],
    ['without-lookaround', '(?<=a)b'],
    ['without-lookaround', String.raw`^[^\0]+$`],
    ['grammar', 'abc'],
    ['grammar', String.raw`^\d+$`],
    ['grammar', String.raw`^[\w-]+$`],
    ['grammar', '^(?!a)b$'],
  ])('%s: %s', (form, pattern) => {
    expect(isTaken(pattern, form)).toBe(false)
  })

  test('beside the description that was there, wherever it stands', () => {
    const schema = {
      type: 'object',
      $defs: { name: { type: 'string', pattern: String.raw`\p{L}`, description: 'A name.', maxLength: 9 } },
      properties: {
        a: { anyOf: [{ type: 'array', items: { type: 'string', pattern: String.raw`\p{Lu}` } }] },
        pattern: { type: 'string' },
      },
    }
    expect(withPatternsInWords(schema, 'python')).toEqual({
      type: 'object',
      $defs: { name: { type: 'string', description: 'A name.\n(pattern: "\\\\p{L}")', maxLength: 9 } },
      properties: {
        a: { anyOf: [{ type: 'array', items: { type: 'string', description: '(pattern: "\\\\p{Lu}")' } }] },
        pattern: { type: 'string' },
      },
    })
  })

  test('what is data stays as it is', () => {
    const schema = {
      type: 'object',
      properties: { a: { default: { pattern: String.raw`\p{L}` }, enum: [{ pattern: String.raw`\p{L}` }] } },
    }
    expect(withPatternsInWords(schema, 'python')).toBe(schema)
  })

  test('an object whose names had to match it is opened, so that it may have any', () => {
    const patternProperties = { [String.raw`^\p{L}+$`]: { type: 'string' } }
    expect(withPatternsInWords({ type: 'object', patternProperties, additionalProperties: false }, 'python')).toEqual({
      type: 'object',
      description: `(patternProperties: ${JSON.stringify(patternProperties)})`,
    })
  })

  test('a condition is told as a whole, since without its pattern it would hold for everything', () => {
    const condition = { properties: { a: { pattern: String.raw`\p{L}` } } }
    const schema = { type: 'object', not: condition, if: condition, else: { required: ['c'] } }
    expect(withPatternsInWords(schema, 'python')).toEqual({
      type: 'object',
      description: `(not: ${JSON.stringify(condition)}, if: ${JSON.stringify(condition)}, else: {"required":["c"]})`,
    })
  })

  test('alternatives of which exactly one had to hold may all hold without it', () => {
    const oneOf = [
      { type: 'string', pattern: String.raw`\p{Lu}` },
      { type: 'string', maxLength: 3 },
    ]
    expect(Object.keys(withPatternsInWords({ oneOf }, 'python'))).toEqual(['anyOf'])
    expect(withPatternsInWords({ oneOf: [{ type: 'null' }] }, 'python')).toEqual({ oneOf: [{ type: 'null' }] })
  })

  test('a pattern too long to be said is left out', () => {
    expect(withPatternsInWords({ type: 'string', pattern: 'a'.repeat(9000) }, 'python')).toEqual({ type: 'string' })
  })
})

test('a pattern of many sets that begin with a hyphen takes no longer than another', () => {
  const ms = (pattern: string): number => {
    const schemas = Array.from({ length: 50 }, () => text(pattern))
    const from = threadCpu()
    for (const schema of schemas) withPatternsInWords(schema, 'python')
    return (threadCpu() - from) / 1000
  }
  const sets = (set: string): string => set.repeat(1900) + String.raw`\p{L}`
  ms(sets('[ba]'))
  expect(ms(sets('[-a]'))).toBeLessThan(20 * ms(sets('[ba]')) + 50)
})
