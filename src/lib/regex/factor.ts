/**
 * Alternatives with a common beginning share it, and alternatives that begin with different characters are told apart by one look at the
 * character: matching a list of thousands of words costs no more than matching a few.
 */
import type { CharSet } from './char-set.ts'
import type { RegexNode } from './parse.ts'

/**
 * Returns a node with the same matches. All matches are reported, whichever alternative comes
 * first, so the order of alternatives does not matter.
 */
export const factor = (node: RegexNode): RegexNode => {
  switch (node.type) {
    case 'sequence':
      return { type: 'sequence', of: node.of.map(factor) }
    case 'repeat':
      return { ...node, of: factor(node.of) }
    case 'choice':
      return merge(node.of.map(branchOf), 0)
    case 'units':
    case 'assert':
    case 'fork':
      return node
  }
}

/** The items of a branch in order, each with a key that is the same for equal items. */
type Branch = readonly { readonly node: RegexNode; readonly key: string }[]

const branchOf = (node: RegexNode): Branch =>
  (node.type === 'sequence' ? node.of : [node]).map((item) => {
    const factored = factor(item)
    return { node: factored, key: factored.type === 'units' ? keyOfSet(factored.set) : JSON.stringify(factored) }
  })

/** The sets of single units are shared objects, so their keys are cached. */
const KEYS = new WeakMap<CharSet, string>()

const keyOfSet = (set: CharSet): string => {
  let key = KEYS.get(set)
  if (key === undefined) KEYS.set(set, (key = set.join()))
  return key
}

/** The branches from item number `from` on; all items before it are the same in all of them. */
const merge = (branches: readonly Branch[], from: number): RegexNode => {
  const alike = Map.groupBy(branches, (branch) => branch[from]?.key ?? END)
  const alternatives = [...alike].map(([key, group]): readonly RegexNode[] => {
    const [first = []] = group
    const nodes = (to?: number): readonly RegexNode[] => first.slice(from, to).map(({ node }) => node)
    if (key === END || group.length === 1) return nodes()
    const end = sharedEnd(group, from + 1)
    return [...nodes(end), merge(group, end)]
  })
  const [only] = alternatives
  return alternatives.length === 1 && only !== undefined ? sequence(only) : tellApart(alternatives)
}

/** No item has this key: even an empty set has the key ''. */
const END = 'end'

const sharedEnd = (branches: readonly Branch[], from: number): number => {
  let end = from
  for (;;) {
    const key = branches[0]?.[end]?.key
    if (key === undefined || branches.some((branch) => branch[end]?.key !== key)) return end
    end += 1
  }
}

/** A larger set is a character class, and classes overlap. */
const APART_MAX = 8

const tellApart = (alternatives: readonly (readonly RegexNode[])[]): RegexNode => {
  const taken = new Set<number>()
  const apart: { readonly set: CharSet; readonly rest: RegexNode }[] = []
  const others: RegexNode[] = []
  for (const items of alternatives) {
    const [head, ...rest] = items
    const units = head?.type === 'units' ? fewUnitsOf(head.set) : null
    if (head?.type !== 'units' || units === null || units.some((unit) => taken.has(unit))) {
      others.push(sequence(items))
      continue
    }
    for (const unit of units) taken.add(unit)
    apart.push({ set: head.set, rest: sequence(rest) })
  }
  if (apart.length < 2) return { type: 'choice', of: alternatives.map(sequence) }
  const fork: RegexNode = { type: 'fork', of: apart }
  return others.length === 0 ? fork : { type: 'choice', of: [fork, ...others] }
}

/** Null if there are more than APART_MAX. */
const fewUnitsOf = (set: CharSet): readonly number[] | null => {
  const count = set.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  return count > APART_MAX ? null : set.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at))
}

const sequence = (items: readonly RegexNode[]): RegexNode => {
  const [only] = items
  return items.length === 1 && only !== undefined ? only : { type: 'sequence', of: items }
}
