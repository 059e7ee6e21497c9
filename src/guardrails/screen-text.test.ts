import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import type { BuiltinSlug, FilterAction } from '../contract/guardrail.ts'
import { builtinFilter, customFilter, type Filter } from './filter.ts'
import { jsonText, plainText } from './held-text.ts'
import { createTextScreen } from './screen-text.ts'

const origin = { guardrailId: 'guardrail-1', scope: 'api-key' } as const
const builtin = (slug: BuiltinSlug, action: FilterAction = 'redact'): Filter =>
  builtinFilter({ slug, action, side: 'both', scanScope: 'all_messages' }, origin)
const custom = (pattern: string, action: FilterAction = 'redact', label: string | null = null): Filter =>
  customFilter({ pattern, action, label, side: 'both' }, origin)

/** The text that was passed on after each piece, and at the end. */
const pass = (filters: readonly Filter[], pieces: readonly string[], held = plainText) => {
  const found: string[] = []
  const screen = createTextScreen(filters, held(), (filter) => found.push(filter.label))
  const out = pieces.map((piece) => screen.push(piece))
  return { out: [...out, screen.flush()], text: [...out, ''].join(''), found }
}
const through = (filters: readonly Filter[], pieces: readonly string[], held = plainText): string =>
  pass(filters, pieces, held).out.join('')

const EMAIL = [builtin('email')]
const cut = (text: string, cuts: readonly number[]): string[] => {
  const edges = [0, ...cuts.map((at) => at % (text.length + 1)).toSorted((left, right) => left - right), text.length]
  return edges.slice(1).map((end, at) => text.slice(edges[at], end))
}

describe('a text in pieces', () => {
  const samples = ['mail jane@example.com', 'card 4111 1111 1111 1111', '415-555-2671', '10.0.0.1', 'PROJ-12', 'and so on. ']
  const filters = [builtin('email'), builtin('credit-card'), builtin('phone'), builtin('ip-address'), custom('PROJ-\\d+')]
  const text = fc.array(fc.constantFrom(...samples), { maxLength: 6 }).map((parts) => parts.join(' '))

  test('goes on as it would in one piece, wherever it is cut', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 12 }), (given, cuts) => {
        expect(through(filters, cut(given, cuts))).toBe(through(filters, [given]))
      }),
      { numRuns: 500 },
    )
  })

  test('lets nothing of a match out before it is known', () => {
    const { out } = pass(EMAIL, [...'to jane@example.com, soon'])
    expect(out.join('')).toBe('to [EMAIL], soon')
    expect(out.filter((piece) => piece.includes('j') || piece.includes('@'))).toEqual([])
  })

  test('holds back the word that may become an address, and no more', () => {
    const { out } = pass(EMAIL, ['Hello there wor', 'ld, all ', 'is well'])
    expect(out).toEqual(['Hello there ', 'world, all ', 'is ', 'well'])
  })

  test('is not held at all where it is only flagged', () => {
    const { out, found } = pass([builtin('email', 'flag')], ['ja', 'ne@example', '.com'])
    expect(out).toEqual(['ja', 'ne@example', '.com', ''])
    expect(found).toContain('[EMAIL]')
  })

  test('never parts the halves of a character', () => {
    for (const held of [plainText, jsonText]) {
      const { out } = pass([custom('\\ude00.*x')], [...'a😀b😀'].join('').split(''), held)
      expect(out.join('')).toBe('a😀b😀')
      expect(out.every((piece) => piece.isWellFormed())).toBe(true)
    }
  })

  test('never waits for more than 256 units', () => {
    const screen = createTextScreen([custom('x.*y')], plainText(), () => {})
    let out = ''
    for (let at = 1; at <= 2000; at += 1) {
      out += screen.push('x')
      expect(at - out.length).toBeLessThanOrEqual(256)
    }
  })

  test('what is longer than is held is still found, and its rest replaced', () => {
    const { out, found } = pass([custom('<[^>]*>', 'block')], ['<', ...Array.from({ length: 100 }, () => 'secret '), '> end'])
    expect(found).toContain('[BLOCKED]')
    expect(out.at(-1)).toBe('')
    const redacted = through([custom('<[^>]*>')], ['<', ...Array.from({ length: 100 }, () => 'secret '), '> end'])
    expect(redacted).toEndWith('[REDACTED] end')
    expect(redacted).not.toContain('>')
  })

  test('a private key of any length has one placeholder', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${'MIIEpAIBAAKCAQEA7bqMIIEpAIBAAKCAQEA7bq\n'.repeat(40)}-----END PRIVATE KEY-----`
    expect(through([builtin('secrets')], cut(`See ${key} there`, [10, 50, 200, 500, 900, 1300]))).toBe('See [SECRET] there')
  })
})

describe('filters that find the same place', () => {
  test('leave one placeholder, of the one that begins first', () => {
    expect(through([builtin('email'), custom('jane@\\w+')], ['to jane@example.com!'])).toBe('to [EMAIL]!')
    expect(through([custom('o jane', 'redact', 'NAME'), builtin('email')], ['to jane@example.com!'])).toBe('t[NAME]!')
  })

  test('a flag beside a redaction changes nothing of it', () => {
    expect(through([builtin('email', 'flag'), custom('example')], ['jane@example.com'])).toBe('jane@[REDACTED].com')
  })
})

describe('the JSON text of arguments', () => {
  const json = fc.object({ maxDepth: 2, values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)] })
  const hidden = fc.constantFrom('jane@example.com', 'x\njane@example.com "quoted"', '4111111111111111', '\\u0040')

  test('stays JSON, and loses what is looked for, wherever it is cut', () => {
    fc.assert(
      fc.property(json, hidden, fc.array(fc.nat(), { maxLength: 8 }), (value, secret, cuts) => {
        const text = JSON.stringify({ ...value, secret, card: 4_111_111_111_111_111 })
        const out = through([builtin('email'), builtin('credit-card')], cut(text, cuts), jsonText)
        const read = JSON.parse(out) as { secret: string; card: unknown }
        expect(read.secret).toBe(secret.replace('jane@example.com', '[EMAIL]').replace('4111111111111111', '[CREDIT_CARD]'))
        expect(read.card).toBe('[CREDIT_CARD]')
      }),
      { numRuns: 300 },
    )
  })

  test('an escape hides nothing, and an untouched one stays as it was written', () => {
    const text = String.raw`{"a":"jane\u0040example.com","b":"tab\u0009\t\/"}`
    expect(through(EMAIL, [...text], jsonText)).toBe(String.raw`{"a":"[EMAIL]","b":"tab\u0009\t\/"}`)
  })
})

describe('what is disguised', () => {
  const filters = [builtin('email'), builtin('credit-card'), custom('PROJ-\\d+')]
  const SAMPLES = ['jane@example.com', '4111 1111 1111 1111', 'PROJ-4711'] as const
  /** The ways in which a character can be written, or hidden. */
  const disguises: readonly ((character: string) => string)[] = [
    (character) => character,
    (character) => (character === ' ' ? '\u00a0' : character),
    (character) => (character > ' ' ? String.fromCharCode(character.charCodeAt(0) + 0xfee0) : '\u3000'),
    (character) => `${character}\u200b`,
    (character) => `\u00ad\u2060${character}`,
    (character) => (/\d/.test(character) ? String.fromCodePoint(0x1d7ce + Number(character)) : character),
    (character) => (character === '-' ? '\u2011' : character),
    (character) => (/[a-z\d]/.test(character) ? `${character}\u0332` : character),
    (character) => `%${character.charCodeAt(0).toString(16)}`,
    (character) => `%25${character.charCodeAt(0).toString(16)}`,
    (character) => `&#${character.charCodeAt(0)};`,
    (character) => `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`,
  ]
  const disguised = fc
    .tuple(fc.constantFrom(...SAMPLES), fc.array(fc.nat(disguises.length - 1), { minLength: 20, maxLength: 20 }))
    .map(([sample, ways]) => ({
      sample,
      hidden: [...sample].map((character, at) => disguises[ways[at] ?? 0]?.(character) ?? character).join(''),
    }))

  test('is found and replaced, and what stands around it stays, wherever it is cut', () => {
    const around = fc.constantFrom('', 'to ', 'größer ', '数字，', '👍🏽 ')
    fc.assert(
      fc.property(around, disguised, around, fc.array(fc.nat(), { maxLength: 6 }), (before, { sample, hidden }, after, cuts) => {
        const given = `${before} ${hidden} ${after}`
        const label = sample === SAMPLES[0] ? /\[EMAIL\]/ : /\[(?:CREDIT_CARD|REDACTED)\]/
        const screened = through(filters, cut(given, cuts))
        expect(screened).toMatch(label)
        expect(screened.startsWith(`${before} `)).toBe(true)
        expect(screened.endsWith(` ${after}`)).toBe(true)
        expect(screened.length).toBeLessThanOrEqual(before.length + after.length + '[CREDIT_CARD]'.length + 6)
      }),
      { numRuns: 1000 },
    )
  })

  test('is found in a tool call whose arguments are written with escapes', () => {
    const given = String.raw`{"card":"4111\u00a01111\u200b 1111\u00ad 1111","ok":"ja"}`
    expect(through(filters, cut(given, [12, 17, 20]), jsonText)).toBe('{"card":"[CREDIT_CARD]","ok":"ja"}')
  })

  test('a pattern that asks for a disguised character finds it as it is written', () => {
    expect(through([custom('[\\u200b\\uff10-\\uff19]')], ['a\u200bb４'])).toBe('a[REDACTED]b[REDACTED]')
  })
})
