/**
 * Removes texts from what somebody else wrote, even if only a part is quoted, with different white space or case, or escaped as JSON or
 * HTML. Takes linear time in both, except for texts that repeat themselves.
 */
export interface HiddenText {
  readonly text: string
  /** The number of consecutive signs that count as a quotation; a shorter text must be quoted as a whole. */
  readonly run: number
}

/** Fewer signs are not secret: they occur in every text. */
const SIGNS_MIN = 4

/** Places that are tried for a piece that occurs more than once in the text. */
const PLACES_MAX = 8

export const hideQuotes = (hidden: readonly HiddenText[], mark: string): ((text: string) => string) => {
  const quotes = quotesOf(hidden)
  return (text) => markedAt(text, quotes(text), mark)
}

/** Ranges of a text, in UTF-16 units, that quote the hidden texts: in order and not overlapping. */
export const quotesOf = (hidden: readonly HiddenText[]): ((text: string) => readonly Range[]) => {
  const searches = hidden.flatMap(({ text, run }) => {
    const { signs } = signsOf(text)
    return signs.length < SIGNS_MIN ? [] : [signs.length <= run ? wholeSearch(signs) : partSearch(signs, run)]
  })
  if (searches.length === 0) return () => []
  return (text) => {
    const { signs, starts, ends } = signsOf(text)
    const found = searches.flatMap((search) => search(signs)).toSorted(([left], [right]) => left - right)
    const ranges: Range[] = []
    let from = 0
    for (const [start, end] of found) {
      const first = starts[start] ?? 0
      const last = ends[end - 1] ?? text.length
      if (last <= from) continue
      // A range that overlaps the previous one is merged with it: one mark stands for both.
      const before = ranges.at(-1)
      if (before !== undefined && first <= from) ranges[ranges.length - 1] = [before[0], last]
      else ranges.push([first, last])
      from = last
    }
    return ranges
  }
}

export const markedAt = (text: string, ranges: readonly Range[], mark: string): string => {
  if (ranges.length === 0) return text
  const out: string[] = []
  let from = 0
  for (const [start, end] of ranges) {
    out.push(text.slice(from, start), mark)
    from = end
  }
  out.push(text.slice(from))
  return out.join('')
}

export type Range = readonly [start: number, end: number]
type Search = (signs: string) => readonly Range[]

const wholeSearch =
  (text: string): Search =>
  (signs) => {
    const found: Range[] = []
    for (let at = signs.indexOf(text); at >= 0; at = signs.indexOf(text, at + text.length)) found.push([at, at + text.length])
    const begun = beginningAtEnd(text, signs, text.length - 1)
    return begun === 0 ? found : [...found, [signs.length - begun, signs.length]]
  }

/**
 * Every quotation of `run` signs contains one of the pieces that the text is cut into; the signs
 * around the piece show how long the quotation is.
 */
const partSearch = (text: string, run: number): Search => {
  const size = (run + 1) >> 1
  const pieces = new Map<string, number[]>()
  for (let at = 0; at + size <= text.length; at += size) {
    const piece = text.slice(at, at + size)
    const places = pieces.get(piece)
    if (places === undefined) pieces.set(piece, [at])
    else if (places.length < PLACES_MAX) places.push(at)
  }
  const around = (signs: string, at: number, place: number): Range => {
    let start = at
    let end = at + size
    while (start > 0 && place - (at - start) > 0 && signs[start - 1] === text[place - (at - start) - 1]) start -= 1
    while (end < signs.length && place + end - at < text.length && signs[end] === text[place + end - at]) end += 1
    return [start, end]
  }
  return (signs) => {
    const found: Range[] = []
    for (let at = 0; at + size <= signs.length;) {
      const ranges = (pieces.get(signs.slice(at, at + size)) ?? []).map((place) => around(signs, at, place))
      const longest = ranges.reduce<Range>((one, other) => (other[1] - other[0] > one[1] - one[0] ? other : one), [at, at])
      if (longest[1] - longest[0] >= run) {
        found.push(longest)
        at = Math.max(longest[1], at + 1)
      } else at += 1
    }
    const begun = beginningAtEnd(text, signs, run)
    return begun === 0 ? found : [...found, [signs.length - begun, signs.length]]
  }
}

/** How many of the last signs are the beginning of the text, which may have been cut off in the middle of a quotation. */
const beginningAtEnd = (text: string, signs: string, run: number): number => {
  for (let count = Math.min(run, signs.length); count >= SIGNS_MIN; count -= 1) if (text.startsWith(signs.slice(-count))) return count
  return 0
}

interface Signs {
  readonly signs: string
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

/**
 * The characters of a text that are compared (letters, digits and punctuation, without white
 * space, quotes and escapes), and the place of each.
 */
const signsOf = (text: string): Signs => {
  const starts = new Uint32Array(text.length)
  const ends = new Uint32Array(text.length)
  const signs = new Uint16Array(text.length)
  let count = 0
  for (let at = 0; at < text.length;) {
    const unit = text.charCodeAt(at)
    let sign = unit
    let end = at + 1
    if (unit === BACKSLASH || unit === AMPERSAND) {
      ESCAPE.lastIndex = at
      const [token] = ESCAPE.exec(text) ?? []
      if (token !== undefined) end += token.length - 1
      sign = token === undefined ? (unit === BACKSLASH ? NONE : unit) : escaped(token)
    }
    const kept = sign < KEPT.length ? (KEPT[sign] ?? NONE) : keptOfOthers(sign)
    if (kept !== NONE) {
      signs[count] = kept
      starts[count] = at
      ends[count] = end
      count += 1
    }
    at = end
  }
  return { signs: Buffer.from(signs.buffer, 0, 2 * count).toString('utf16le'), starts, ends }
}

const BACKSLASH = 92
const AMPERSAND = 38
const NONE = 0xff_ff

const ESCAPE = /\\+(?:u[0-9a-fA-F]{4}|[nrtbf])?|&(?:amp|lt|gt|quot|apos|nbsp|#39|#x27);/y
const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }

/** The unit that an escape stands for; NONE if that unit is ignored. */
const escaped = (token: string): number =>
  token[0] === '\\' && token.length > 5 && token.at(-5) === 'u'
    ? Number.parseInt(token.slice(-4), 16)
    : (ENTITIES[token]?.charCodeAt(0) ?? NONE)

/** White space, quotes, and invisible characters. */
const IGNORED = /^[\s"'`\\\p{DI}]$/u

const keptOfOthers = (unit: number): number => {
  const sign = String.fromCharCode(unit)
  return unit === NONE || IGNORED.test(sign) ? NONE : sign.toLowerCase().charCodeAt(0)
}

/** A lookup table of `keptOfOthers` for ASCII. */
const KEPT = Uint16Array.from({ length: 128 }, (_, unit) => keptOfOthers(unit))
