/** Compiles a pattern into a small program (Thompson's construction); its size bounds what one unit of text can cost. */
import { type CharSet, LAST_UNIT, WORD } from './char-set.ts'
import { measure } from './measure.ts'
import { type Assertion, type RegexNode, RegexRefused } from './parse.ts'

/** Units that no part of a pattern distinguishes form one class; `edge` is the class of the text's beginning and end. */
export interface Classes {
  readonly count: number
  readonly edge: number
  /** The classes of the first 128 units: the fast path for ASCII. */
  readonly ascii: Uint16Array
  of(unit: number): number
}

export type Step =
  /** Takes one unit of these classes. */
  | { readonly op: 'take'; readonly classes: ClassRanges; readonly next: number }
  /** Takes one unit; its class decides the next step. */
  | { readonly op: 'fork'; readonly next: ReadonlyMap<number, number> }
  | { readonly op: 'split'; readonly next: readonly number[] }
  /** Takes no unit: passes if the condition holds for the classes of the units before and after. */
  | { readonly op: 'assert'; readonly holds: (before: number, behind: number) => boolean; readonly next: number }
  /** `asks`: a word ends here that is a match only if its letters say so, which the program cannot tell. */
  | { readonly op: 'accept'; readonly asks: boolean }

/** The first and the last class of each range, in ascending order. */
export type ClassRanges = readonly number[]

export const holdsClass = (ranges: ClassRanges, of: number): boolean => {
  let low = 0
  let high = ranges.length / 2
  while (low < high) {
    const middle = (low + high) >> 1
    if (of > (ranges[middle * 2 + 1] ?? 0)) low = middle + 1
    else high = middle
  }
  return of >= (ranges[low * 2] ?? Number.POSITIVE_INFINITY)
}

export interface Program {
  readonly steps: readonly Step[]
  readonly start: number
  readonly classes: Classes
  /** Some step depends on the units around it. */
  readonly hasAssertions: boolean
}

/** One unit of text follows at most this many steps; the lazily built automaton nearly always makes it one. */
const WIDTH_MAX = 2000
/** A short pattern may have a large program; for a long pattern the bound grows with its length. */
const STEPS_MAX = 2000
const STEPS_PER_CHARACTER = 2

/** `node` must be factored, and `characters` is the length of the pattern. Throws RegexRefused. */
export const compileRegex = (node: RegexNode, characters: number): Program => {
  const { steps, width, longest } = measure(node)
  if (longest === 0) throw new RegexRefused('the pattern matches no text, only places between')
  if (width > WIDTH_MAX || steps > Math.max(STEPS_MAX, STEPS_PER_CHARACTER * characters)) {
    throw new RegexRefused('the pattern is too large; use smaller repetitions, or several filters')
  }
  return compileNode(node)
}

/** One program that matches whatever any of the nodes matches, and asks about what `asking` matches. */
export const compileAny = (nodes: readonly RegexNode[], asking: RegexNode | null): Program =>
  compileNode({ type: 'choice', of: nodes }, asking)

const compileNode = (node: RegexNode, asking: RegexNode | null = null): Program => {
  const classes = classesOf(asking === null ? node : { type: 'choice', of: [node, asking] })
  const builder = new Builder(classes)
  const matching = builder.add(node, builder.step({ op: 'accept', asks: false }))
  const start =
    asking === null
      ? matching
      : builder.step({ op: 'split', next: [matching, builder.add(asking, builder.step({ op: 'accept', asks: true }))] })
  return { steps: builder.steps, start, classes, hasAssertions: builder.steps.some(({ op }) => op === 'assert') }
}

class Builder {
  readonly steps: Step[] = []
  readonly #classes: Classes
  /** Most of a long pattern consists of letters, and each letter has one shared set. */
  readonly #ranges = new Map<CharSet, ClassRanges>()

  constructor(classes: Classes) {
    this.#classes = classes
  }

  step(step: Step): number {
    this.steps.push(step)
    return this.steps.length - 1
  }

  /** Returns the step with which `node` begins if `next` follows it. */
  add(node: RegexNode, next: number): number {
    switch (node.type) {
      case 'units':
        return this.step({ op: 'take', classes: this.#rangesOf(node.set), next })
      case 'sequence':
        return node.of.reduceRight((following, item) => this.add(item, following), next)
      case 'choice':
        return this.step({ op: 'split', next: node.of.map((branch) => this.add(branch, next)) })
      case 'fork': {
        const leads = new Map<number, number>()
        for (const { set, rest } of node.of) {
          const following = this.add(rest, next)
          for (const of of classesIn(this.#rangesOf(set))) leads.set(of, following)
        }
        return this.step({ op: 'fork', next: leads })
      }
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

  /** A class lies either wholly inside or wholly outside the set, so the classes of a range's two ends are enough. */
  #rangesOf(set: CharSet): ClassRanges {
    const ranges = this.#ranges.get(set) ?? set.flatMap(([first, last]) => [this.#classes.of(first), this.#classes.of(last)])
    this.#ranges.set(set, ranges)
    return ranges
  }

  #holds(kind: Assertion): (before: number, behind: number) => boolean {
    const { edge } = this.#classes
    if (kind.type === 'start') return (before) => before === edge
    if (kind.type === 'end') return (_, behind) => behind === edge
    const ranges = this.#rangesOf('set' in kind ? kind.set : WORD)
    if (kind.type === 'not-before') return (before) => !holdsClass(ranges, before)
    if (kind.type === 'not-behind') return (_, behind) => !holdsClass(ranges, behind)
    const isEdge = kind.type === 'word-edge'
    return (before, behind) => (holdsClass(ranges, before) !== holdsClass(ranges, behind)) === isEdge
  }
}

function* classesIn(ranges: ClassRanges): Generator<number, void, undefined> {
  for (let at = 0; at < ranges.length; at += 2) for (let of = ranges[at] ?? 0; of <= (ranges[at + 1] ?? 0); of += 1) yield of
}

const classesOf = (node: RegexNode): Classes => {
  const edges = new Set<number>([0])
  const cut = (set: CharSet): void => {
    for (const [first, last] of set) edges.add(first).add(last + 1)
  }
  const visit = (inner: RegexNode): void => {
    if (inner.type === 'units') cut(inner.set)
    else if (inner.type === 'assert') cut('set' in inner.kind ? inner.kind.set : inner.kind.type.endsWith('word-edge') ? WORD : [])
    else if (inner.type === 'repeat') visit(inner.of)
    else if (inner.type === 'fork')
      for (const { set, rest } of inner.of) {
        cut(set)
        visit(rest)
      }
    else for (const item of inner.of) visit(item)
  }
  visit(node)
  const borders = [...edges].filter((edge) => edge <= LAST_UNIT).sort((left, right) => left - right)
  const ascii = Uint16Array.from({ length: 128 }, (_, unit) => find(borders, unit))
  return {
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
