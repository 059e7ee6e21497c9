import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const SOURCES = join(import.meta.dir, '../src')

/** Lines and corners may stay thin, and so may spaces that are hardly seen. */
const MAY_BE_PIXELS =
  /^\s*(?:(?:border|outline|text-decoration|box-shadow|--shadow|--radius)[\w-]*:|[\w-]+: (?:[\w.]+ )*-?[0-2]px(?: [\w.]+)*;)/

test('whatever holds text grows with the font size of the browser: no size of a style sheet is in pixels', () => {
  const sheets = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.css'))
  expect(sheets.length).toBeGreaterThan(10)
  const faults = sheets.flatMap((path) =>
    readFileSync(join(SOURCES, path), 'utf8')
      .split('\n')
      .filter((line) => /\dpx\b/.test(line) && !MAY_BE_PIXELS.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
  expect(faults).toEqual([])
})
