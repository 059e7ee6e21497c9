/** Cuts a long text into pieces of `length` UTF-16 units, or one more so that no surrogate pair is split. An empty text has no pieces. */
export function* textPieces(text: string, length: number): Generator<string> {
  for (let from = 0; from < text.length;) {
    const to = endOfPiece(text, from + length)
    yield text.slice(from, to)
    from = to
  }
}

/** The first place at or after `end` at which the text may be cut. */
export const endOfPiece = (text: string, end: number): number => {
  if (end >= text.length) return text.length
  const isWithinPair = text.codePointAt(end - 1) !== text.charCodeAt(end - 1)
  return isWithinPair ? end + 1 : end
}
