/**
 * Turns a page into Markdown in one pass, without building a tree. It skips what a reader does not see and what is not part of
 * the text. Text within `main` or `article` is collected separately, and is the result if there is enough of it. Work and
 * memory grow with the length of the page, and the text is bounded.
 */
import { Parser } from 'htmlparser2'

import { cutText } from '../text/cut-text.ts'
import { visibleText } from '../text/visible-text.ts'
import { Line, MarkdownWriter, type Nesting } from './markdown-writer.ts'

export interface PageText {
  readonly title: string | null
  readonly text: string
  /** The page or document had more text than was asked for. */
  readonly cut: boolean
}

export interface PageLimits {
  /** The page's address, used to make its links absolute. */
  readonly url: string
  readonly maxCharacters: number
}

export const htmlToMarkdown = (html: string, limits: PageLimits): PageText => {
  const walk = walkPage(limits)
  const parser = new Parser({
    onopentag(name, attributes) {
      if (!walk.open(name, attributes)) parser.pause()
    },
    ontext: walk.text,
    onclosetag: walk.close,
  })
  parser.write(html)
  parser.end()
  return walk.end()
}

interface OpenElement {
  readonly name: string
  /** The state before the element. */
  readonly before: Place
  /** The place in the line at which the element begins. */
  readonly from: number
  readonly href: string | null
}

/** The state for the text in an element. */
interface Place extends Nesting {
  readonly isDropped: boolean
  readonly isMain: boolean
  /** White space is kept as it is. */
  readonly isRaw: boolean
  readonly isLink: boolean
  /** The current row; null outside of tables. */
  readonly table: { rows: number; cells: number } | null
  readonly isCell: boolean
}

/** Browsers nest no deeper either, and the parser's work on a tag grows with the depth. */
const DEPTH_MAX = 512
const NESTING_MAX = 8
const COLUMNS_MAX = 100
const TITLE_MAX = 300
/** If `main` and `article` hold less text than this, the page's text is elsewhere. */
const MAIN_MIN = 200

const walkPage = ({ url, maxCharacters }: PageLimits) => {
  const elements: OpenElement[] = []
  const main = new MarkdownWriter(maxCharacters)
  const rest = new MarkdownWriter(maxCharacters)
  const line = new Line()
  let title = ''
  let bullet = ''
  let isCut = false
  let place = OUTSIDE

  const target = (): MarkdownWriter => (place.isMain ? main : rest)

  const flush = (): void => {
    const written = line.take()
    const said = place.isRaw ? written : written.trim()
    if (BLANK.test(said)) return
    target().add(said, place, bullet)
    bullet = ''
  }

  /** Separates two blocks. There can be no blocks within a cell or in preformatted text. */
  const part = (): void => {
    if (place.isDropped) return
    if (place.isRaw) line.put('\n')
    else if (place.isCell) line.putWords(' ')
    else flush()
  }

  const endRow = ({ cells, rows }: { readonly cells: number; readonly rows: number }): void => {
    if (cells < 2) return flush()
    line.wrap(0, '| ', ' |')
    flush()
    if (rows > 1) return
    line.put(`|${' --- |'.repeat(Math.min(cells, COLUMNS_MAX))}`)
    target().add(line.take(), place, '')
  }

  const begin = (name: string, attributes: Attributes): void => {
    const level = HEADINGS.indexOf(name) + 1
    if (level > 0) line.put(`${'#'.repeat(level)} `)
    else if (name === 'br') line.put(place.isCell ? ' ' : '\n')
    else if (name === 'hr') line.put('---')
    else if (name === 'pre') line.put('```\n')
    else if (name === 'img') line.putWords(altOf(attributes['alt']))
    else if (name === 'li') bullet = nextBullet(place.lists.at(-1))
    else if (place.table !== null && name === 'tr') {
      place.table.rows += 1
      place.table.cells = 0
    } else if (place.table !== null && CELLS.has(name)) {
      if (place.table.cells > 0) line.putWords(' | ')
      place.table.cells += 1
    }
  }

  return {
    /** Returns false if nothing more of the page is wanted. */
    open(name: string, attributes: Attributes): boolean {
      if (elements.length >= DEPTH_MAX || main.isFull) {
        isCut = true
        return false
      }
      if (name === 'table' && !place.isDropped) flush()
      else if (BLOCKS.has(name)) part()
      const href = name === 'a' && !place.isDropped && !place.isLink && line.length < maxCharacters ? linkOf(attributes['href'], url) : null
      elements.push({ name, before: place, from: line.place, href })
      place = { ...placeIn(place, name, attributes), isLink: place.isLink || href !== null }
      if (!place.isDropped) begin(name, attributes)
      return true
    },

    text(said: string): void {
      const element = elements.at(-1)
      if (element?.name === 'title' && !element.before.isDropped && title.length < TITLE_MAX) title += cutText(said, TITLE_MAX)
      if (place.isDropped) return
      if (line.length > maxCharacters) isCut = true
      else if (place.isRaw) line.put(said)
      else line.putWords(said)
    },

    close(): void {
      const element = elements.pop()
      if (element === undefined) return
      const { name, before, from, href } = element
      const mark = MARKS[name]
      if (!place.isDropped) {
        if (href !== null) line.wrap(from, '[', `](${href})`)
        else if (mark !== undefined && !place.isRaw) line.wrap(from, mark, mark)
        else if (name === 'pre') {
          line.put('\n```')
          flush()
        } else if (name === 'tr' && place.table !== null) endRow(place.table)
        else if (BLOCKS.has(name)) part()
        if (name === 'li') bullet = ''
      }
      place = before
    },

    end(): PageText {
      flush()
      const isMain = main.length >= Math.min(MAIN_MIN, rest.length)
      const said = visibleText(isMain ? main.text() : `${main.text()}\n\n${rest.text()}`).trim()
      const named = cutText(visibleText(title).replace(/\s+/g, ' ').trim(), TITLE_MAX)
      return {
        title: named === '' ? null : named,
        text: cutText(said, maxCharacters),
        cut: isCut || said.length > maxCharacters || (isMain ? main : rest).isFull,
      }
    },
  }
}

const OUTSIDE: Place = {
  isDropped: false,
  isMain: false,
  isRaw: false,
  isLink: false,
  quotes: 0,
  lists: [],
  table: null,
  isTight: false,
  isCell: false,
}

const placeIn = (outer: Place, name: string, attributes: Attributes): Omit<Place, 'isLink'> => {
  const isTable = name === 'table'
  const isList = LISTS.has(name) && outer.lists.length < NESTING_MAX
  const table = isTable ? { rows: 0, cells: 0 } : outer.table
  return {
    isDropped: outer.isDropped || isDropped(name, attributes),
    isMain: outer.isMain || MAINS.has(name) || attributes['role'] === 'main',
    isRaw: (outer.isRaw || name === 'pre') && !isTable,
    quotes: Math.min(outer.quotes + (name === 'blockquote' ? 1 : 0), NESTING_MAX),
    lists: isList ? [...outer.lists, { last: name === 'ol' ? 0 : null }] : outer.lists,
    table,
    // A table within a cell is a table of its own: old pages use tables for layout.
    isCell: !isTable && (outer.isCell || (table !== null && CELLS.has(name))),
    isTight: table !== null,
  }
}

type Attributes = Readonly<Record<string, string>>

const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const MAINS: ReadonlySet<string> = new Set(['main', 'article'])
const LISTS: ReadonlySet<string> = new Set(['ul', 'ol'])
const CELLS: ReadonlySet<string> = new Set(['td', 'th'])
const MARKS: Readonly<Record<string, string>> = { b: '**', strong: '**', em: '*', i: '*', code: '`', del: '~~' }

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const BLOCKS = words(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table tbody tfoot thead tr ul',
)

/** These elements hold no text, are hidden when scripts run, or stand around the main text. */
const DROPPED = words(
  'applet aside audio base button canvas datalist dialog embed footer frame frameset iframe input link map meta nav noembed noframes noscript object optgroup option progress script select style svg template textarea title video',
)
const DROPPED_ROLES = words('navigation contentinfo complementary search menu menubar dialog alertdialog')

const isDropped = (name: string, attributes: Attributes): boolean =>
  DROPPED.has(name) ||
  attributes['hidden'] !== undefined ||
  attributes['aria-hidden']?.trim().toLowerCase() === 'true' ||
  (attributes['role'] !== undefined && DROPPED_ROLES.has(attributes['role'])) ||
  (attributes['style'] !== undefined && hides(attributes['style']))

const hides = (style: string): boolean => HIDING.test(withoutComments(style).replace(CSS_ESCAPE, unescaped))

/** Written by hand: a regular expression would search for the end of each of very many comment openings. */
const withoutComments = (style: string): string => {
  let kept = ''
  let from = 0
  for (let at = style.indexOf('/*'); at >= 0; at = style.indexOf('/*', from)) {
    kept += style.slice(from, at)
    const end = style.indexOf('*/', at + 2)
    if (end < 0) return kept
    from = end + 2
  }
  return kept + style.slice(from)
}

/** In CSS a letter may be written as its number, and any character with a backslash before it. */
const CSS_ESCAPE = /\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi
const unescaped = (_: string, hex: string | undefined, sign: string): string =>
  hex === undefined ? sign : String.fromCodePoint(Math.min(Number.parseInt(hex, 16), LAST_CHARACTER))
const LAST_CHARACTER = 0x10ffff

const HIDING =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden|(?:opacity|font-size)\s*:\s*(?:0+(?:\.0*)?|\.0+)(?:%|[a-z]{1,4})?\s*(?:;|!|$))/i

/** Lines that hold only white space or the `|` of a table's layout. */
const BLANK = /^[\s|]*$/

const nextBullet = (list: { last: number | null } | undefined): string => {
  if (list === undefined || list.last === null) return '- '
  list.last += 1
  return `${list.last}. `
}

/** Null if the link leads nowhere useful: scripts, anchors within the page, and invalid or overlong addresses. */
const linkOf = (href: string | undefined, base: string): string | null => {
  const target = href?.trim() ?? ''
  const url = target === '' || target.length > LINK_MAX || target.startsWith('#') ? null : URL.parse(target, base)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null
  return url.href.replaceAll('(', '%28').replaceAll(')', '%29')
}

const LINK_MAX = 2048

const altOf = (alt: string | undefined): string => {
  const said = alt?.trim() ?? ''
  return said === '' ? '' : `[image: ${said}]`
}
