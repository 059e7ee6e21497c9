/** Measures the cost of a pattern before it is compiled: bounds that follow from its form, whatever the text. */
import type { RegexNode } from './parse.ts'

export interface Measure {
  readonly steps: number
  /** Steps that may wait for the same unit of a text if a match begins at each unit before it. */
  readonly width: number
  /** Steps that may wait if a match begins at one place only. */
  readonly widthOfOne: number
  /** The lengths of a match, in units. */
  readonly shortest: number
  readonly longest: number
}

/** Shared, because long patterns consist mostly of single units. */
const UNIT: Measure = { steps: 1, width: 1, widthOfOne: 1, shortest: 1, longest: 1 }
const PLACE: Measure = { steps: 1, width: 0, widthOfOne: 0, shortest: 0, longest: 0 }

export const measure = (node: RegexNode): Measure => {
  switch (node.type) {
    case 'units':
      return UNIT
    case 'assert':
      return PLACE
    case 'sequence':
      return bounded(following(node.of))
    case 'choice': {
      const { widthsOfOne, ...found } = either(node.of)
      return bounded({ ...found, widthOfOne: widthsOfOne.sum })
    }
    case 'fork': {
      const { widthsOfOne, ...found } = either(node.of.map(({ rest }) => rest))
      // The unit that tells the alternatives apart comes first.
      return bounded({
        steps: found.steps,
        width: found.width + 1,
        widthOfOne: Math.max(1, widthsOfOne.greatest),
        shortest: found.shortest + 1,
        longest: found.longest + 1,
      })
    }
    case 'repeat':
      return bounded(repeated(measure(node.of), node))
  }
}

/** Each match in progress began at one of the last `longest` units. */
const bounded = (found: Measure): Measure => ({
  ...found,
  width: Math.min(found.width, found.longest === 0 ? 0 : found.widthOfOne * found.longest),
})

const following = (nodes: readonly RegexNode[]): Measure => {
  let steps = 0
  let width = 0
  let shortest = 0
  let longest = 0
  let greatestOfOne = 0
  // After items of fixed length, a match continues at one unit, so it is in one item at a time; after any other item, at many.
  let isInOne = true
  for (const node of nodes) {
    isInOne &&= shortest === longest
    const item = measure(node)
    steps += item.steps
    width += item.width
    shortest += item.shortest
    longest += item.longest
    greatestOfOne = Math.max(greatestOfOne, item.widthOfOne)
  }
  return { steps, width, widthOfOne: isInOne ? greatestOfOne : width, shortest, longest }
}

interface Either extends Omit<Measure, 'widthOfOne'> {
  readonly widthsOfOne: { readonly sum: number; readonly greatest: number }
}

const either = (nodes: readonly RegexNode[]): Either => {
  let steps = 1
  let width = 0
  let shortest = Number.POSITIVE_INFINITY
  let longest = 0
  let sum = 0
  let greatest = 0
  for (const node of nodes) {
    const item = measure(node)
    steps += item.steps
    width += item.width
    shortest = Math.min(shortest, item.shortest)
    longest = Math.max(longest, item.longest)
    sum += item.widthOfOne
    greatest = Math.max(greatest, item.widthOfOne)
  }
  return { steps, width, shortest, longest, widthsOfOne: { sum, greatest } }
}

const repeated = (item: Measure, { min, max }: { readonly min: number; readonly max: number }): Measure => {
  const [copies, splits] = max === Number.POSITIVE_INFINITY ? [min + 1, 1] : [max, max - min]
  return {
    steps: copies * item.steps + splits,
    width: copies * item.width,
    widthOfOne: copies * item.width,
    shortest: min * item.shortest,
    longest: item.longest === 0 ? 0 : max * item.longest,
  }
}
