import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { createRegex } from './finder.ts'
import { factor } from './factor.ts'
import { measure } from './measure.ts'
import { parseRegex, RegexRefused } from './parse.ts'
import { createReach } from './reach.ts'

/** The most steps that wait for any one unit of the text. */
const waitingIn = (source: string, text: string): number => {
  const { program } = createRegex(source).automaton
  const { of, edge } = program.classes
  const reach = createReach(program)
  let waiting: readonly number[] = []
  let before = edge
  let most = 0
  for (let at = 0; at < text.length; at += 1) {
    const behind = of(text.charCodeAt(at))
    reach.begin(before, behind)
    for (const step of [...waiting, program.start]) reach.from(step)
    most = Math.max(most, reach.reached)
    waiting = reach.taken(behind)
    before = behind
  }
  return most
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 5 })
const words = fc.array(word, { minLength: 1, maxLength: 8 }).map((list) => `(?:${list.join('|')})`)
const pattern = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    words,
    fc.constantFrom('a', '.', '[ab]', '\\b'),
    fc.tuple(tie('node'), tie('node')).map(([left, right]) => left + right),
    fc.tuple(tie('node'), tie('node')).map(([left, right]) => `(?:${left}|${right})`),
    fc.tuple(words, fc.constantFrom('*', '+', '?', '{2}', '{0,3}', '{2,}')).map(([inner, times]) => `${inner}${times}`),
  ),
})).node

test('no text makes more steps of a pattern wait than its measure says, and its program has no more steps', () => {
  fc.assert(
    fc.property(pattern, fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 20 }), (source, text) => {
      const { width, steps } = measure(factor(parseRegex(source)))
      try {
        expect(waitingIn(source, text)).toBeLessThanOrEqual(width)
        // One more step accepts.
        expect(createRegex(source).automaton.program.steps.length).toBeLessThanOrEqual(steps + 1)
      } catch (thrown) {
        // A pattern that matches no characters, only places.
        if (!(thrown instanceof RegexRefused)) throw thrown
      }
    }),
    { numRuns: 2000 },
  )
})

describe('a list of words', () => {
  const named = Array.from({ length: 9000 }, (_, at) => `word${at.toString(36)}`)

  test('costs a unit of text no more steps than its longest word is long', () => {
    for (const list of [named.join('|'), String.raw`\b(?:${named.join('|')})\b`, `(?i:${named.join('|')})`]) {
      expect(measure(factor(parseRegex(list))).width).toBeLessThanOrEqual(8)
    }
  })

  test('of which each has edges of its own costs no more than one with common edges', () => {
    const each = named.slice(0, 4000).map((one) => String.raw`\b${one}\b`)
    expect(measure(factor(parseRegex(each.join('|')))).width).toBeLessThanOrEqual(8)
  })

  test('whose words begin alike is measured by what differs: a thousand long ones are few steps', () => {
    const alike = Array.from({ length: 400 }, (_, at) => `${'same '.repeat(40)}${at}`)
    expect(measure(factor(parseRegex(alike.join('|')))).steps).toBeLessThan(2500)
  })
})

test('a short pattern may be two thousand steps, and a long one twice its characters', () => {
  expect(() => createRegex('(?:[ab]{20}|[cd]{20}){30}')).not.toThrow()
  expect(() => createRegex('(?:[ab]{30}|[cd]{30}){60}')).toThrow('too large')
  expect(() => createRegex(Array.from({ length: 5000 }, (_, at) => `w${(at * 7919).toString(36)}`).join('|'))).not.toThrow()
})
