/** A long text in pieces of so many UTF-16 units, or one more: half of a character alone is no text. An empty text has none. */
export function* textPieces(text: string, length: number): Generator<string> {
  for (let from = 0; from < text.length;) {
    const to = endOfPiece(text, from + length)
    yield text.slice(from, to)
    from = to
  }
}

/** Where the text may be cut at the earliest, not before `end`. */
export const endOfPiece = (text: string, end: number): number => {
  if (end >= text.length) return text.length
  const isWithinPair = text.codePointAt(end - 1) !== text.charCodeAt(end - 1)
  return isWithinPair ? end + 1 : end
}
