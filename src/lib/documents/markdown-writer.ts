/** Writes Markdown blocks of bounded total length: lists, quotes and tables around lines that are assembled from pieces. */

/** The blocks that a line is nested in. */
export interface Nesting {
  readonly quotes: number
  /** One entry per list: the number of its last item, or null if the list has bullets. */
  readonly lists: readonly { last: number | null }[]
  /** The blocks follow each other without blank lines, as the rows of a table do. */
  readonly isTight: boolean
}

export class MarkdownWriter {
  readonly #maxCharacters: number
  readonly #blocks: string[] = []
  #isTight = false
  length = 0

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters
  }

  /** The limit is reached; further blocks are dropped. */
  get isFull(): boolean {
    return this.length >= this.#maxCharacters
  }

  text(): string {
    return this.#blocks.join('')
  }

  /** `bullet` is empty after the first line of an item. */
  add(said: string, { quotes, lists, isTight: isRow }: Nesting, bullet: string): void {
    if (this.isFull) return
    const outer = '> '.repeat(quotes) + '  '.repeat(Math.max(0, lists.length - 1))
    const first = outer + (lists.length > 0 && bullet === '' ? '  ' : bullet)
    const later = outer + (lists.length > 0 || bullet !== '' ? '  ' : '')
    const isTight = lists.length > 0 || isRow
    const apart = this.length === 0 ? '' : isTight && this.#isTight ? '\n' : '\n\n'
    const block = `${apart}${first}${said.replaceAll('\n', `\n${later}`)}`
    this.#isTight = isTight
    this.#blocks.push(block)
    this.length += block.length
  }
}

/** One line, kept as pieces, so that putting a link or emphasis around the last pieces costs no more than those pieces. */
export class Line {
  #pieces: string[] = []
  length = 0

  get place(): number {
    return this.#pieces.length
  }

  put(piece: string): void {
    if (piece === '') return
    this.#pieces.push(piece)
    this.length += piece.length
  }

  /** Adds text and turns each run of white space into one space, also across pieces. */
  putWords(text: string): void {
    const plain = text.replace(/\s+/g, ' ')
    const last = this.#pieces.at(-1)?.at(-1)
    this.put((last === undefined || last === ' ' || last === '\n') && plain.startsWith(' ') ? plain.slice(1) : plain)
  }

  /** Wraps what was put since `place`. Does nothing if that is blank or the line was taken since. */
  wrap(place: number, before: string, behind: string): void {
    if (place >= this.#pieces.length) return
    const inner = this.#pieces.splice(place).join('')
    this.length -= inner.length
    const said = inner.trim()
    if (said === '') this.putWords(inner)
    else this.put(`${inner.startsWith(said) ? '' : ' '}${before}${said}${behind}${inner.endsWith(said) ? '' : ' '}`)
  }

  /** Returns the line's text and empties the line. */
  take(): string {
    const said = this.#pieces.join('')
    this.#pieces = []
    this.length = 0
    return said
  }
}
