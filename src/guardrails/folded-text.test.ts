import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { createFoldedText, isDisguised } from './folded-text.ts'

const folded = (text: string): string => {
  const reading = createFoldedText()
  return reading.push(text) + reading.end()
}

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
    ['4\ufe0f\u20e31\u20e3P\u0488', '41P'],
    ['⓵❷➂➍⓿❾', '123409'],
    ['a\ufff9b\ufffac\ufffb\u{13430}d\ufffee\ufdd0', 'abcde'],
    ['a\0b\u001bc\u0085d\te', 'abc\u0085d\te'],
    ['a\udc00b\ud800c', 'abc'],
    ['\\u0061\\\\\\u0062\\uff43 \\u00zz', 'abc \\u00zz'],
    ['ﬁne', 'fine'],
    ['q=%61%6c%C3%A9%20%e2%80%8b%F0%9F%98%80b', 'q=alé 😀b'],
    ['%2541%252541%25', 'AA%'],
    ['&#65;&#x42&#X0000043;&#0100;', 'ABCd'],
    ['한국어, 日本語, कि', '한국어, 日本語, कि'],
  ])('%s as %s', (written, read) => {
    expect(folded(written)).toBe(read)
    expect(isDisguised(written)).toBe(written !== read)
  })

  test.each(['100% of 5%a and R&D', '20&#;%zz', '%C3(', '%80', '%ED%A0%80', '%C0%80', '&#99999999;', '%', '%4', '&#x'])(
    '%j as it is written: it is no escape',
    (text) => {
      expect(folded(text)).toBe(text)
    },
  )

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
  }, 300_000)
})

test('every stretch of it is found again where it is written, in order and without a gap', () => {
  const letters = ['a', '4', ' ', '４', '\u200b', 'e\u0301', '𝟒', 'ﬁ', '日', '\0', '\\', 'u', '\\u0061', '\u00ad\u00ad']
  const piece = fc.constantFrom(...letters, '%', '25', '%41', '%c3', '%A9', '%e6%97%A5', '&', '&#', '&#65;', '&#x42', ';')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.nat(5), (pieces, before) => {
      const text = createFoldedText(before)
      const read = pieces.map((one) => text.push(one)).join('') + text.end()
      const written = pieces.join('')
      let last = before
      for (let at = before; at < before + read.length; at += 1) {
        const [start, end] = [text.startOf(at), text.endOf(at + 1)]
        expect(start).toBeGreaterThanOrEqual(last === before ? before : start)
        expect(end).toBeGreaterThan(start)
        // It may be half a character, which `toContain` would not find.
        expect(folded(written.slice(start - before, end - before)).includes(read.charAt(at - before))).toBe(true)
        last = start
      }
      expect(text.startOf(before + read.length)).toBe(before + written.length)
    }),
  )
})

test('a text in pieces reads as it does in one', () => {
  const unit = fc.constantFrom(...'%25c3A9e08f4&#x;41u', '\\', 'a')
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 24 }), fc.array(fc.nat(24), { maxLength: 8 }), (units, cuts) => {
      const text = createFoldedText()
      const written = units.join('')
      const places = [0, ...cuts.toSorted((left, right) => left - right), written.length]
      const read = places.map((from, index) => text.push(written.slice(from, places[index + 1] ?? from))).join('') + text.end()
      expect(read).toBe(folded(written))
    }),
    { numRuns: 3000 },
  )
})
