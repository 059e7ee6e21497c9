/** A pattern as a small program (Thompson's construction): its size bounds what one unit of text can cost. */
import { type CharSet, LAST_UNIT, WORD } from './char-set.ts'
import { type Assertion, type RegexNode, RegexRefused } from './parse.ts'

/** Units that no part of a pattern distinguishes are one class; `edge` stands for the text's beginning and end. */
export interface Classes {
  readonly count: number
  readonly edge: number
  /** The classes of the first 128 units: the fast path for ASCII. */
  readonly ascii: Uint16Array
  of(unit: number): number
}

export type Step =
  /** Takes one unit whose class is marked. */
  | { readonly op: 'take'; readonly classes: Uint8Array; next: number }
  | { readonly op: 'split'; readonly next: number[] }
  /** `holds[before * classes + behind]`: whether it may be passed between units of these classes. */
  | { readonly op: 'assert'; readonly holds: Uint8Array; next: number }
  | { readonly op: 'accept' }

export interface Program {
  readonly steps: readonly Step[]
  readonly start: number
  readonly classes: Classes
  /** Some step asks for the units around it. */
  readonly hasAssertions: boolean
}

/** One unit of text costs at most so many steps; the lazily built automaton makes it one, nearly always. */
const STEPS_MAX = 2000

/** Throws RegexRefused. */
export const compileRegex = (node: RegexNode): Program => compileNode(node, STEPS_MAX)

/** One program that matches what any of several does. */
export const compileAny = (nodes: readonly RegexNode[]): Program =>
  compileNode({ type: 'choice', of: nodes }, STEPS_MAX * nodes.length + nodes.length)

const compileNode = (node: RegexNode, stepsMax: number): Program => {
  const classes = classesOf(node)
  const builder = new Builder(classes, stepsMax)
  const start = builder.add(node, builder.step({ op: 'accept' }))
  if (!builder.steps.some(({ op }) => op === 'take')) throw new RegexRefused('the pattern matches no text, only places between')
  return { steps: builder.steps, start, classes, hasAssertions: builder.steps.some(({ op }) => op === 'assert') }
}

class Builder {
  readonly steps: Step[] = []
  readonly #classes: Classes
  readonly #stepsMax: number

  constructor(classes: Classes, stepsMax: number) {
    this.#classes = classes
    this.#stepsMax = stepsMax
  }

  step(step: Step): number {
    if (this.steps.length >= this.#stepsMax) throw new RegexRefused('the pattern is too large; use smaller repetitions, or several filters')
    this.steps.push(step)
    return this.steps.length - 1
  }

  /** The step with which `node` begins, when `next` follows it. */
  add(node: RegexNode, next: number): number {
    switch (node.type) {
      case 'units':
        return this.step({ op: 'take', classes: this.#marked(node.set), next })
      case 'sequence':
        return node.of.reduceRight((following, item) => this.add(item, following), next)
      case 'choice':
        return this.step({ op: 'split', next: node.of.map((branch) => this.add(branch, next)) })
      case 'assert':
        return this.step({ op: 'assert', holds: this.#holds(node.kind), next })
      case 'repeat':
        return this.#repeat(node, next)
    }
  }

  #repeat({ of, min, max }: Extract<RegexNode, { type: 'repeat' }>, next: number): number {
    let start = next
    if (max === Number.POSITIVE_INFINITY) {
      const targets = [next]
      start = this.step({ op: 'split', next: targets })
      targets.push(this.add(of, start))
    } else {
      for (let count = min; count < max; count += 1) start = this.step({ op: 'split', next: [next, this.add(of, start)] })
    }
    for (let count = 0; count < min; count += 1) start = this.add(of, start)
    return start
  }

  #marked(set: CharSet): Uint8Array {
    const marks = new Uint8Array(this.#classes.count)
    for (const [first, last] of set) {
      // A class lies in the set or outside it as a whole, so its first unit decides.
      for (let unit = first; unit <= last; unit = nextBorder(this.#classes, unit)) marks[this.#classes.of(unit)] = 1
    }
    return marks
  }

  #holds(kind: Assertion): Uint8Array {
    const { count, edge } = this.#classes
    const word = this.#marked(WORD)
    const set = 'set' in kind ? this.#marked(kind.set) : word
    const holds = new Uint8Array(count * count)
    const test = (before: number, behind: number): boolean => {
      if (kind.type === 'start') return before === edge
      if (kind.type === 'end') return behind === edge
      if (kind.type === 'not-before') return set[before] === 0
      if (kind.type === 'not-behind') return set[behind] === 0
      return (word[before] !== word[behind]) === (kind.type === 'word-edge')
    }
    for (let before = 0; before < count; before += 1) {
      for (let behind = 0; behind < count; behind += 1) if (test(before, behind)) holds[before * count + behind] = 1
    }
    return holds
  }
}

interface BorderedClasses extends Classes {
  readonly borders: readonly number[]
}

const nextBorder = (classes: Classes, unit: number): number => (classes as BorderedClasses).borders[classes.of(unit) + 1] ?? LAST_UNIT + 1

const classesOf = (node: RegexNode): BorderedClasses => {
  const edges = new Set<number>([0])
  const cut = (set: CharSet): void => {
    for (const [first, last] of set) edges.add(first).add(last + 1)
  }
  const visit = (inner: RegexNode): void => {
    if (inner.type === 'units') cut(inner.set)
    else if (inner.type === 'assert') cut('set' in inner.kind ? inner.kind.set : inner.kind.type.endsWith('word-edge') ? WORD : [])
    else if (inner.type === 'repeat') visit(inner.of)
    else for (const item of inner.of) visit(item)
  }
  visit(node)
  const borders = [...edges].filter((edge) => edge <= LAST_UNIT).sort((left, right) => left - right)
  const ascii = Uint16Array.from({ length: 128 }, (_, unit) => find(borders, unit))
  return {
    borders,
    ascii,
    count: borders.length + 1,
    edge: borders.length,
    of: (unit) => (unit < 128 ? (ascii[unit] ?? 0) : find(borders, unit)),
  }
}

const find = (borders: readonly number[], unit: number): number => {
  let low = 0
  let high = borders.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((borders[middle] ?? 0) <= unit) low = middle
    else high = middle
  }
  return low
}
