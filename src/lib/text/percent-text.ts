/** Percent escapes of megabytes are decoded piece by piece, because the engine decodes in one go, which takes tens of milliseconds. */
import type { Steps } from '../steps.ts'

/** Characters that are decoded at once. */
const PIECE = 128 * 1024

/** Passes the decoded pieces to `take`; no piece cuts an escape or a character. Returns false if `decode` throws. */
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

/** Like `decodeURIComponent`, in steps; null if that throws. */
export function* percentDecoded(text: string): Steps<string | null> {
  const pieces: string[] = []
  return (yield* decodePieces(text, decodeURIComponent, (piece) => void pieces.push(piece))) ? pieces.join('') : null
}

/** Like `decodeURIComponent`; a text with an escape that is not valid stays as it is. */
export const decodedOrSame = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const endOfPiece = (text: string, from: number): number => {
  let to = from + PIECE
  if (to >= text.length) return text.length
  if (text.codePointAt(to - 1) !== text.charCodeAt(to - 1)) to += 1
  const escape = text.slice(to - 2, to).indexOf('%')
  if (escape >= 0) to += escape + 1
  // In UTF-8, up to three octets follow the first octet of a character.
  for (let octet = 0; octet < 3 && CONTINUES.test(text.slice(to, to + 2)); octet += 1) to += 3
  return to
}

const CONTINUES = /^%[89ab]/i
