/**
 * Text as a reader takes it, whatever characters it is written in: compatibility forms as what they stand for (NFKC), every
 * space, dash and digit as the ASCII one, escapes of JSON, of addresses (`%41`) and of HTML (`&#65;`) as what they mean, and
 * nothing that is invisible or is no character. So no word can be hidden between control characters, in full-width letters, in
 * JSON within JSON or in an address. `startOf` and `endOf` say where something that is found in it is written.
 */
export interface FoldedText {
  /** Takes more of the text, and gives the units that it adds. Half a character waits for its other half, an escape for its rest. */
  push(text: string): string
  /** Gives the units of what waits, as if the text ended here. */
  end(): string
  /** Offset in the text as it is written, of the folded unit at this offset; of its end, for the end. */
  startOf(offset: number): number
  /** Where the character ends that the unit before this offset is part of. */
  endOf(offset: number): number
  /** No caller will ask about offsets before this one. */
  forget(before: number): void
}

/** Says whether a text may read otherwise than it is written, by itself or with what follows it. */
export const isDisguised = (text: string): boolean =>
  CONTROL_OR_ESCAPE.test(text) || (BEYOND_ASCII.test(text) && (CHANGED.test(text) || text.normalize('NFKC') !== text))

/** Folded units that read otherwise than they are written; both as offset and length. */
interface Stretch {
  readonly at: number
  readonly length: number
  readonly from: number
  readonly written: number
}

/** `before`: the length of the text that has gone before and reads as it is written. */
export const createFoldedText = (before = 0): FoldedText => {
  let stretches: Stretch[] = []
  /** Ends of the folded text and of what it was written as. */
  let end = before
  let writtenEnd = before
  let half = ''

  const stretchAt = (offset: number): Stretch | undefined => {
    let [low, high] = [0, stretches.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((stretches[middle]?.at ?? 0) <= offset) low = middle + 1
      else high = middle
    }
    return stretches[low - 1]
  }

  const fold = (text: string): string => {
    const out: string[] = []
    let taken = 0
    const pass = (until: number): void => {
      out.push(text.slice(taken, until))
      end += until - taken
      writtenEnd += until - taken
      taken = until
    }
    for (let found = nextChange(text, 0); found !== null; found = nextChange(text, found.index + found[0].length)) {
      const { 0: written, index } = found
      const meant = meaningOf(written)
      if (meant === written) continue
      pass(index)
      stretches.push({ at: end, length: meant.length, from: writtenEnd, written: written.length })
      out.push(meant)
      end += meant.length
      writtenEnd += written.length
      taken += written.length
    }
    pass(text.length)
    if (stretches.length > STRETCHES_MAX) stretches = [united(stretches.slice(0, STRETCHES_MAX / 2)), ...stretches.slice(STRETCHES_MAX / 2)]
    return out.join('')
  }

  return {
    push(text) {
      const whole = half + text
      half = OPEN_END.exec(whole.slice(-OPEN_MAX))?.[0] ?? ''
      return fold(half === '' ? whole : whole.slice(0, -half.length))
    },
    end() {
      const rest = half
      half = ''
      return fold(rest)
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

/** The words of a text in tag characters, each of which stands for one of ASCII: people don't see it, and models read it. */
export const textInTags = (text: string): string =>
  text.includes(TAGS_FIRST_HALF)
    ? (text
        .match(TAGS)
        ?.map((tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) - TAGS_START))
        .join('') ?? '')
    : ''

const TAGS_FIRST_HALF = '\udb40'
const TAGS_START = 0xe0000
const TAGS = /[\u{E0020}-\u{E007E}]/gu

/** More than this are remembered as one: what is found there then covers more than it need. */
const STRETCHES_MAX = 1 << 20

const united = (stretches: readonly Stretch[]): Stretch => {
  const [first, last] = [stretches[0], stretches.at(-1)]
  if (first === undefined || last === undefined) throw new RangeError('no stretches')
  const { at, from } = first
  return { at, from, length: last.at + last.length - at, written: last.from + last.written - from }
}

/** A percent sign, also one that is written by its own escape, again and again. */
const PERCENT = '%(?:25){0,16}'
const OCTET = `${PERCENT}[89abAB][0-9a-fA-F]`
/** One character in the escapes of an address (UTF-8). */
const IN_ADDRESS = [
  `${PERCENT}[0-7][0-9a-fA-F]`,
  `${PERCENT}[cdCD][0-9a-fA-F]${OCTET}`,
  `${PERCENT}[eE][0-9a-fA-F](?:${OCTET}){2}`,
  `${PERCENT}[fF][0-7](?:${OCTET}){3}`,
].join('|')
/** One character by its number, as in HTML. */
const IN_HTML = '&#(?:[xX]0{0,64}[0-9a-fA-F]{1,6}|0{0,64}[0-9]{1,7});?'
/** The octets of a character before its last one. */
const FIRST_OCTETS = `${PERCENT}(?:[cdCD][0-9a-fA-F]|[eE][0-9a-fA-F](?:${OCTET})?|[fF][0-7](?:${OCTET}){0,2})`

/** Half a character, or the beginning of an escape, at the end of a text. Of very many backslashes the last ones do. */
const OPEN_END = new RegExp(
  [
    String.raw`(?:[\ud800-\udbff]`,
    String.raw`\\{1,64}(?:u[0-9a-fA-F]{0,3})?`,
    `(?:${FIRST_OCTETS})?${PERCENT}[0-9a-fA-F]?`,
    FIRST_OCTETS,
    `&(?:#(?:[xX]0{0,64}[0-9a-fA-F]{0,6}|[0-9]{0,71})?)?)$`,
  ].join('|'),
)
/** More than any of them is long. */
const OPEN_MAX = 256
/** Control characters that are no white space; what may begin the code of a character. */
const CONTROL_OR_ESCAPE = /(?![\t-\r\x85])\p{Cc}|\\(?:u|$)|%(?:[0-9a-fA-F]|$)|&(?:#|$)/u
const BEYOND_ASCII = /[^\0-\x7f]/
/** The characters that NFKC leaves and a reader takes for ASCII, or does not see; and half a character, whose other half may come. */
const CHANGED = /(?![\0-\x7f])[\p{DI}\p{Mn}\p{Zs}\u2028\u2029\p{Pd}\u2212\u3002\p{Nd}\p{Cc}\ud800-\udfff]/u
/** Common letters that stay as they are. */
const UNCHANGED = String.raw`\0-\x7f\u00c0-\u0131\u0400-\u0481\u3041-\u3093\u30a1-\u30f6\u4e00-\u9fff\uac00-\ud7a3`
/** A character that begins a match of MAY_CHANGE, or the mark behind one that does: the one class is found many times as fast. */
const SIGN = new RegExp(String.raw`[\\%&\0-\x08\x0e-\x1f\x7f]|[^${UNCHANGED}]`, 'g')
/** A character with all that hangs on it. */
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

/** The first match of MAY_CHANGE that begins at `from` or behind it. */
const nextChange = (text: string, from: number): RegExpExecArray | null => {
  SIGN.lastIndex = from
  for (let sign = SIGN.exec(text); sign !== null; sign = SIGN.exec(text)) {
    const { index } = sign
    // A character of two units before it is a sign of its own.
    const found = (index > from && !isLowHalf(text, index - 1) ? changeAt(text, index - 1) : null) ?? changeAt(text, index)
    if (found !== null) return found
  }
  return null
}

const changeAt = (text: string, index: number): RegExpExecArray | null => {
  MAY_CHANGE.lastIndex = index
  return MAY_CHANGE.exec(text)
}

const isLowHalf = (text: string, index: number): boolean => (text.charCodeAt(index) & 0xfc00) === 0xdc00
const ESCAPED = /^\\+u(?=[0-9a-fA-F]{4}$)/
/** Half a character is none. */
const INVISIBLE = /[\p{DI}\p{Cs}]|(?![\t-\r\x85])\p{Cc}/gu
const SPACE = /[\p{Zs}\u2028\u2029]/gu
const DASH = /[\p{Pd}\u2212]/gu
const DIGIT = /\p{Nd}/gu
/** Marks over an ASCII character that are part of no letter. */
const ORNAMENT = /(?<=^|[\0-\x7f])\p{Mn}+/gu

/** The meanings of single characters; few texts use more. */
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
    .replace(ORNAMENT, '')
}

const PRINTABLE = /^[ -~]$/

const unescaped = (written: string): string => {
  if (written.length < 3) return written
  if (ESCAPED.test(written)) return String.fromCharCode(Number.parseInt(written.slice(-4), 16))
  if (written.startsWith('%')) return fromAddress(written)
  return written.startsWith('&#') ? fromHtml(written) : written
}

/** Octets that are no UTF-8 stay as they are written. */
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

/** Digits of every script stand in runs of ten, from nought to nine. */
const asciiDigit = (digit: string): string => {
  const code = digit.codePointAt(0) ?? 0
  if (code < 128) return digit
  let value = 0
  while (value < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(code - value - 1))) value += 1
  return String(value)
}
