/** The edit distance between a text and one that it may be meant for; Infinity if the two are too far apart or have nothing in common. */
export const nearDistance = (wanted: string, known: string): number => {
  const shorter = Math.min(wanted.length, known.length)
  const distance = editDistance(wanted, known)
  return distance < shorter && distance <= Math.max(2, shorter / 3) ? distance : Number.POSITIVE_INFINITY
}

/**
 * How many characters must be inserted, removed or changed to turn one text into the other
 * (Levenshtein). Costs the product of their lengths.
 */
const editDistance = (from: string, to: string): number => {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const substituted = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(substituted, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
