/** Percent escapes of megabytes are decoded a piece at a time: the engine does it in one go, for tens of milliseconds. */
import type { Steps } from './steps.ts'

/** Characters that are decoded at once. */
const PIECE = 128 * 1024

/** Hands on `decode` of each piece, which cuts no escape and no character; false at the end where it throws. */
export function* decodePieces(text: string, decode: (piece: string) => string, take: (piece: string) => void): Steps<boolean> {
  for (let from = 0; from < text.length;) {
    const to = endOfPiece(text, from)
    try {
      take(decode(text.slice(from, to)))
    } catch {
      return false
    }
    from = to
    yield
  }
  return true
}

/** As `decodeURIComponent`; null where that throws. */
export function* percentDecoded(text: string): Steps<string | null> {
  const pieces: string[] = []
  return (yield* decodePieces(text, decodeURIComponent, (piece) => void pieces.push(piece))) ? pieces.join('') : null
}

const endOfPiece = (text: string, from: number): number => {
  let to = from + PIECE
  if (to >= text.length) return text.length
  if (text.codePointAt(to - 1) !== text.charCodeAt(to - 1)) to += 1
  const escape = text.slice(to - 2, to).indexOf('%')
  if (escape >= 0) to += escape + 1
  // A character of UTF-8 has up to three octets behind its first.
  for (let octet = 0; octet < 3 && CONTINUES.test(text.slice(to, to + 2)); octet += 1) to += 3
  return to
}

const CONTINUES = /^%[89ab]/i
