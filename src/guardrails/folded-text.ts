import type { Steps } from '../lib/steps.ts'

/**
 * Text as a reader understands it, whatever characters it is written in: compatibility forms are replaced by what they stand for (NFKC),
 * every space, dash and digit by the ASCII one, and escapes of JSON, of URLs (`%41`) and of HTML (`&#65;`) by what they mean; characters
 * that are invisible or invalid are dropped. So a word cannot be hidden between control characters, in full-width letters, in JSON within
 * JSON or in a URL. `startOf` and `endOf` map a match in the folded text back to its place in the written text.
 */
export interface FoldedText {
  /**
   * Takes more of the text and returns the folded units that it adds. Half a character waits
   * for its other half, and an escape for its rest.
   */
  push(text: string): string
  /** Returns the units for what is still waiting, as if the text ended here. */
  end(): string
  /** Offset in the written text of the folded unit at this offset; for the end of the folded text, the end of the written text. */
  startOf(offset: number): number
  /** Offset in the written text at which the character ends that produced the unit before this offset. */
  endOf(offset: number): number
  /** The caller promises not to ask about offsets before this one. */
  forget(before: number): void
}

/** True if a text may read otherwise than it is written, by itself or together with what follows it. */
export const isDisguised = (text: string): boolean =>
  CONTROL_OR_ESCAPE.test(text) || (BEYOND_ASCII.test(text) && (CHANGED.test(text) || text.normalize('NFKC') !== text))

/**
 * A stretch of folded units that read otherwise than they are written: its offset and length in the folded text (`at`,
 * `length`) and in the written text (`from`, `written`).
 */
interface Stretch {
  readonly at: number
  readonly length: number
  readonly from: number
  readonly written: number
}

/** `before` is the length of the preceding text, which reads as it is written. */
export const createFoldedText = (before = 0): FoldedText => {
  let stretches: Stretch[] = []
  /** The ends of the folded text and of the written text so far. */
  let end = before
  let writtenEnd = before
  let out: string[] = []

  const stretchAt = (offset: number): Stretch | undefined => {
    let low = 0
    let high = stretches.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((stretches[middle]?.at ?? 0) <= offset) low = middle + 1
      else high = middle
    }
    return stretches[low - 1]
  }

  const folding = createFolding({
    plain(text) {
      out.push(text)
      end += text.length
      writtenEnd += text.length
    },
    disguised(written, meant) {
      stretches.push({ at: end, length: meant.length, from: writtenEnd, written: written.length })
      out.push(meant)
      end += meant.length
      writtenEnd += written.length
    },
  })
  const takeOut = (): string => {
    if (stretches.length > STRETCHES_MAX) stretches = [united(stretches.slice(0, STRETCHES_MAX / 2)), ...stretches.slice(STRETCHES_MAX / 2)]
    const units = out.join('')
    out = []
    return units
  }

  return {
    push(text) {
      folding.push(text)
      return takeOut()
    },
    end() {
      folding.end()
      return takeOut()
    },
    startOf(offset) {
      if (offset >= end) return writtenEnd
      const stretch = stretchAt(offset)
      if (stretch === undefined) return offset
      const { at, length, from, written } = stretch
      return offset < at + length ? from : from + written + offset - at - length
    },
    endOf(offset) {
      const stretch = stretchAt(offset - 1)
      if (stretch === undefined) return offset
      const { at, length, from, written } = stretch
      return from + written + Math.max(offset - at - length, 0)
    },
    forget(offset) {
      let gone = 0
      while (gone + 1 < stretches.length && (stretches[gone + 1]?.at ?? 0) <= offset) gone += 1
      if (gone > 0) stretches = stretches.slice(gone)
    },
  }
}

/** Takes the parts of a text in order. */
export interface Folded {
  plain(text: string): void
  /** A character, with its marks or as an escape, that reads otherwise than it is written. */
  disguised(written: string, meant: string): void
}

/** Tells the parts of a text that read as they are written from those that do not. */
export interface Folding {
  push(text: string): void
  /** Passes on what is still waiting, as if the text ended here. */
  end(): void
}

export const createFolding = (folded: Folded): Folding => {
  let half = ''
  const fold = (text: string): void => {
    let taken = 0
    for (let found = nextChange(text, 0); found !== null; found = nextChange(text, found.index + found[0].length)) {
      const { 0: written, index } = found
      const meant = meaningOf(written)
      if (meant === written) continue
      if (index > taken) folded.plain(text.slice(taken, index))
      folded.disguised(written, meant)
      taken = index + written.length
    }
    if (taken < text.length) folded.plain(taken === 0 ? text : text.slice(taken))
  }
  return {
    push(text) {
      const whole = half + text
      half = openEnd(whole)
      fold(half === '' ? whole : whole.slice(0, -half.length))
    },
    end() {
      const rest = half
      half = ''
      fold(rest)
    },
  }
}

/**
 * The words that a text hides in Unicode tag characters, each of which stands for an ASCII
 * character: people do not see them, but models read them.
 */
export function* textInTags(text: string): Steps<string> {
  if (!text.includes(TAGS_FIRST_HALF)) return ''
  const pieces: string[] = []
  for (let from = 0; from < text.length;) {
    const end = from + TAGS_PIECE
    const to = text[end - 1] === TAGS_FIRST_HALF ? end + 1 : end
    pieces.push((text.slice(from, to).match(TAGS) ?? []).map(characterOfTag).join(''))
    from = to
    yield
  }
  return pieces.join('')
}

const characterOfTag = (tag: string): string => String.fromCharCode((tag.codePointAt(0) ?? 0) - TAGS_START)

const TAGS_FIRST_HALF = '\udb40'
const TAGS_START = 0xe0000
const TAGS = /[\u{E0020}-\u{E007E}]/gu
/** Characters that are read in one step. */
const TAGS_PIECE = 16_384

/** Above this number, stretches are merged into one; a match there then covers more text than necessary. */
const STRETCHES_MAX = 1 << 20

const united = (stretches: readonly Stretch[]): Stretch => {
  const first = stretches[0]
  const last = stretches.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('no stretches')
  const { at, from } = first
  return { at, from, length: last.at + last.length - at, written: last.from + last.written - from }
}

/** A percent sign, which may itself be escaped, several times over. */
const PERCENT = '%(?:25){0,16}'
const OCTET = `${PERCENT}[89abAB][0-9a-fA-F]`
/** One character in URL escapes (UTF-8). */
const IN_ADDRESS = [
  `${PERCENT}[0-7][0-9a-fA-F]`,
  `${PERCENT}[cdCD][0-9a-fA-F]${OCTET}`,
  `${PERCENT}[eE][0-9a-fA-F](?:${OCTET}){2}`,
  `${PERCENT}[fF][0-7](?:${OCTET}){3}`,
].join('|')
/** One character by its number, as in HTML. */
const IN_HTML = '&#(?:[xX]0{0,64}[0-9a-fA-F]{1,6}|0{0,64}[0-9]{1,7});?'
/** The octets of a character without its last one. */
const FIRST_OCTETS = `${PERCENT}(?:[cdCD][0-9a-fA-F]|[eE][0-9a-fA-F](?:${OCTET})?|[fF][0-7](?:${OCTET}){0,2})`

/**
 * Half a character, or the beginning of an escape, at the end of a text. If there are very
 * many backslashes, only the last ones are taken.
 */
const OPEN_END = new RegExp(
  [
    String.raw`(?:[\ud800-\udbff]`,
    String.raw`\\{1,64}(?:u[0-9a-fA-F]{0,3})?`,
    `(?:${FIRST_OCTETS})?${PERCENT}[0-9a-fA-F]?`,
    FIRST_OCTETS,
    `&(?:#(?:[xX]0{0,64}[0-9a-fA-F]{0,6}|[0-9]{0,71})?)?)$`,
  ].join('|'),
)
/** Longer than any open end can be. */
const OPEN_MAX = 256
const OPENS = /[\\%&\ud800-\udbff]/
const CONTINUES = /[0-9a-fA-FuxX#]/

/** Nearly every text ends with a unit that is part of no escape, so the expression is seldom needed. */
const openEnd = (text: string): string => {
  let at = text.length - 1
  while (at > text.length - OPEN_MAX && CONTINUES.test(text.charAt(at))) at -= 1
  return OPENS.test(text.charAt(at)) ? (OPEN_END.exec(text.slice(-OPEN_MAX))?.[0] ?? '') : ''
}
/** Control characters that are not white space, and what may begin an escaped character. */
const CONTROL_OR_ESCAPE = /(?![\t-\r\x85])\p{Cc}|\\(?:u|$)|%(?:[0-9a-fA-F]|$)|&(?:#|$)/u
const BEYOND_ASCII = /[^\0-\x7f]/
/**
 * Characters that NFKC leaves alone but that a reader takes for ASCII or does not see; and half a character, whose other half may follow.
 */
const CHANGED =
  /(?![\0-\x7f])[\p{DI}\p{Cf}\p{NChar}\p{Mn}\p{Me}\p{Zs}\u2028\u2029\p{Pd}\u2212\u3002\p{Nd}\u24f5-\u24ff\u2776-\u2793\p{Cc}\ud800-\udfff]/u
/** Common characters that folding leaves as they are. */
const UNCHANGED = String.raw`\0-\x7f\u00c0-\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e\u0400-\u0481\u2018-\u2022\u20ac\u3041-\u3093\u30a1-\u30f6\u4e00-\u9fff\uac00-\ud7a3`
/**
 * A character that begins a match of MAY_CHANGE, or the mark after such a character: a single
 * character class is searched many times as fast.
 */
const SIGN = new RegExp(String.raw`[\\%&\0-\x08\x0e-\x1f\x7f]|[^${UNCHANGED}]`, 'g')
/** A character with all its combining and invisible marks, or an escape. */
const MAY_CHANGE = new RegExp(
  [
    String.raw`(?<!\\)\\+u[0-9a-fA-F]{4}`,
    IN_ADDRESS,
    IN_HTML,
    String.raw`(?![\t-\r])\p{Cc}`,
    String.raw`[\u1100-\u115f\ua960-\ua97c][\u1160-\u11ff\ud7b0-\ud7fb]+`,
    String.raw`[\s\S][\p{M}\p{DI}]+`,
    `[^${UNCHANGED}]`,
  ].join('|'),
  'uy',
)

/** The first match of MAY_CHANGE that begins at or after `from`. */
const nextChange = (text: string, from: number): RegExpExecArray | null => {
  SIGN.lastIndex = from
  for (let sign = SIGN.exec(text); sign !== null; sign = SIGN.exec(text)) {
    const { index } = sign
    const found = (index > from && isMarkOn(text, index) ? changeAt(text, index - 1) : null) ?? changeAt(text, index)
    if (found !== null) return found
  }
  return null
}

const changeAt = (text: string, index: number): RegExpExecArray | null => {
  MAY_CHANGE.lastIndex = index
  return MAY_CHANGE.exec(text)
}

/** True if the unit may be a mark on the character before it. If that character has two units, it is a sign itself. */
const isMarkOn = (text: string, index: number): boolean => {
  const unit = text.charCodeAt(index)
  return (unit === SOFT_HYPHEN || unit >= FIRST_MARK) && (text.charCodeAt(index - 1) & 0xfc00) !== 0xdc00
}

const SOFT_HYPHEN = 0xad
const FIRST_MARK = 0x300
const ESCAPED = /^\\+u(?=[0-9a-fA-F]{4}$)/
/** Invisible characters, format characters and control characters; half a character and what is no character are dropped too. */
const INVISIBLE = /[\p{DI}\p{Cf}\p{Cs}\p{NChar}]|(?![\t-\r\x85])\p{Cc}/gu
const SPACE = /[\p{Zs}\u2028\u2029]/gu
const DASH = /[\p{Pd}\u2212]/gu
const DIGIT = /\p{Nd}/gu
/** Digits in circles that have no compatibility form. The other digits in circles have one, so NFKC replaces them. */
const CIRCLED_DIGIT = /[\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792]/g
const CIRCLED_ONES = [0x24f5, 0x2776, 0x2780, 0x278a]
/** Combining marks on an ASCII character, with which they form no letter: accents, and the frames of keycaps. */
const ORNAMENT = /(?<=^|[\0-\x7f])[\p{Mn}\p{Me}]+/gu

/** A cache of what single characters mean; few texts use more. */
const meanings = new Map<string, string>()
const MEANINGS_MAX = 10_000

const meaningOf = (written: string): string => {
  const known = meanings.get(written)
  if (known !== undefined) return known
  const meant = folded(written)
  if (written.length <= 3 && meanings.size < MEANINGS_MAX) meanings.set(written, meant)
  return meant
}

const folded = (written: string): string => {
  const character = unescaped(written)
  if (PRINTABLE.test(character)) return character
  return character
    .replace(INVISIBLE, '')
    .normalize('NFKC')
    .replace(SPACE, ' ')
    .replace(DASH, '-')
    .replaceAll('\u3002', '.')
    .replace(DIGIT, asciiDigit)
    .replace(CIRCLED_DIGIT, circledDigit)
    .replace(ORNAMENT, '')
}

const PRINTABLE = /^[ -~]$/

const unescaped = (written: string): string => {
  if (written.length < 3) return written
  if (ESCAPED.test(written)) return String.fromCharCode(Number.parseInt(written.slice(-4), 16))
  if (written.startsWith('%')) return fromAddress(written)
  return written.startsWith('&#') ? fromHtml(written) : written
}

/** Octets that are not valid UTF-8 stay as they are written. */
const fromAddress = (written: string): string => {
  const octets = written.match(/[0-9a-fA-F]{2}(?=%|$)/g) ?? []
  if (octets.length === 1) return String.fromCharCode(Number.parseInt(written.slice(-2), 16))
  const character = new TextDecoder().decode(Uint8Array.from(octets, (octet) => Number.parseInt(octet, 16)))
  return character.includes('\ufffd') ? written : character
}

const fromHtml = (written: string): string => {
  const [, hex, decimal = ''] = /^&#(?:[xX]([0-9a-fA-F]+)|(\d+))/.exec(written) ?? []
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : written
}

/** In every script, digits are encoded in runs of ten, from zero to nine. */
const asciiDigit = (digit: string): string => {
  const code = digit.codePointAt(0) ?? 0
  if (code < 128) return digit
  let value = 0
  while (value < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(code - value - 1))) value += 1
  return String(value)
}

const circledDigit = (digit: string): string => {
  const code = digit.charCodeAt(0)
  const one = CIRCLED_ONES.findLast((first) => first <= code && code < first + 9)
  return one === undefined ? '0' : String(code - one + 1)
}
