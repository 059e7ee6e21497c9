/**
 * Translates places in an answer that are counted in bytes of UTF-8 into offsets of its text. An answer may be megabytes long and name
 * thousands of places, so that none of them may cost a reading of the whole text (decisions/0274).
 */
export interface TextPlaces {
  readonly text: string
  /** Call it with each piece of the text. */
  add(piece: string): void
  /** The offset behind the character to which the byte belongs; at most the length of the text. */
  offsetOf(byte: number): number
  /** Where a quoted text begins; negative if it is not found, or after too much was searched. */
  find(quoted: string): number
}

/** Between two known offsets so many units are walked. */
const STRIDE = 256

/** Characters of text that all searches of one answer may read: that of a long answer with a hundred quotations which stand elsewhere. */
const SEARCHED_MAX = 8_000_000
/** Units of a quotation that are looked for; a longer one is then compared. */
const SOUGHT_MAX = 64

export const createTextPlaces = (): TextPlaces => {
  let text = ''
  let searched = 0
  /** The bytes before the unit `index * STRIDE`. */
  const bytesBefore = [0]
  let walked = 0
  let bytes = 0

  const walk = (): void => {
    // The second half of a pair may come with the next piece.
    const end = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length
    for (; walked < end; walked += 1) {
      if (walked % STRIDE === 0) bytesBefore[walked / STRIDE] = bytes
      bytes += bytesOfUnit(text, walked)
    }
  }

  return {
    get text() {
      return text
    },
    add(piece) {
      text += piece
    },
    offsetOf(byte) {
      walk()
      let low = 0
      let high = bytesBefore.length
      while (high - low > 1) {
        const middle = (low + high) >> 1
        if ((bytesBefore[middle] ?? 0) <= byte) low = middle
        else high = middle
      }
      let offset = low * STRIDE
      let before = bytesBefore[low] ?? 0
      for (; offset < text.length && before < byte; offset += 1) before += bytesOfUnit(text, offset)
      return isLowSurrogate(text.charCodeAt(offset)) ? offset + 1 : offset
    },
    find(quoted) {
      const sought = quoted.slice(0, SOUGHT_MAX)
      searched += text.length
      let found = text.indexOf(sought)
      // Its beginning may also stand in front of another text.
      while (found >= 0 && searched <= SEARCHED_MAX && !text.startsWith(quoted, found)) {
        searched += quoted.length
        found = text.indexOf(sought, found + 1)
      }
      return searched > SEARCHED_MAX ? -1 : found
    },
  }
}

/** A pair of surrogates has four bytes, which count for its first unit. */
const bytesOfUnit = (text: string, at: number): number => {
  const unit = text.charCodeAt(at)
  if (unit < 0x80) return 1
  if (unit < 0x800) return 2
  if (isLowSurrogate(unit)) return at > 0 && isHighSurrogate(text.charCodeAt(at - 1)) ? 0 : 3
  return isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1)) ? 4 : 3
}

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800
const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00
