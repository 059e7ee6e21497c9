/**
 * Describes the look of a state of a screen as text that is the same on every machine: the accessibility tree, and the colours and sizes of
 * its parts in the light and the dark theme. Pixels would depend on fonts and graphics cards.
 */
import type { Page } from 'playwright-core'

/** Parts that only some states have: placeholder rows, notes, the text of an empty list, the table. */
const PARTS = [
  'h1',
  '.skeleton-row',
  '.note.bad',
  '.note.warn',
  '.empty',
  '.button.primary',
  '.link-button',
  '.table th',
  '.table td',
  '.rows-head',
  '.rows-row',
]

const STYLES = ['color', 'background-color', 'border-bottom-color', 'font-size', 'line-height', 'min-height'] as const

/** The number of a chart's columns depends on the time of day. */
const withoutCharts = (isHidden: boolean): string =>
  `for (const chart of document.querySelectorAll('#content .chart')) chart.${isHidden ? `setAttribute('aria-hidden', 'true')` : `removeAttribute('aria-hidden')`}`

export const stateOf = async (page: Page): Promise<string> => {
  await page.evaluate(withoutCharts(true))
  const tree = await page.locator('#content').ariaSnapshot()
  await page.evaluate(withoutCharts(false))
  const schemes: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    schemes.push(`${colorScheme}:`, ...(await page.evaluate<string[]>(STYLES_OF_PARTS)))
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  return [withoutChance(tree), ...schemes].join('\n')
}

const STYLES_OF_PARTS = `${JSON.stringify(PARTS)}.flatMap((part) => {
  const element = document.querySelector('#content ' + part)
  if (element === null) return []
  const style = getComputedStyle(element)
  return ['  ' + part + ': ' + ${JSON.stringify(STYLES)}.map((name) => style.getPropertyValue(name)).join(' | ')]
})`

/** Replaces ids, times and durations, which differ each time. */
const withoutChance = (text: string): string => CHANCE.reduce((read, [found, word]) => read.replaceAll(found, word), text)

const CHANCE: readonly (readonly [RegExp, string])[] = [
  [/user_[\w-]+…?/g, 'PERSON'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID'],
  [/\b(gen|req)-[\w-]+/g, '$1-ID'],
  [/key%3A[0-9a-f]{64}/g, 'key%3AHASH'],
  [/"key [0-9a-f]{6}"/g, '"key HASH"'],
  [/…[\w-]{4}\b/g, '…LAST'],
  [/\b[0-9a-f]{12,64}\b/g, 'HASH'],
  [/just now|\b\d+ (?:min|h|d) ago/g, 'AGO'],
  [/(?:\d{1,2} [A-Z][a-z]{2}(?: \d{4},)? )?\b\d{2}:\d{2}(?::\d{2})?\b/g, 'TIME'],
  [/\b\d+(?:\.\d+)? (?:ms|s)\b/g, 'DURATION'],
  [/\d{4}-\d{2}-\d{2}T[\d:.%A-Z]+/g, 'INSTANT'],
  [/from=[^&\s"]+/g, 'from=INSTANT'],
  [/to=[^&\s"]+/g, 'to=INSTANT'],
]
