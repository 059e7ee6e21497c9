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

test('in both themes the border of a field has a contrast of at least 3:1 to whatever surrounds or fills it', () => {
  const read = (path: string): string => readFileSync(join(SOURCES, path), 'utf8')
  expect(read('styles/parts.css')).toMatch(/textarea \{[^}]*border: 1px solid var\(--field-line\)/)
  expect(read('parts/code-editor.tsx')).toContain("border: '1px solid var(--field-line)'")
  const tokens = read('styles/tokens.css')
  const colours = (name: string): string[] => [...new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(tokens)!].slice(1)
  const [light, dark] = colours('field-line').map(luminance) as [number, number]
  for (const surface of ['bg', 'panel', 'raised', 'hover', 'selected']) {
    const [bright, dim] = colours(surface).map(luminance) as [number, number]
    expect([surface, (bright + 0.05) / (light + 0.05) >= 3, (dark + 0.05) / (dim + 0.05) >= 3]).toEqual([surface, true, true])
  }
})

/** The relative luminance of WCAG 2.2. */
const luminance = (colour: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
