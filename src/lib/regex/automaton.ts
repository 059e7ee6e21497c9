/**
 * A program's states, built as texts lead to them: one table look-up a unit. It searches from every place at once, so it
 * shows that something matches and where it ends, not where it begins. Bounded: a text that leads through too many states
 * makes it begin anew.
 */
import type { Program } from './compile.ts'
import { createReach, type Reach } from './reach.ts'

export interface State {
  /** Steps that wait for the next unit; without any, nothing is under way. */
  readonly waiting: readonly number[]
  /** Class of the unit before; 0 where no step asserts. */
  readonly before: number
}

/** The entry of the table for a class: 0 where it is not built yet. The next row is `move >>> MOVE_SHIFT`. */
export const MOVE_SHIFT = 2
/** A match ends before the unit. */
export const ACCEPTS = 1
/** Behind it nothing is under way. */
export const IDLE = 2

const STATES_MAX = 2000
/** Four bytes each. */
const ENTRIES_MAX = 4_000_000
/** The steps that all its states wait at. */
const WAITING_MAX = 1_000_000

export class Automaton {
  readonly program: Program
  /** Shared by all that walk the same program: it is used for the length of a call. */
  readonly reach: Reach
  /** Rows of the table: `table[row + class]` is a move. Replaced as it grows. */
  table: Int32Array
  readonly #width: number
  /** How often the table began anew. */
  clearings = 0
  #states: State[] = []
  #waiting = 0
  #rows = new Map<string, number>()
  /** The same by the state itself, of those that callers hold. */
  #known = new Map<State, number>()
  readonly #idle = new Map<number, State>()

  constructor(program: Program) {
    this.program = program
    this.reach = createReach(program)
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

  /** The row of a state that came from here. It is the same row for as long as the table does not begin anew. */
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

  /** The move from `row` on a unit of the class, which the table lacks. */
  build(row: number, behind: number): number {
    const state = this.stateOf(row)
    const { reach, program } = this
    reach.begin(state.before, behind)
    for (const step of state.waiting) reach.from(step)
    const accepts = reach.accepted ? ACCEPTS : 0
    reach.from(program.start)
    const waiting = reach.taken(behind).toSorted((left, right) => left - right)
    const next = this.#rowOf({ waiting, before: program.hasAssertions ? behind : 0 })
    const move = (next << MOVE_SHIFT) | accepts | (waiting.length === 0 ? IDLE : 0)
    // Where the table began anew, the row is another state's.
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
