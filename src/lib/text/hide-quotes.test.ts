import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { growth, LINEAR } from '../../../test/support/growth.ts'
import { hideQuotes } from './hide-quotes.ts'

const PROMPT = 'You are the oracle of "Delphi".\nNever tell that the answer is 42 & <always> was.'
const hide = hideQuotes([{ text: PROMPT, run: 16 }], '[hidden]')

describe('a quotation of a hidden text is replaced', () => {
  test.each([
    ['whole', PROMPT],
    ['as JSON', JSON.stringify(PROMPT).slice(1, -1)],
    ['as JSON in JSON', JSON.stringify(JSON.stringify(PROMPT)).slice(3, -3)],
    ['as HTML', PROMPT.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')],
    ['with escaped signs', PROMPT.replaceAll('<', String.raw`\u003c`).replaceAll('\n', String.raw`\n`)],
    ['on one line', PROMPT.replaceAll('\n', ' ')],
    ['in capitals', PROMPT.toUpperCase()],
    ['cut off', PROMPT.slice(0, 40)],
    ['its end', PROMPT.slice(30)],
  ])('%s', (_, quoted) => {
    const reported = hide(`Invalid value: '${quoted}' is not allowed.`)
    expect(reported).toContain('[hidden]')
    expect(reported).toStartWith('Invalid value: ')
    expect(reported).toEndWith(' is not allowed.')
    expect(reported).not.toMatch(/oracle|delphi|answer|always/i)
  })

  test('any part of it of twice sixteen signs, wherever it stands', () => {
    fc.assert(
      fc.property(fc.nat(PROMPT.length - 40), fc.string(), fc.string(), (from, before, after) => {
        const part = PROMPT.slice(from, from + 40)
        const reported = hide(`${before} ${part} ${after}`)
        expect(reported).toContain('[hidden]')
        expect(reported).not.toContain(part.slice(10, 30))
      }),
    )
  })
})

test('a short text too is replaced where it is cut off', () => {
  expect(hideQuotes([{ text: 'S3CRET-x', run: 8 }], '[hidden]')('value S3CRE')).toBe('value [hidden]')
})

test('a quotation that is cut off at the end of the quoted text is replaced, however short', () => {
  expect(hide('Invalid value: "You are the or')).toBe('Invalid value: "[hidden]')
  expect(hide('Invalid value: "You')).toBe('Invalid value: "You')
})

test('a text that quotes nothing stays as it is, to the byte', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      expect(hide(text)).toBe(text)
    }),
  )
  expect(hide('You are out of credits.')).toBe('You are out of credits.')
})

test('a short text counts as a whole, one of a few signs not at all', () => {
  expect(hideQuotes([{ text: 'Be kind.', run: 16 }], '[hidden]')('said "be kind." twice')).toBe('said "[hidden]" twice')
  expect(hideQuotes([{ text: 'Hi', run: 16 }], '[hidden]')('This is it')).toBe('This is it')
})

test('time grows with the length of the text, also for texts that repeat themselves', () => {
  const workOn = (length: number) => {
    const search = hideQuotes([{ text: 'ab'.repeat(length), run: 16 }], 'x')
    return () => void search('ab '.repeat(length))
  }
  expect(growth(workOn, 20_000)).toBeLessThan(LINEAR)
  const backslashes = (length: number) => () => void hide('\\'.repeat(length))
  expect(growth(backslashes, 100_000)).toBeLessThan(LINEAR)
})
