import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { patient } from '../../../test/support/patience.ts'
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

test('every text comes back as it was, but for the apostrophes before what a spreadsheet would run', () => {
  fc.assert(
    fc.property(
      fc.array(
        hostile.filter((text) => text !== ''),
        { minLength: 1, maxLength: 6 },
      ),
      (texts) => {
        const withoutApostrophes = (cells: readonly string[]): readonly string[] => cells.map((cell) => cell.replaceAll("'", ''))
        expect(withoutApostrophes(read(csvLine(texts)))).toEqual(withoutApostrophes(texts))
      },
    ),
    { numRuns: 300 },
  )
  const harmless = ['a;b', 'x = 1', '10-5', "it's", 'a@b.c', 'one\ntwo', 'say "so"']
  expect(read(csvLine(harmless))).toEqual(harmless)
})

test('no cell begins like a formula, whatever stands before it unseen, and whether commas, semicolons or tabs part the cells', () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom('', 'a;', 'a\t', 'a\n', 'a;;'), (text, before) => {
      const line = csvLine([before + text, 'last'])
      const [cell = ''] = read(line)
      // With another separator, the quotes of a cell in the middle of a line mean nothing.
      for (const start of [cell, ...`x,${line}`.split(/[;\t\r\n]/).slice(1)]) {
        expect(start.replace(/^["\s\p{C}]+/u, '')).not.toMatch(/^[=+\-@＝＋－＠]/)
      }
    }),
    { numRuns: 300 },
  )
})

test('a long text of nothing but separators takes no longer than any other', () => {
  const text = '\t\n'.repeat(200_000)
  const started = performance.now()
  csvLine([text])
  expect(performance.now() - started).toBeLessThan(patient(500))
})

test('numbers are numbers, nothing is empty, and a line ends as the standard says', () => {
  expect(csvLine([-1, 0.5, true, null, 'a,b'])).toBe('-1,0.5,true,,"a,b"\r\n')
})
