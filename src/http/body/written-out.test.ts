import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { writtenOut } from './written-out.ts'

const now = (): Promise<void> => Promise.resolve()
const of = async (text: string, pause = now): Promise<string> => Buffer.from(await writtenOut(Buffer.from(text), pause)).toString()

/** JSON as Python writes it. */
const inAscii = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

test('property: JSON in ASCII means the same afterwards, and is as short as in UTF-8', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.string({ unit: 'binary' }), async (value, text) => {
      const both = { value, text: text.replaceAll('\ufeff', ''), 名: '你好 \\u4f60 😀' }
      const written = await of(inAscii(both))
      expect(JSON.parse(written)).toEqual(JSON.parse(inAscii(both)))
      expect(written.length).toBeLessThanOrEqual(inAscii(both).length)
    }),
  )
})

test('property: whatever the text, it is JSON afterwards where it was before, and nowhere else', async () => {
  const piece = fc.constantFrom('\\', 'u', '4f60', 'd83d', 'de00', '0022', '00a0', '2028', 'feff', '"', '{', '}', ':', '1', 'é', ' ')
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), fc.boolean(), async (pieces, inString) => {
      const text = inString ? `"${pieces.join('')}"` : pieces.join('')
      expect(isJson(await of(text))).toBe(isJson(text))
    }),
    { numRuns: 3000 },
  )
})

test('the first and the last character of each length in UTF-8 are written out, and half a character beside another one is not', async () => {
  const written = {
    '\\u0080': '\u0080',
    '\\u07ff': '\u07ff',
    '\\u0800': '\u0800',
    '\\ud7ff': '\ud7ff',
    '\\ue000': '\ue000',
    '\\uffff': '\uffff',
  }
  for (const [escaped, text] of Object.entries(written)) expect(await of(`"${escaped}"`)).toBe(`"${text}"`)
  for (const text of ['"\\u007f"', '"\\ud800"', '"\\udbff"', '"\\udc00"', '"\\udfff"']) expect(await of(text)).toBe(text)
  expect(await of('"\\u4f60\\udc00"')).toBe('"你\\udc00"')
})

test('what stands for a quote, a control character, half a character or a byte order mark stays as it was written', async () => {
  for (const text of ['"\\u0022\\u005c\\u000a\\u0061"', '"\\ud83d"', '"\\ude00\\ud83d"', '"\\ufeff"', '"\\\\u4f60"', '"\\u4f6"']) {
    expect(await of(text)).toBe(text)
  }
})

test('other work passes after each two megabytes, and pieces that are cut there are read whole', async () => {
  let pauses = 0
  const pause = async (): Promise<void> => void (pauses += 1)
  for (const before of [0, 1, 2, 3, 4, 5]) {
    pauses = 0
    const text = `"${'a'.repeat(before)}${'\\u4f60'.repeat(1_000_000)}"`
    expect(await of(text, pause)).toBe(`"${'a'.repeat(before)}${'你'.repeat(1_000_000)}"`)
    expect(pauses).toBeGreaterThanOrEqual(2)
  }
})
