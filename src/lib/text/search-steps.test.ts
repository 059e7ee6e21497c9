import { expect, test } from 'bun:test'

import { includesInSteps, matchInSteps, testInSteps, wordPattern } from './search-steps.ts'
import { atOnce } from '../steps.ts'

const PIECE = 256 * 1024
const ID = /"id"\s*:\s*"web"/

test('a match is found wherever the pieces are cut, with megabytes of white space within it too', () => {
  for (const match of ['"id":"web"', `"id"${' '.repeat(1_000_000)}:${'\n'.repeat(900_000)}"web"`]) {
    for (let before = PIECE - 12; before <= PIECE + 2; before += 1)
      expect(atOnce(testInSteps(ID, `${'x'.repeat(before)}${match}${'y'.repeat(PIECE)}`))).toBe(true)
  }
  expect(atOnce(testInSteps(ID, `${'x'.repeat(3 * PIECE)}"id":"wel"`))).toBe(false)
})

test('text that is four times as long is searched in more steps, and short text at once', () => {
  const steps = (text: string): number => [...testInSteps(ID, text)].length
  expect(steps('x'.repeat(PIECE))).toBe(0)
  for (const text of ['x', ' ', ': ']) expect(steps(text.repeat(8_000_000))).toBeGreaterThan(steps(text.repeat(2_000_000)))
})

test('every match is taken once, in its order and with its end, wherever the pieces are cut', () => {
  const WORD = /"id"\s*:\s*"(\w+)"/g
  for (let before = PIECE - 140; before <= PIECE + 2; before += 1) {
    const text = `${'x'.repeat(before)}"id":"a"${'y'.repeat(100)}"id" : "b"${'z'.repeat(2 * PIECE)}"id":"c"`
    const found: string[] = []
    const take = ([, word = '']: RegExpExecArray, end: number): boolean => {
      found.push(`${word}${text.slice(end - 2, end)}`)
      return false
    }
    expect(atOnce(matchInSteps(WORD, text, take))).toBe(false)
    expect(found).toEqual(['aa"', 'bb"', 'cc"'])
  }
  expect(atOnce(matchInSteps(WORD, '"id":"a"', () => true))).toBe(true)
})

test('a word is found wherever the pieces are cut, in more steps where the text is longer', () => {
  const steps = (text: string): number => [...includesInSteps(text, '"1h"')].length
  for (let before = 4 * PIECE - 6; before <= 4 * PIECE + 2; before += 1)
    expect(atOnce(includesInSteps(`${'x'.repeat(before)}"1h"${'y'.repeat(PIECE)}`, '"1h"'))).toBe(true)
  expect(atOnce(includesInSteps('"1d"'.repeat(8 * PIECE), '"1h"'))).toBe(false)
  expect(steps('x'.repeat(4 * PIECE))).toBe(0)
  expect(steps('x'.repeat(32 * PIECE))).toBeGreaterThan(steps('x'.repeat(8 * PIECE)) + 4)
})

test('a word is found as it is written, whatever signs are in it, and nothing else is', () => {
  for (const word of ['"1h"', 'a.b', '[x]', 'a-b', 'p^q^', String.raw`\\u00`, '(?:x)', '{{', 'w$', 'a|b', 'x']) {
    expect(wordPattern(word).test(`before ${word} behind`)).toBe(true)
    expect(wordPattern(word).test(`before ${word.slice(0, -1)}_ behind`)).toBe(false)
  }
  expect(wordPattern('a.b').test('aXb')).toBe(false)
})
