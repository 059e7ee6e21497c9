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
  tail = fromLineStart([first.slice(head), second.slice(head)], tail)
  const changed = middle(first.slice(head, first.length - tail), second.slice(head, second.length - tail))
  const end = first.slice(first.length - tail).join('')
  return inWholeLines(joined([['same', first.slice(0, head).join('')], ...changed, ['same', end]]))
}

/**
 * The end that both texts share begins with a line, if lines came or went before it: otherwise a removed line would be said to reach from
 * the middle of the line before it to its own. A line that is too long for that stays as it is.
 */
const fromLineStart = (texts: readonly [readonly string[], readonly string[]], tail: number): number => {
  if (!texts.some((words) => words.slice(0, words.length - tail).some(hasBreak))) return tail
  const [first, second] = texts
  const start = first.findIndex((word, index) => index >= first.length - tail && hasBreak(word))
  const cut = first.length - start - 1
  return start === -1 || (first.length - cut) * (second.length - cut) > STEPS_MAX ? tail : cut
}

const hasBreak = (word: string): boolean => word.includes('\n')

/** Lines often begin alike: one that came or went is said to begin at its own beginning, not behind that of the next line. */
const inWholeLines = (pieces: readonly Piece[]): readonly Piece[] => {
  const moved: Piece[] = []
  for (const [at, one] of pieces.entries()) {
    const before = moved.at(-1)
    const after = pieces[at + 1]
    const begun = before?.kind === 'same' ? before.text.slice(before.text.lastIndexOf('\n') + 1) : ''
    if (one.kind === 'same' && before?.kind === 'same') moved.splice(-1, 1, { kind: 'same', text: before.text + one.text })
    else if (one.kind === 'same' || begun === '' || (after?.kind ?? 'same') !== 'same' || !one.text.endsWith(`\n${begun}`)) moved.push(one)
    else
      moved.splice(
        -1,
        1,
        ...piece('same', before?.text.slice(0, -begun.length) ?? ''),
        { kind: one.kind, text: begun + one.text.slice(0, -begun.length) },
        { kind: 'same', text: begun },
      )
  }
  return moved
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
