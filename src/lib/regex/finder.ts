/**
 * Finds matches in a text that arrives in pieces, in time linear in its length, whatever the text. Overlapping matches are all reported:
 * their union is what the pattern covers, and it does not depend on how the text was cut into pieces.
 *
 * The automaton reads on until something matches. Only then the threads, which know where each match began, read again the part
 * of the text in which the automaton had a match in progress.
 */
import { ACCEPTS, Automaton, IDLE, MOVE_SHIFT, type State } from './automaton.ts'
import { compileRegex } from './compile.ts'
import { factor } from './factor.ts'
import { parseRegex, type RegexNode, type RegexOptions } from './parse.ts'
import { Threads } from './threads.ts'

/** Compiled once, for any number of texts. */
export interface Regex {
  /** The same for the same pattern with the same options. */
  readonly key: string
  readonly node: RegexNode
  readonly automaton: Automaton
}

/** Throws RegexRefused. */
export const createRegex = (pattern: string, options?: RegexOptions): Regex => {
  const node = factor(parseRegex(pattern, options))
  return { key: JSON.stringify([pattern, options]), node, automaton: new Automaton(compileRegex(node, pattern.length)) }
}

export interface Finder {
  push(text: string): void
  /** Also reports what matches if the text ends here. More text may follow all the same. */
  pause(): void
  /** No unit before this offset will be part of a match that is still in progress. */
  readonly settled: number
  /** A finder that has read the same text and reports its own matches: the two may continue with different texts. */
  fork(found: Found): Finder
}

/** Offsets count from the beginning of the text; `match` is the matched text, or only its end if it is very long. */
export type Found = (start: number, end: number, match: string) => void

/** No more than this is kept of a match in progress: of a longer one the length is known, but not the whole text. */
const KEPT_MAX = 16_384

/**
 * Threads read a longer match in progress even if nothing has matched yet, so that little is ever read again at once: no more units than
 * this, or fewer where more than a few steps wait for each.
 */
const READ_AGAIN_MAX = 1024
const READ_AGAIN_STEPS_MAX = 4 * READ_AGAIN_MAX

/** Units that are read before it is looked at again whether that much is in progress. */
const RUN_MAX = 64

export const createFinder = ({ automaton }: Regex, found: Found): Finder => new TextFinder(automaton, found)

class TextFinder implements Finder {
  readonly #automaton: Automaton
  readonly #found: Found
  /** The automaton's state, used while there are no threads. */
  #state: State
  #length = 0
  /** The offset at which the match in progress may have begun, and the class of the unit before it. */
  #since = 0
  #before: number
  /** The text from `#keptFrom` on, which covers everything from `#since` on. */
  #kept = ''
  #keptFrom = 0
  /** Set from the end of a match until no match is in progress any more. */
  #threads: Threads | null = null

  constructor(automaton: Automaton, found: Found) {
    this.#automaton = automaton
    this.#found = found
    this.#before = automaton.program.classes.edge
    this.#state = automaton.idle(this.#before)
  }

  get settled(): number {
    return this.#threads === null ? this.#since : this.#threads.since(this.#length)
  }

  fork(found: Found): Finder {
    const other = new TextFinder(this.#automaton, found)
    other.#state = this.#state
    other.#length = this.#length
    other.#since = this.#since
    other.#before = this.#before
    other.#kept = this.#kept
    other.#keptFrom = this.#keptFrom
    other.#threads = this.#threads?.fork() ?? null
    return other
  }

  push(text: string): void {
    this.#keep(text)
    for (let at = 0; at < text.length;) {
      at = this.#threads === null ? this.#run(text, at) : this.#runThreads(this.#threads, text, at)
      if (this.#threads === null && this.#isLong()) this.#threads = this.#readAgain()
    }
  }

  #isLong(): boolean {
    const units = this.#length - this.#since
    return units > READ_AGAIN_MAX || units * this.#state.waiting.length > READ_AGAIN_STEPS_MAX
  }

  pause(): void {
    const { edge } = this.#automaton.program.classes
    if (this.#threads === null) {
      if (this.#state.waiting.length === 0) return
      const row = this.#automaton.rowOf(this.#state)
      if (((this.#automaton.table[row + edge] || this.#automaton.build(row, edge)) & ACCEPTS) === 0) return
    }
    const start = (this.#threads ??= this.#readAgain()).accepts(edge)
    if (start !== null) this.#report(start)
  }

  /**
   * The fast path. Runs to the returned offset: the end of the text, or that of so many units, or a unit before which a match ends;
   * threads continue from that one.
   */
  #run(text: string, from: number): number {
    const automaton = this.#automaton
    const { ascii, of } = automaton.program.classes
    let table = automaton.table
    let row = automaton.rowOf(this.#state)
    // The last unit after which no match was in progress, if there was one.
    let idleAt = from - 1
    const end = Math.min(text.length, from + RUN_MAX)
    let at = from
    let accepts = false
    for (; at < end; at += 1) {
      const unit = text.charCodeAt(at)
      const behind = unit < 128 ? (ascii[unit] as number) : of(unit)
      let move = table[row + behind] as number
      if (move === 0) {
        move = automaton.build(row, behind)
        table = automaton.table
      }
      if ((move & ACCEPTS) !== 0) {
        accepts = true
        break
      }
      if ((move & IDLE) !== 0) idleAt = at
      row = move >>> MOVE_SHIFT
    }
    this.#state = automaton.stateOf(row)
    if (idleAt >= from) {
      this.#since = this.#length + idleAt + 1 - from
      this.#before = of(text.charCodeAt(idleAt))
    }
    this.#length += at - from
    if (accepts) this.#threads = this.#readAgain()
    return at
  }

  /** The matches in progress, with their beginnings. */
  #readAgain(): Threads {
    const { classes } = this.#automaton.program
    const { trails } = this.#automaton
    const threads = new Threads(trails, trails.trails([], this.#before))
    for (let at = Math.max(this.#since, this.#keptFrom); at < this.#length; at += 1) {
      threads.take(classes.of(this.#kept.charCodeAt(at - this.#keptFrom)), at)
    }
    return threads
  }

  /** Runs to the end of the text, or to the returned offset if no match is in progress there. */
  #runThreads(threads: Threads, text: string, from: number): number {
    const { of } = this.#automaton.program.classes
    for (let at = from; at < text.length; at += 1) {
      const behind = of(text.charCodeAt(at))
      const start = threads.take(behind, this.#length)
      if (start !== null) this.#report(start)
      this.#length += 1
      if (threads.since(this.#length) < this.#length) continue
      this.#threads = null
      this.#since = this.#length
      this.#before = behind
      this.#state = this.#automaton.idle(behind)
      return at + 1
    }
    return text.length
  }

  #report(start: number): void {
    this.#found(start, this.#length, this.#kept.slice(Math.max(start - this.#keptFrom, 0), this.#length - this.#keptFrom))
  }

  #keep(text: string): void {
    const { settled } = this
    if (settled < this.#length) {
      // Threads do not need the text: they have already read what is cut off.
      const from = Math.max(settled, this.#length - KEPT_MAX)
      this.#kept = this.#kept.slice(from - this.#keptFrom) + text
      this.#keptFrom = from
    } else {
      this.#kept = text
      this.#keptFrom = this.#length
    }
  }
}
