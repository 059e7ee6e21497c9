/**
 * Replaces escapes such as `\u4f60` in JSON text by the characters beyond ASCII that they stand for. Python escapes all of them, and a
 * parser takes several times as long for such text as for the same text in UTF-8.
 */

/** Bytes that are read at once: a few milliseconds. */
const STEP_BYTES = 2_000_000

const BACKSLASH = 0x5c
const LETTER_U = 0x75
const BYTE_ORDER_MARK = 0xfeff

/**
 * The same JSON text. Escapes of ASCII characters, of lone surrogates and of a byte order mark stay as they were written, so that text
 * that is not JSON does not become JSON. The bytes are overwritten; `pause` lets other work run.
 */
export const writtenOut = async (bytes: Uint8Array, pause: () => Promise<void>): Promise<Uint8Array> => {
  let from = bytes.indexOf(BACKSLASH)
  if (from < 0) return bytes
  let to = from
  while (from < bytes.length) {
    const end = Math.min(from + STEP_BYTES, bytes.length)
    ;[from, to] = writeOut(bytes, from, to, end)
    if (from < bytes.length) await pause()
  }
  return bytes.subarray(0, to)
}

/**
 * Reads from `from` to `end`, or to the end of an escape that begins before it, and writes from `to` on; returns where it got to in both.
 */
const writeOut = (bytes: Uint8Array, from: number, to: number, end: number): [from: number, to: number] => {
  while (from < end) {
    const byte = bytes[from] ?? 0
    if (byte !== BACKSLASH) {
      bytes[to++] = byte
      from += 1
      continue
    }
    const unit = bytes[from + 1] === LETTER_U ? unitAt(bytes, from + 2) : -1
    const low = isHigh(unit) && bytes[from + 6] === BACKSLASH && bytes[from + 7] === LETTER_U ? unitAt(bytes, from + 8) : -1
    if (isLow(low)) {
      const point = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
      bytes[to++] = 0xf0 | (point >> 18)
      bytes[to++] = 0x80 | ((point >> 12) & 0x3f)
      bytes[to++] = 0x80 | ((point >> 6) & 0x3f)
      bytes[to++] = 0x80 | (point & 0x3f)
      from += 12
    } else if (unit < 0x80 || (unit >= 0xd800 && unit <= 0xdfff) || unit === BYTE_ORDER_MARK) {
      // The character after the backslash may be another backslash.
      bytes[to++] = byte
      if (from + 1 < bytes.length) bytes[to++] = bytes[from + 1] ?? 0
      from += 2
    } else {
      if (unit < 0x800) bytes[to++] = 0xc0 | (unit >> 6)
      else {
        bytes[to++] = 0xe0 | (unit >> 12)
        bytes[to++] = 0x80 | ((unit >> 6) & 0x3f)
      }
      bytes[to++] = 0x80 | (unit & 0x3f)
      from += 6
    }
  }
  return [Math.min(from, bytes.length), to]
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** The number that four hexadecimal digits stand for; -1 if they are not all such digits. */
const unitAt = (bytes: Uint8Array, start: number): number => {
  let unit = 0
  for (let at = start; at < start + 4; at += 1) {
    const digit = digitOf(bytes[at] ?? 0)
    if (digit < 0) return -1
    unit = unit * 16 + digit
  }
  return unit
}

const digitOf = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
