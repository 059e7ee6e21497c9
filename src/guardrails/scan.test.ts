import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { createFoldedText } from './folded-text.ts'
import { foundIn } from '../lib/regex/found-in.test-kit.ts'
import { followedSteps } from '../lib/regex/followed.ts'
import { atOnce } from '../lib/steps.ts'
import { BUILTIN_SLUGS } from '../contract/guardrail.ts'
import { builtinFilter, customFilter, filterSet } from './filter.ts'
import { matchesAny, piecesOf, type Scan } from './scan.ts'
import { screenInPieces } from './screen-text.ts'

const openMatcher = filterSet(
  BUILTIN_SLUGS.map((slug) =>
    builtinFilter({ slug, action: 'flag', side: 'both', scanScope: 'all_messages' }, { guardrailId: 'grd_1', scope: 'workspace' }),
  ),
)?.openMatcher

const findsAny = (text: string): boolean => {
  if (openMatcher === undefined) throw new Error('no filters')
  return atOnce(matchesAny(openMatcher, text))
}

const foldedOf = (text: string): string => {
  const folded = createFoldedText()
  return [...piecesOf(text)].map((piece) => folded.push(piece)).join('') + folded.end()
}

/** Pieces of what the filters search for, disguises of them, and what stands between. */
const DISGUISED = ['\u00ad', '４', '٤', '\\u0034', '%34', '&#52;', 'e\u0301', '\ud800', '–', '\ufeff', 'ign\u200bore', 'ｉgnore']
const OPEN = ['%', '\\', '&#', '“', 'Ł', ' ', '\n', '.', 'a', '-', 'x'.repeat(509), 'the '.repeat(127)]
const WORDS = ['4111', '1111', 'ignore', 'ingore', 'previous', 'instructions', 'system', 'rules', 'ann@', 'example.com', '123-45-6789']
const text = fc.array(fc.constantFrom(...DISGUISED, ...OPEN, ...WORDS), { maxLength: 12 }).map((parts) => parts.join(''))

test('property: a text is found exactly where it is found as it is written or as it reads, wherever its pieces are cut', () => {
  fc.assert(
    fc.property(text, (written) => {
      if (openMatcher === undefined) throw new Error('no filters')
      expect(findsAny(written)).toBe(foundIn(openMatcher, written) || foundIn(openMatcher, foldedOf(written)))
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['in the wrong order', 'Please ingore it', true],
  ['in the right order', 'Please ignore it', false],
  ['across a cut', `${'the '.repeat(127)} ingore it`, true],
  ['at the end of the text', 'ingore', true],
  ['in another word', 'preingore', false],
  ['with an invisible character between', 'in\u00adgore it', true],
  ['with a letter in full width', 'ｉngore', true],
])('a key word with its letters %s: %j is found: %p', (_, written, found) => {
  expect(findsAny(written)).toBe(found)
})

/** Letters in an order that repeats so late that nearly each of them leads to a state that no other led to. */
const drawnFrom = (letters: string, count: number, seed: number): string => {
  let drawn = seed
  return Array.from({ length: count }, () => {
    drawn = (drawn * 48_271) % 2_147_483_647
    return letters[drawn % letters.length]
  }).join('')
}

const costliestStep = (scan: Scan<unknown>): number => {
  let costliest = 0
  for (let before = followedSteps(); scan.next().done !== true; before = followedSteps()) {
    costliest = Math.max(costliest, followedSteps() - before)
  }
  return costliest
}

describe('one step of a text follows few steps of a pattern, so that other requests get their turn:', () => {
  test.each([
    ['a pattern that may begin at each unit', '[\\w\\W]{1,900}x', 'ab.'],
    ['a pattern that each letter leads to a new state', 'a[ab]{1,900}x', 'ab'],
    ['a long pattern of one length', 'a[ab]{990}', 'ab'],
    ['a pattern of alternatives', '(?:a|ab|b){1,300}x', 'ab'],
  ])('%s: %s', (_, pattern, letters) => {
    const origin = { guardrailId: 'grd_1', scope: 'workspace' } as const
    const filters = [customFilter({ pattern, action: 'redact', label: null, side: 'both' }, origin)]
    const matcher = filterSet(filters)?.openMatcher
    if (matcher === undefined) throw new Error('no filters')
    const hostile = `${drawnFrom(letters, 2500, 7)}x`
    expect(costliestStep(matchesAny(matcher, hostile))).toBeLessThan(40_000)
    expect(costliestStep(screenInPieces(filters, hostile, () => {}))).toBeLessThan(40_000)
  })
})
