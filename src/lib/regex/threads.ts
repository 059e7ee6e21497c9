/**
 * All matches in progress, with their beginnings: one for each step of the program, the earliest. Which steps follow on a unit, and
 * from which match each of them continues, is worked out once for each combination that texts lead to; after that a unit costs one
 * look-up.
 */
import { countFollowed } from './followed.ts'
import type { Program } from './compile.ts'
import type { Reach } from './reach.ts'

/** Matches in progress without their offsets: the steps that wait, in groups of the same beginning, the earliest group first. */
interface Trails {
  readonly groups: readonly (readonly number[])[]
  /** The class of the previous unit; 0 if no step asserts anything. */
  readonly before: number
  /** By class of unit. */
  readonly moves: (Move | undefined)[]
}

interface Move {
  readonly next: Trails
  /** The group whose match ends before the unit; -1 if none ends there. */
  readonly accepts: number
  /** For each group of `next`, the group that it continues, or -1 if it begins at the unit. Null if all groups continue as they are. */
  readonly from: readonly number[] | null
}

/** The most numbers in all trails together; above it they are worked out anew. */
const NUMBERS_MAX = 500_000
/** Trails and a move take memory besides their steps: this counts it in numbers. */
const TRAILS_NUMBERS = 30
const MOVE_NUMBERS = 10

/** The trails of one program, shared by all texts. */
export class TrailTable {
  readonly #program: Program
  readonly #reach: Reach
  #known = new Map<string, Trails>()
  #numbers = 0
  /** How many moves were worked out, which is what costs time. */
  built = 0

  constructor(program: Program, reach: Reach) {
    this.#program = program
    this.#reach = reach
  }

  trails(groups: readonly (readonly number[])[], before: number): Trails {
    const told = this.#program.hasAssertions ? before : 0
    const key = `${told}:${groups.map((group) => group.join()).join(';')}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made: Trails = { groups, before: told, moves: [] }
    this.#spend(TRAILS_NUMBERS + key.length)
    this.#known.set(key, made)
    return made
  }

  move(trails: Trails, behind: number): Move {
    const reach = this.#reach
    reach.begin(trails.before, behind)
    const groups: number[][] = []
    const from: number[] = []
    let accepts = -1
    let known = 0
    const collect = (source: number): void => {
      const next = reach.taken(behind, known)
      known = reach.reached
      if (next.length === 0) return
      groups.push(next.sort((left, right) => left - right))
      from.push(source)
    }
    for (const [source, steps] of trails.groups.entries()) {
      for (const step of steps) reach.from(step)
      if (accepts < 0 && reach.accepted) accepts = source
      collect(source)
    }
    reach.from(this.#program.start)
    collect(-1)
    const isSame = from.length === trails.groups.length && from.every((source, group) => source === group)
    const move: Move = { next: this.trails(groups, behind), accepts, from: isSame ? null : from }
    this.built += 1
    countFollowed(2 * reach.reached)
    this.#spend(MOVE_NUMBERS + from.length)
    trails.moves[behind] = move
    return move
  }

  /** Texts that are being read keep the trails they have; those still lead on, but are not found again. */
  #spend(numbers: number): void {
    this.#numbers += numbers
    if (this.#numbers <= NUMBERS_MAX) return
    this.#known = new Map()
    this.#numbers = numbers
  }
}

export class Threads {
  readonly #table: TrailTable
  #trails: Trails
  /** Where the match of each group began, in ascending order. */
  #starts: readonly number[]

  constructor(table: TrailTable, trails: Trails, starts: readonly number[] = []) {
    this.#table = table
    this.#trails = trails
    this.#starts = starts
  }

  fork(): Threads {
    return new Threads(this.#table, this.#trails, this.#starts)
  }

  /** Where the earliest match in progress began; `length` if there is none. */
  since(length: number): number {
    return this.#starts[0] ?? length
  }

  /** Where the earliest match began that ends before a unit of this class; null if none ends there. */
  accepts(behind: number): number | null {
    const { accepts } = this.#trails.moves[behind] ?? this.#table.move(this.#trails, behind)
    return accepts < 0 ? null : (this.#starts[accepts] ?? null)
  }

  /** Like `accepts`, and then takes the unit, which stands at `offset`. */
  take(behind: number, offset: number): number | null {
    const { next, accepts, from } = this.#trails.moves[behind] ?? this.#table.move(this.#trails, behind)
    const starts = this.#starts
    if (from !== null) this.#starts = from.map((group) => (group < 0 ? offset : (starts[group] as number)))
    this.#trails = next
    return accepts < 0 ? null : (starts[accepts] as number)
  }
}
