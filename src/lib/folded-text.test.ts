import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { createFoldedText, isDisguised } from './folded-text.ts'

const folded = (text: string): string => createFoldedText().push(text)

describe('a text reads', () => {
  test.each([
    ['4111\u00a01111\u2003222', '4111 1111 222'],
    ['４１１１', '4111'],
    ['𝟒𝟏', '41'],
    ['١٢٣', '123'],
    ['a\u00ad\u200b\u2060b\u200dc\ufeff', 'abc'],
    ['ａlice＠example。com', 'alice@example.com'],
    ['123\u2011456\u2013789\u2212', '123-456-789-'],
    ['cafe\u0301', 'café'],
    ['4\u03321\u0301', '41'],
    ['a\0b\u001bc\u0085d\te', 'abc\u0085d\te'],
    ['a\udc00b\ud800c', 'abc'],
    ['\\u0061\\\\\\u0062\\uff43 \\u00zz', 'abc \\u00zz'],
    ['ﬁne', 'fine'],
    ['한국어, 日本語, कि', '한국어, 日本語, कि'],
  ])('%s as %s', (written, read) => {
    expect(folded(written)).toBe(read)
    expect(isDisguised(written)).toBe(written !== read)
  })

  test('otherwise than it is written only where the quick test says so, for every character', () => {
    for (let code = 0; code < 0x110000; code += 1) {
      // Half a character, and what may begin an escape, wait for what follows.
      if ((code >= 0xd800 && code < 0xe000) || code === 0x5c) continue
      const character = String.fromCodePoint(code)
      const read = folded(character)
      if (read !== character && !isDisguised(character)) throw new Error(`U+${code.toString(16)} is missed`)
      const isControl = code < 9 || (code > 13 && code < 32) || code === 127
      if (code < 128 && (read === '') !== isControl) throw new Error(`U+${code.toString(16)} is ASCII`)
      if (read === character && character.normalize('NFKC') !== character) throw new Error(`U+${code.toString(16)} is kept`)
    }
  }, 120_000)
})

test('every stretch of it is found again where it is written, in order and without a gap', () => {
  const piece = fc.constantFrom('a', '4', ' ', '４', '\u200b', 'e\u0301', '𝟒', 'ﬁ', '日', '\0', '\\', 'u', '\\u0061', '\u00ad\u00ad')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.nat(5), (given, before) => {
      // What may begin an escape at the end of a text waits for what follows.
      const pieces = [...given, '.']
      const text = createFoldedText(before)
      const read = pieces.map((one) => text.push(one)).join('')
      const written = pieces.join('')
      let last = before
      for (let at = before; at < before + read.length; at += 1) {
        const [start, end] = [text.startOf(at), text.endOf(at + 1)]
        expect(start).toBeGreaterThanOrEqual(last === before ? before : start)
        expect(end).toBeGreaterThan(start)
        expect(folded(`${written.slice(start - before, end - before)}.`)).toContain(read.charAt(at - before))
        last = start
      }
      expect(text.startOf(before + read.length)).toBe(before + written.length)
    }),
  )
})
