import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { csvLine } from './csv.ts'

/** Parses a line as RFC 4180 says. */
const read = (line: string): string[] => {
  const cells: string[] = []
  let at = 0
  while (at <= line.length - 2) {
    if (line[at] === '"') {
      let text = ''
      for (at += 1; line[at] !== '"' || line[at + 1] === '"'; at += 1) {
        if (line[at] === '"') at += 1
        text += line[at] ?? ''
      }
      cells.push(text)
      at += 2
      continue
    }
    const end = /,|\r\n/g
    end.lastIndex = at
    const stop = end.exec(line)?.index ?? line.length
    cells.push(line.slice(at, stop))
    at = stop + 1
  }
  return cells
}

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .tuple(fc.constantFrom('=', '+', '-', '@', '\t=', ' =', '\u00a0=', '\ufeff=', '\u200b=', '\r\n=', '"=', '＝', '\u0000='), fc.string())
    .map(([a, b]) => a + b),
)

test('every text comes back as it was, but for the apostrophe before what a spreadsheet would run', () => {
  fc.assert(
    fc.property(
      fc.array(
        hostile.filter((text) => text !== ''),
        { minLength: 1, maxLength: 6 },
      ),
      (texts) => {
        const cells = read(csvLine(texts))
        expect(cells.map((cell, at) => (cell === `'${texts[at] ?? ''}` ? texts[at] : cell))).toEqual(texts)
      },
    ),
    { numRuns: 300 },
  )
})

test('no cell begins like a formula, whatever stands before it unseen', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const [cell = ''] = read(csvLine([text]))
      expect(cell.replace(/^[\s\p{C}]+/u, '')).not.toMatch(/^[=+\-@＝＋－＠]/)
    }),
    { numRuns: 300 },
  )
})

test('numbers are numbers, nothing is empty, and a line ends as the standard says', () => {
  expect(csvLine([-1, 0.5, true, null, 'a,b'])).toBe('-1,0.5,true,,"a,b"\r\n')
})
