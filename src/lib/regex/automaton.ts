/**
 * The states of a program, built as texts lead to them, so that each unit costs one table look-up. It searches from every
 * place at once, so it finds that something matches and where the match ends, but not where it begins. Memory is bounded: a
 * text that leads through too many states clears the table.
 */
import { countFollowed } from './followed.ts'
import type { Program } from './compile.ts'
import { createReach, type Reach } from './reach.ts'
import { TrailTable } from './threads.ts'

export interface State {
  /** Steps that wait for the next unit; if there are none, no match is in progress. */
  readonly waiting: readonly number[]
  /** The class of the previous unit; 0 if no step asserts anything. */
  readonly before: number
}

/** A table entry is a move, or 0 if it is not built yet. The next row is `move >>> MOVE_SHIFT`. */
export const MOVE_SHIFT = 3
/** A match ends before the unit. */
export const ACCEPTS = 1
/** After the move, no match is in progress. */
export const IDLE = 2
/** A word ends before the unit that is a match only if its letters say so. */
export const ASKS = 4

const STATES_MAX = 2000
/** Four bytes each. */
const ENTRIES_MAX = 4_000_000
/** The most waiting steps in all states together. */
const WAITING_MAX = 1_000_000

export class Automaton {
  readonly program: Program
  /** Shared by all matchers of the program: each uses it only for the length of a call. */
  readonly reach: Reach
  /** Where the matches in progress began, for texts in which something matches. */
  readonly trails: TrailTable
  /** Rows of the table: `table[row + class]` is a move. Replaced as it grows. */
  table: Int32Array
  readonly #width: number
  /** How often the table was cleared. */
  clearings = 0
  #states: State[] = []
  #waiting = 0
  #rows = new Map<string, number>()
  /** The rows by the state object itself, for states that callers hold. */
  #known = new Map<State, number>()
  readonly #idle = new Map<number, State>()

  constructor(program: Program) {
    this.program = program
    this.reach = createReach(program)
    this.trails = new TrailTable(program, this.reach)
    this.#width = program.classes.count
    this.table = new Int32Array(16 * this.#width)
  }

  idle(before: number): State {
    const known = this.program.hasAssertions ? before : 0
    let state = this.#idle.get(known)
    if (state === undefined) {
      state = { waiting: [], before: known }
      this.#idle.set(known, state)
    }
    return state
  }

  stateOf(row: number): State {
    return this.#states[row / this.#width] ?? this.idle(0)
  }

  /** The row of a state that this automaton created. It stays the same until the table is cleared. */
  rowOf(state: State): number {
    let row = this.#known.get(state)
    if (row === undefined) {
      row = this.#rowOf(state)
      this.#known.set(state, row)
    }
    return row
  }

  #rowOf(state: State): number {
    const key = `${state.before}:${state.waiting.join()}`
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    if (this.#isFull()) this.#clear()
    this.#waiting += state.waiting.length
    const row = this.#states.length * this.#width
    this.#states.push(state)
    this.#rows.set(key, row)
    if (row + this.#width > this.table.length) {
      const grown = new Int32Array(this.table.length * 2)
      grown.set(this.table)
      this.table = grown
    }
    return row
  }

  /** Builds the missing move from `row` on a unit of the class. */
  build(row: number, behind: number): number {
    const state = this.stateOf(row)
    const { reach, program } = this
    reach.begin(state.before, behind)
    for (const step of state.waiting) reach.from(step)
    const ends = (reach.accepted ? ACCEPTS : 0) | (reach.asks ? ASKS : 0)
    reach.from(program.start)
    const waiting = reach.taken(behind).toSorted((left, right) => left - right)
    countFollowed(state.waiting.length + reach.reached + waiting.length)
    const next = this.#rowOf({ waiting, before: program.hasAssertions ? behind : 0 })
    const move = (next << MOVE_SHIFT) | ends | (waiting.length === 0 ? IDLE : 0)
    // If the table was cleared, the row belongs to another state.
    if (this.stateOf(row) === state) this.table[row + behind] = move
    return move
  }

  #isFull(): boolean {
    const { length } = this.#states
    return length >= STATES_MAX || length * this.#width >= ENTRIES_MAX || this.#waiting >= WAITING_MAX
  }

  #clear(): void {
    this.clearings += 1
    this.#states = []
    this.#waiting = 0
    this.#rows = new Map()
    this.#known = new Map()
    this.table = new Int32Array(16 * this.#width)
  }
}
