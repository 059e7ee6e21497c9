import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { growth, LINEAR } from '../../../test/support/growth.ts'
import { createAnyMatch } from './any-match.ts'
import { foundIn } from './found-in.test-kit.ts'
import { createFinder, createRegex } from './finder.ts'
import { type RegexOptions, RegexRefused } from './parse.ts'

type Span = readonly [number, number]

const spansIn = (pattern: string, pieces: readonly string[], options?: RegexOptions): Span[] => {
  const spans: Span[] = []
  const finder = createFinder(createRegex(pattern, options), (start, end) => spans.push([start, end]))
  for (const piece of pieces) finder.push(piece)
  finder.pause()
  return spans
}

/** The units that matches cover. */
const covered = (spans: readonly Span[], length: number): string =>
  Array.from({ length }, (_, at) => (spans.some(([start, end]) => start <= at && at < end) ? '#' : '.')).join('')

/** With JavaScript's own engine: every part of the text that matches as a whole. */
const coveredByJavaScript = (pattern: string, text: string): string => {
  const whole = new RegExp(`^(?:${pattern})$`)
  const spans: Span[] = []
  for (let start = 0; start < text.length; start += 1) {
    for (let end = start + 1; end <= text.length; end += 1) if (whole.test(text.slice(start, end))) spans.push([start, end])
  }
  return covered(spans, text.length)
}

const atom = fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\d', '\\w')
const pattern = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    atom,
    fc
      .array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 6 })
      .map((words) => `(?:${words.join('|')})`),
    fc.tuple(tie('node'), tie('node')).map(([left, right]) => left + right),
    fc.tuple(tie('node'), tie('node')).map(([left, right]) => `(?:${left}|${right})`),
    fc.tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}', '*?')).map(([inner, times]) => `(?:${inner})${times}`),
  ),
})).node
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '_', ' ', '\n'), maxLength: 14 })

describe('what is found', () => {
  test("is what JavaScript's own engine matches, all of it", () => {
    fc.assert(
      fc.property(pattern, text, (source, given) => {
        expect(covered(spansIn(source, [given]), given.length)).toBe(coveredByJavaScript(source, given))
      }),
      { numRuns: 2000 },
    )
  })

  test('is the same however the text is cut into pieces, down to single units', () => {
    fc.assert(
      fc.property(pattern, text, fc.array(fc.nat(14), { maxLength: 5 }), (source, given, cuts) => {
        const whole = spansIn(source, [given])
        const edges = [0, ...cuts.toSorted((left, right) => left - right), given.length]
        const pieces = edges.slice(1).map((end, at) => given.slice(edges[at], end))
        expect(covered(spansIn(source, pieces), given.length)).toBe(covered(whole, given.length))
        expect(spansIn(source, [...given])).toEqual(whole)
      }),
      { numRuns: 1000 },
    )
  })

  test('begins at or after `settled`, whatever follows', () => {
    fc.assert(
      fc.property(pattern, text, text, (source, before, after) => {
        const late: number[] = []
        let settled = 0
        const finder = createFinder(createRegex(source), (start, end) => {
          if (end > before.length) late.push(start - settled)
        })
        finder.push(before)
        ;({ settled } = finder)
        finder.push(after)
        finder.pause()
        expect(late.every((ahead) => ahead >= 0)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test('a first look at many patterns is never blind to what one of them finds', () => {
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 4 }), text, (sources, given) => {
        const found = sources.some((source) => spansIn(source, [given]).length > 0)
        expect(foundIn(createAnyMatch(sources.map((source) => createRegex(source))), given)).toBe(found)
      }),
      { numRuns: 500 },
    )
  })

  const cases: readonly [string, string, string, RegexOptions?][] = [
    [String.raw`\bcat\b`, 'cat concat cat_ cat', '###.............###'],
    [String.raw`\Bcat`, 'cat concat', '.......###'],
    ['^ab', 'abab', '##..'],
    ['ab$', 'abab', '..##'],
    [String.raw`\u0041\x42\.`, 'AB. ABC', '###....'],
    ['(?i:straße|ÄB)c', 'STRAßEc äbc äbC', '####### ### ...'.replaceAll(' ', '.')],
    ['a{3}', 'aaaaa', '#####'],
    ['(?<name>x)y', 'xy', '##'],
    [String.raw`(?<!\d)\d{3}(?!\d)`, '1234 123', '.....###', { edges: true }],
    ['[\\]\\-a]', 'a-]b', '###.'],
    ['cat|cater|car|(?i:CAT)s', 'caters car CATs', '#####. ### ####'.replaceAll(' ', '.')],
    [String.raw`\bcat\b|\bcar\b|\bcar`, 'cat cats cars', '###......###.'],
    ['[^a-m]x|nx|ny|', 'nx zx ax ny', '##.##....##'],
  ]
  for (const [source, given, expected, options] of cases) {
    test(`${source} in ${JSON.stringify(given)}`, () => expect(covered(spansIn(source, [given], options), given.length)).toBe(expected))
  }
})

describe('a pattern is refused, with the reason, where it', () => {
  const refused: readonly [string, string, string][] = [
    ['looks ahead', 'a(?=b)', 'look-around'],
    ['looks ahead for what must not be', 'a(?!b)', 'look-around'],
    ['looks behind', '(?<=a)b', 'look-around'],
    ['looks behind for what must not be', '(?<!a)b', 'look-around'],
    ['refers back by number', String.raw`(a)\1`, 'back-reference'],
    ['refers back by name', String.raw`(?<x>a)\k<x>`, 'back-reference'],
    ['does not end its group', '(a', 'does not end'],
    ['ends a group that it has not begun', 'a)', 'unmatched'],
    ['does not end its class', '[a', 'does not end'],
    ['has a range out of order', '[z-a]', 'out of order'],
    ['has bounds out of order', 'a{3,2}', 'out of order'],
    ['repeats nothing', '*a', 'nothing before'],
    ['repeats a repetition', 'a++', 'quantifier behind a quantifier'],
    ['repeats too often', 'a{1001}', 'beyond 1000'],
    ['grows too large', '(?:a{100}){100}', 'too large'],
    ['may wait at too many places of one text', 'a'.repeat(2001), 'too large'],
    ['is too long', 'a'.repeat(100_001), 'longer than'],
    ['is empty', '', 'empty'],
    ['matches only places', String.raw`^\b$`, 'no text'],
    ['asks for a Unicode property', String.raw`\p{L}`, 'Unicode property'],
    ['nests too deep', `${'('.repeat(60)}a${')'.repeat(60)}`, 'nested deeper'],
  ]
  for (const [what, source, reason] of refused) {
    test(what, () => {
      expect(() => createRegex(source)).toThrow(RegexRefused)
      expect(() => createRegex(source)).toThrow(reason)
    })
  }

  test('any text is a pattern or a refusal, never another failure', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...String.raw`ab(){}[]|*+?\^$.,-:=!<>01kiupx`), maxLength: 20 }), (source) => {
        try {
          createRegex(source)
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(RegexRefused)
        }
      }),
      { numRuns: 3000 },
    )
  })
})

describe('time', () => {
  const workOn = (pattern: string, unit: string) => (size: number) => {
    const regex = createRegex(pattern)
    const given = unit.repeat(size / unit.length)
    return () => {
      const finder = createFinder(regex, () => {})
      finder.push(given)
      finder.pause()
    }
  }

  const hostile: readonly [string, string, string][] = [
    ['nested quantifiers', '(?:a+)+b', 'a'],
    ['alternatives that overlap', '(?:a|a)*b', 'a'],
    ['a polynomial', 'a*a*a*a*b', 'a'],
    ['a repetition of anything', '(?:.*,){10}x', 'a,'],
    ['a match that ends everywhere', 'a|a*b', 'a'],
    ['many states', '[ab]*a[ab]{12}', 'ab'],
  ]
  for (const [name, source, unit] of hostile) {
    test(`is linear in the text: ${name}`, () => {
      expect(growth(workOn(source, unit), 20_000)).toBeLessThan(LINEAR)
    })
  }
})

describe('work on a text in which a match ends everywhere', () => {
  const patterns: readonly [string, string][] = [
    [String.raw`\d(?:[ \-]?\d){12,}(?!\d)`, '4 '],
    ['a|a*b', 'a'],
    [String.raw`-----BEGIN KEY-----(?:[ \t]*[\r\n]+[A-Za-z]{1,30}:[^\r\n]{0,200})*`, '-----BEGIN KEY-----\nProc-Type: 4,ENCRYPTED\n'],
    [String.raw`eyJ[A-Za-z0-9]{10,}\.[A-Za-z0-9]*(?:\.[A-Za-z0-9]{10,}){3}`, 'eyJhbGciOiJIUzI1NiJ9.'],
  ]
  for (const [source, unit] of patterns) {
    test(`is worked out once for each combination of matches in progress, and not for each unit: ${source}`, () => {
      const regex = createRegex(source, { edges: true })
      const built: number[] = []
      for (const times of [1000, 4000]) {
        const finder = createFinder(regex, () => {})
        finder.push(unit.repeat(times))
        finder.pause()
        built.push(regex.automaton.trails.built)
      }
      expect(built[1]).toBe(built[0])
    })
  }

  test('is bounded in memory: combinations beyond the bound are worked out anew', () => {
    const regex = createRegex('[ab]*a[ab]{12}')
    const expected: Span[] = []
    let random = 1
    const text = Array.from({ length: 60_000 }, () => {
      random = (random * 48_271) % 2_147_483_647
      return random % 2 === 0 ? 'a' : 'b'
    }).join('')
    const finder = createFinder(regex, (start, end) => expected.push([start, end]))
    finder.push(text)
    finder.pause()
    expect(expected.every(([start, end]) => start === 0 && text[end - 13] === 'a')).toBe(true)
    expect(expected).toHaveLength(text.slice(0, -12).replaceAll('b', '').length)
  })
})
