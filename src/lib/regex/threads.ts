/** All matches in progress, with their beginnings: one for each step of the program, the earliest. */
import type { Automaton } from './automaton.ts'

export class Threads {
  readonly #automaton: Automaton
  #before: number
  /** Parallel arrays, in ascending order of start. */
  #steps: readonly number[] = []
  #starts: readonly number[] = []

  constructor(automaton: Automaton, before: number) {
    this.#automaton = automaton
    this.#before = before
  }

  fork(): Threads {
    const other = new Threads(this.#automaton, this.#before)
    other.#steps = this.#steps
    other.#starts = this.#starts
    return other
  }

  /** Where the earliest match in progress began; `length` if there is none. */
  since(length: number): number {
    return this.#starts[0] ?? length
  }

  /** Where the earliest match began that ends before a unit of this class; null if none ends there. */
  accepts(behind: number): number | null {
    const { reach } = this.#automaton
    reach.begin(this.#before, behind)
    for (const [at, step] of this.#steps.entries()) {
      reach.from(step)
      if (reach.accepted) return this.#starts[at] ?? null
    }
    return null
  }

  /** Like `accepts`, and then takes the unit, which stands at `offset`. */
  take(behind: number, offset: number): number | null {
    const { reach, program } = this.#automaton
    reach.begin(this.#before, behind)
    const steps: number[] = []
    const starts: number[] = []
    let accepted: number | null = null
    let known = 0
    const follow = (step: number, began: number): void => {
      reach.from(step)
      for (const next of reach.taken(behind, known)) {
        steps.push(next)
        starts.push(began)
      }
      known = reach.reached
    }
    for (const [at, step] of this.#steps.entries()) {
      const began = this.#starts[at] ?? offset
      follow(step, began)
      if (accepted === null && reach.accepted) accepted = began
    }
    follow(program.start, offset)
    this.#steps = steps
    this.#starts = starts
    this.#before = behind
    return accepted
  }
}
