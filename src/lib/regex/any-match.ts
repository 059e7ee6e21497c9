/** Tests whether any of many patterns matches a text, in one pass for all of them, so that text without a match costs next to nothing. */
import { ACCEPTS, ASKS, Automaton, MOVE_SHIFT, type State } from './automaton.ts'
import { compileAny } from './compile.ts'
import type { Regex } from './finder.ts'

/**
 * If a text clears the table more than once, and again for each further run of this many units, it leads through more states than it is
 * long: for such a text the first pass costs more than it saves.
 */
const UNITS_FOR_CLEARING = 100_000

/** The match of one text. `true` may be wrong if a text needs too many states for one table; `false` is never wrong. */
export interface Matcher {
  /** Takes more text; returns true if something has matched. */
  push(text: string): boolean
  /** Returns true if something has matched, or matches because the text ends here. */
  end(): boolean
  /** Returns a matcher that has read the same text. */
  fork(): Matcher
  /** True if the same text after it leads both to the same answer. */
  agreesWith(other: Matcher): boolean
}

/** Words that are a match only if `isMatch` says so. `regex` matches whole words of at most `WORD_MAX` letters. */
export interface AskedWords {
  readonly regex: Regex
  isMatch(word: string): boolean
}

const WORD_MAX = 32
const LETTER = /\w/

export const createAnyMatch = (regexes: readonly Regex[], asked: AskedWords | null = null): (() => Matcher) => {
  const automaton = new Automaton(
    compileAny(
      regexes.map(({ node }) => node),
      asked === null ? null : asked.regex.node,
    ),
  )
  return () => new TableMatcher(automaton, asked)
}

class TableMatcher implements Matcher {
  readonly #automaton: Automaton
  readonly #asked: AskedWords | null
  #state: State
  #row: number
  /** Other matchers share the table: if it was cleared since, the row belongs to another state. */
  #clearings: number
  #cleared = 0
  #length = 0
  #matched = false
  /** The end of the text so far, in which a word may have begun. */
  #tail = ''

  constructor(automaton: Automaton, asked: AskedWords | null) {
    this.#automaton = automaton
    this.#asked = asked
    this.#state = automaton.idle(automaton.program.classes.edge)
    this.#row = automaton.rowOf(this.#state)
    this.#clearings = automaton.clearings
  }

  push(text: string): boolean {
    if (this.#matched) return true
    this.#resume()
    const automaton = this.#automaton
    const { ascii, of } = automaton.program.classes
    const before = automaton.clearings
    let { table } = automaton
    let row = this.#row
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at)
      const behind = unit < 128 ? (ascii[unit] as number) : of(unit)
      let move = table[row + behind] as number
      if (move === 0) {
        if (this.#cleared + automaton.clearings - before > 1 + (this.#length + at) / UNITS_FOR_CLEARING) return (this.#matched = true)
        move = automaton.build(row, behind)
        ;({ table } = automaton)
      }
      if ((move & (ACCEPTS | ASKS)) !== 0 && this.#matches(move, text, at)) return (this.#matched = true)
      row = move >>> MOVE_SHIFT
    }
    this.#row = row
    this.#state = automaton.stateOf(row)
    this.#length += text.length
    this.#cleared += automaton.clearings - before
    this.#clearings = automaton.clearings
    if (this.#asked !== null) this.#tail = text.length < WORD_MAX ? (this.#tail + text).slice(-WORD_MAX) : text
    return false
  }

  end(): boolean {
    if (this.#matched) return true
    this.#resume()
    const { table, program } = this.#automaton
    const { edge } = program.classes
    return this.#matches(table[this.#row + edge] || this.#automaton.build(this.#row, edge), '', 0)
  }

  fork(): Matcher {
    const other = new TableMatcher(this.#automaton, this.#asked)
    other.#state = this.#state
    other.#row = this.#row
    other.#clearings = this.#clearings
    other.#cleared = this.#cleared
    other.#length = this.#length
    other.#matched = this.#matched
    other.#tail = this.#tail
    return other
  }

  agreesWith(other: Matcher): boolean {
    return (
      other instanceof TableMatcher &&
      this.#state === other.#state &&
      this.#matched === other.#matched &&
      lastWord('', this.#tail) === lastWord('', other.#tail)
    )
  }

  #resume(): void {
    if (this.#automaton.clearings === this.#clearings) return
    this.#row = this.#automaton.rowOf(this.#state)
    this.#clearings = this.#automaton.clearings
  }

  /** True if a match ends before the unit at this offset. */
  #matches(move: number, text: string, at: number): boolean {
    if ((move & ACCEPTS) !== 0) return true
    return (move & ASKS) !== 0 && this.#asked !== null && this.#asked.isMatch(lastWord(this.#tail, text, at))
  }
}

/** The word at this offset in a text, which may have begun in the text before it. */
const lastWord = (before: string, text: string, end = text.length): string => {
  let start = end
  while (start > 0 && LETTER.test(text.charAt(start - 1))) start -= 1
  const word = text.slice(start, end)
  return start > 0 || before === '' ? word : lastWord('', before) + word
}
