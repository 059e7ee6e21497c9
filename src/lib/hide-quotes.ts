/**
 * Takes texts out of what somebody else wrote, also where only a part of one is quoted, with other white space, in other
 * case, or escaped as JSON or HTML. Linear in both, but for texts that repeat themselves.
 */
export interface HiddenText {
  readonly text: string
  /** So many signs in a row are a quotation; of a shorter text, all of it. */
  readonly run: number
}

/** Fewer signs are no secret: they stand in every text. */
const SIGNS_MIN = 4

/** Places that are tried for a piece that a text repeats. */
const PLACES_MAX = 8

export const hideQuotes = (hidden: readonly HiddenText[], mark: string): ((text: string) => string) => {
  const searches = hidden.flatMap(({ text, run }) => {
    const { signs } = signsOf(text)
    return signs.length < SIGNS_MIN ? [] : [signs.length <= run ? wholeSearch(signs) : partSearch(signs, run)]
  })
  if (searches.length === 0) return (text) => text
  return (text) => {
    const { signs, starts, ends } = signsOf(text)
    const found = searches.flatMap((search) => search(signs)).toSorted(([left], [right]) => left - right)
    const out: string[] = []
    let from = 0
    for (const [start, end] of found) {
      const [first, last] = [starts[start] ?? 0, ends[end - 1] ?? text.length]
      if (last <= from) continue
      if (first > from || from === 0) out.push(text.slice(from, Math.max(first, from)), mark)
      from = last
    }
    out.push(text.slice(from))
    return out.join('')
  }
}

type Range = readonly [start: number, end: number]
type Search = (signs: string) => readonly Range[]

const wholeSearch =
  (text: string): Search =>
  (signs) => {
    const found: Range[] = []
    for (let at = signs.indexOf(text); at >= 0; at = signs.indexOf(text, at + text.length)) found.push([at, at + text.length])
    return found
  }

/** Every quotation of `run` signs holds one of the pieces that the text is cut into; what stands around it tells how long it is. */
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
    let [start, end] = [at, at + size]
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

/** How many signs at the end of what is told begin the text: what is told was cut there. */
const beginningAtEnd = (text: string, signs: string, run: number): number => {
  for (let count = Math.min(run, signs.length); count >= SIGNS_MIN; count -= 1) if (text.startsWith(signs.slice(-count))) return count
  return 0
}

/** What counts of a text: letters, digits and signs, without white space, quotes and escapes; and where each stands. */
const signsOf = (text: string): { readonly signs: string; readonly starts: readonly number[]; readonly ends: readonly number[] } => {
  const starts: number[] = []
  const ends: number[] = []
  const signs: string[] = []
  for (const match of text.matchAll(TOKENS)) {
    const [token] = match
    const sign = ESCAPED_UNIT.test(token) ? String.fromCharCode(Number.parseInt(token.slice(-4), 16)) : (ENTITIES[token] ?? token)
    if (IGNORED.test(sign)) continue
    for (const unit of sign.toLowerCase().slice(0, sign.length).split('')) {
      signs.push(unit)
      starts.push(match.index)
      ends.push(match.index + token.length)
    }
  }
  return { signs: signs.join(''), starts, ends }
}

const TOKENS = /\\+u[0-9a-fA-F]{4}|\\+[nrtbf]|&(?:amp|lt|gt|quot|apos|nbsp|#39|#x27);|[^\\]/gs
const ESCAPED_UNIT = /^\\+u/
const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }
/** White space, quotes, escapes of both, and what stands for them. */
const IGNORED = /^(?:[\s"'`\p{DI}]|\\+[nrtbf]|&.+;)$/u
