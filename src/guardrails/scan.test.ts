import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { createFoldedText } from '../lib/text/folded-text.ts'
import { foundIn } from '../lib/regex/any-match.ts'
import { atOnce } from '../lib/steps.ts'
import { BUILTIN_SLUGS } from '../contract/guardrail.ts'
import { builtinFilter, filterSet } from './filter.ts'
import { matchesAny, piecesOf } from './scan.ts'

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
