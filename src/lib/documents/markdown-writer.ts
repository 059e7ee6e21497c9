/** Writes blocks of Markdown, of a bounded length in all: lists, quotes and tables around lines that are put together of pieces. */

/** The blocks in which a line stands. */
export interface Nesting {
  readonly quotes: number
  /** One entry a list: the number of its last item, null where it has bullets. */
  readonly lists: readonly { last: number | null }[]
  /** Its blocks follow each other line by line: rows of a table. */
  readonly isTight: boolean
}

export class MarkdownWriter {
  readonly #maxCharacters: number
  readonly #blocks: string[] = []
  #isTight = false
  /** Characters so far. */
  length = 0

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters
  }

  /** Nothing more is taken. */
  get isFull(): boolean {
    return this.length >= this.#maxCharacters
  }

  text(): string {
    return this.#blocks.join('')
  }

  /** `bullet` is empty behind the first line of an item. */
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

/** One line, as pieces, so that a link or a stress around the last of them costs no more than they do. */
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

  /** Text in which any white space is one space, also across pieces. */
  putWords(text: string): void {
    const plain = text.replace(/\s+/g, ' ')
    const last = this.#pieces.at(-1)?.at(-1)
    this.put((last === undefined || last === ' ' || last === '\n') && plain.startsWith(' ') ? plain.slice(1) : plain)
  }

  /** Around what was put since `place`: nothing, where that is blank or its line has ended. */
  wrap(place: number, before: string, behind: string): void {
    if (place >= this.#pieces.length) return
    const inner = this.#pieces.splice(place).join('')
    this.length -= inner.length
    const said = inner.trim()
    if (said === '') this.putWords(inner)
    else this.put(`${inner.startsWith(said) ? '' : ' '}${before}${said}${behind}${inner.endsWith(said) ? '' : ' '}`)
  }

  /** The characters that were put while the line is empty. */
  take(): string {
    const said = this.#pieces.join('')
    this.#pieces = []
    this.length = 0
    return said
  }
}
