import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { createAnyMatch, type Matcher } from './any-match.ts'
import { createRegex } from './finder.ts'

const openMatcher = createAnyMatch([createRegex('cat')], {
  regex: createRegex(String.raw`\bd[og]{3}\b`),
  isMatch: (word) => word === 'dogo',
})

const after = (text: string): Matcher => {
  const matcher = openMatcher()
  matcher.push(text)
  return matcher
}

test.each([
  ['a dgoo, a dooo', false],
  ['a dogo', true],
  ['a dogog', false],
  ['a cat', true],
])('a word of the right letters is a match only if it is said to be one: %j %p', (text, found) => {
  for (let at = 0; at <= text.length; at += 1) {
    const matcher = after(text.slice(0, at))
    matcher.push(text.slice(at))
    expect(matcher.end()).toBe(found)
  }
})

test('property: matchers that agree give the same answer to any text that follows, also where the words that they have begun differ', () => {
  const text = fc.stringMatching(/^[cadog ]{0,8}$/)
  fc.assert(
    fc.property(text, text, text, (one, other, rest) => {
      const [first, second] = [after(one), after(other)]
      fc.pre(first.agreesWith(second))
      expect(first.push(rest) || first.end()).toBe(second.push(rest) || second.end())
    }),
    { numRuns: 2000, examples: [['dog', 'dgg', 'o']] },
  )
})

test('a fork goes on by itself from what its matcher has read', () => {
  const matcher = after('a ca')
  const fork = matcher.fork()
  expect(matcher.push('r')).toBe(false)
  expect([fork.push('t') || fork.end(), matcher.end()]).toEqual([true, false])
})
