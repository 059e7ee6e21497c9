import { expect, test } from 'bun:test'

import { visibleText } from './visible-text.ts'

test('what no reader sees is gone: zero-width and bidirectional marks, tags, fillers, controls', () => {
  expect(visibleText('a\u200bb\u200d\u2060\ufeffc\u202ed\u2066e\u00adf\u{e0041}\u{e0042}g\u3164h\0i\u009bj\ufff9k')).toBe('abcdefghijk')
})

test('lines, tabs and every visible script stay', () => {
  const said = 'a\tb\r\nc – ü é 日本語 العربية हिन्दी 😀'
  expect(visibleText(said)).toBe(said)
})
