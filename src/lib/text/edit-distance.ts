/** The edit distance between a text and one that it may be meant for; Infinity if the two are too far apart or have nothing in common. */
export const nearDistance = (wanted: string, known: string): number => {
  const shorter = Math.min(wanted.length, known.length)
  return distanceWithin(wanted, known, Math.min(shorter - 1, Math.floor(Math.max(2, shorter / 3))))
}

/**
 * How many characters must be inserted, removed or changed to turn one text into the other (Levenshtein); Infinity if there are more than
 * `most`. A client may ask for many unknown names, each of which is compared with thousands. So texts are compared only where they differ,
 * and no further than they can be within `most` of each other.
 */
const distanceWithin = (from: string, to: string, most: number): number => {
  if (Math.abs(from.length - to.length) > most) return Number.POSITIVE_INFINITY
  const start = commonStart(from, to)
  const end = commonEnd(from, to, start)
  const rows = from.length - start - end
  const columns = to.length - start - end
  // The distances of the row before, which those of this row replace from left to right.
  const distances = Array.from({ length: columns + 1 }, (_, index) => index)
  for (let row = 1; row <= rows; row += 1) {
    const first = Math.max(1, row - most)
    const last = Math.min(columns, row + most)
    let diagonal = distances[first - 1] ?? 0
    let left = first === 1 ? row : Number.POSITIVE_INFINITY
    let least = left
    distances[first - 1] = left
    for (let column = first; column <= last; column += 1) {
      const above = column === row + most ? Number.POSITIVE_INFINITY : (distances[column] ?? 0)
      const substituted = diagonal + (from[start + row - 1] === to[start + column - 1] ? 0 : 1)
      diagonal = above
      left = Math.min(substituted, above + 1, left + 1)
      distances[column] = left
      least = Math.min(least, left)
    }
    if (least > most) return Number.POSITIVE_INFINITY
  }
  const distance = distances[columns] ?? 0
  return distance > most ? Number.POSITIVE_INFINITY : distance
}

const commonStart = (a: string, b: string): number => {
  let length = 0
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length += 1
  return length
}

const commonEnd = (a: string, b: string, start: number): number => {
  let length = 0
  while (length < Math.min(a.length, b.length) - start && a[a.length - 1 - length] === b[b.length - 1 - length]) length += 1
  return length
}
