/** The difference of two texts, word by word. */
export interface Piece {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Above this number of comparisons the whole middle of the texts is shown as replaced. */
const STEPS_MAX = 4_000_000

export const wordDiff = (before: string, after: string): readonly Piece[] => {
  const [first, second] = [wordsOf(before), wordsOf(after)]
  let head = 0
  while (head < first.length && head < second.length && first[head] === second[head]) head += 1
  let tail = 0
  while (tail < first.length - head && tail < second.length - head && first.at(-1 - tail) === second.at(-1 - tail)) tail += 1
  tail = fromLineStart(first, tail)
  const changed = middle(first.slice(head, first.length - tail), second.slice(head, second.length - tail))
  return [
    ...piece('same', first.slice(0, head).join('')),
    ...joined(changed),
    ...piece('same', tail === 0 ? '' : first.slice(-tail).join('')),
  ]
}

/**
 * The end that both texts share begins with a line, if it has one: otherwise a removed line would be said to reach from the middle of the
 * line before it to its own.
 */
const fromLineStart = (words: readonly string[], tail: number): number => {
  const start = words.findIndex((word, index) => index >= words.length - tail && word.includes('\n'))
  return start === -1 ? tail : words.length - start - 1
}

const piece = (kind: Piece['kind'], text: string): readonly Piece[] => (text === '' ? [] : [{ kind, text }])

/** Changed words that are separated only by spaces become one change, so that a replaced sentence reads as a sentence. */
const joined = (words: readonly (readonly [Piece['kind'], string])[]): readonly Piece[] => {
  const pieces: Piece[] = []
  let [same, removed, added] = ['', '', '']
  const flush = (): void => {
    pieces.push(...piece('removed', removed), ...piece('added', added))
    removed = added = ''
  }
  for (const [kind, word] of words) {
    if (kind === 'same') same += word
    else {
      if (same !== '' && (removed + added === '' || same.trim() !== '')) {
        flush()
        pieces.push(...piece('same', same))
      } else {
        removed += same
        added += same
      }
      same = ''
      if (kind === 'removed') removed += word
      else added += word
    }
  }
  flush()
  return [...pieces, ...piece('same', same)]
}

/** Splits a text into words, spaces and marks, which joined give the text again. */
const wordsOf = (text: string): readonly string[] => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []

/** Uses the longest common subsequence. */
const middle = (first: readonly string[], second: readonly string[]): (readonly [Piece['kind'], string])[] => {
  const whole = [...first.map((word) => ['removed', word] as const), ...second.map((word) => ['added', word] as const)]
  if (first.length * second.length > STEPS_MAX) return whole
  const width = second.length + 1
  const lengths = new Uint32Array((first.length + 1) * width)
  for (let i = first.length - 1; i >= 0; i -= 1) {
    for (let j = second.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        first[i] === second[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0)
    }
  }
  /** Where both lead to as much in common, the words that come next in both stay together: a line that goes, goes whole. */
  const isRemovedFirst = (i: number, j: number): boolean => {
    const [removed, added] = [lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0]
    return removed > added || (removed === added && first[i] !== second[j + 1])
  }
  const found: (readonly [Piece['kind'], string])[] = []
  let [i, j] = [0, 0]
  while (i < first.length || j < second.length) {
    const [one, other] = [first[i], second[j]]
    if (one !== undefined && one === other) {
      found.push(['same', one])
      i += 1
      j += 1
    } else if (one !== undefined && (other === undefined || isRemovedFirst(i, j))) {
      found.push(['removed', one])
      i += 1
    } else if (other !== undefined) {
      found.push(['added', other])
      j += 1
    }
  }
  return found
}
