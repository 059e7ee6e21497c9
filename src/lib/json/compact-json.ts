import { textPieces } from '../text/text-pieces.ts'

/** JSON text without the white space between its tokens; all other bytes and the order of members stay as they are. */
export const compactJson = (json: string): string => {
  let out = ''
  for (const piece of compactPieces(json)) out += piece
  return out
}

/** Characters in a piece. */
const PIECE = 128 * 1024

/** Like `compactJson`, but yields the text in pieces, each made on demand. No character is split between two pieces. */
export function* compactPieces(json: string): Generator<string> {
  let out = ''
  let kept = 0
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = endOfString(json, at)
    else if (isSpace(code)) {
      out += json.slice(kept, at)
      kept = at + 1
    }
    if (out.length + at - kept < PIECE) continue
    yield* textPieces(out + json.slice(kept, at + 1), PIECE)
    out = ''
    kept = at + 1
  }
  yield* textPieces(out + json.slice(kept), PIECE)
}

/** Returns the offset of the quote that closes the string opened at `start`. */
const endOfString = (json: string, start: number): number => {
  let end = start
  do end = json.indexOf('"', end + 1)
  while (end > 0 && isEscaped(json, end))
  return end < 0 ? json.length : end
}

const isEscaped = (json: string, at: number): boolean => {
  let before = at
  while (json.charCodeAt(before - 1) === BACKSLASH) before -= 1
  return (at - before) % 2 === 1
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

const QUOTE = 0x22
const BACKSLASH = 0x5c
