/** Scans JSON text for the positions of the values within a value, without building any of them. */
import { ACCEPTED, JSON_LIMITS, JsonLimitError } from './json-limits.ts'
import {
  BRACE,
  BRACKET,
  type Budget,
  budgetOf,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  type JsonSpan,
  nameIn,
  skipColon,
  skipComma,
  skipSpace,
  skipString,
  skipValue,
} from './json-skip.ts'

/** A value with its contents: members by name (the last one of a name counts), or elements. */
export interface JsonTree extends JsonSpan {
  /** The offset of the member's name. */
  readonly nameStart?: number
  readonly members?: ReadonlyMap<string, JsonTree>
  readonly elements?: readonly JsonTree[]
}

/**
 * One pass over the value at `from`: its containers are opened down to `levels`, and all positions are offsets in `text`. Throws JsonTextError, and
 * JsonLimitError if an opened object has more members than a request may have.
 */
export const scanTree = (text: string, levels: number, from: number): JsonTree => treeAt(text, levels, from, budgetOf(ACCEPTED))

const treeAt = (text: string, levels: number, from: number, budget: Budget): JsonTree => {
  const first = levels === 0 ? 0 : text.charCodeAt(from)
  if (first === BRACE) return objectTree(text, levels, from, budget)
  if (first === BRACKET) return listTree(text, levels, from, budget)
  return { start: from, end: skipValue(text, from, budget) }
}

/** Answers of providers are bounded like requests: a client could not send more back. */
const MEMBERS_MAX = JSON_LIMITS.members

const objectTree = (text: string, levels: number, start: number, budget: Budget): JsonTree => {
  const members = new Map<string, JsonTree>()
  let at = skipSpace(text, budget, start + 1)
  while (text.charCodeAt(at) !== CLOSING_BRACE) {
    const nameStart = members.size > 0 ? skipComma(text, budget, at) : at
    const nameEnd = skipString(text, nameStart)
    const value = treeAt(text, levels - 1, skipColon(text, budget, nameEnd), budget)
    members.set(nameIn(text, nameStart, nameEnd), { ...value, nameStart })
    // The engine takes seconds for an object of a million members, and that work cannot be divided.
    if (members.size > MEMBERS_MAX) throw new JsonLimitError(`An object has more than ${MEMBERS_MAX} members.`)
    at = skipSpace(text, budget, value.end)
  }
  return { start, end: at + 1, members }
}

const listTree = (text: string, levels: number, start: number, budget: Budget): JsonTree => {
  const elements: JsonTree[] = []
  let at = skipSpace(text, budget, start + 1)
  while (text.charCodeAt(at) !== CLOSING_BRACKET) {
    const element = treeAt(text, levels - 1, elements.length > 0 ? skipComma(text, budget, at) : at, budget)
    elements.push(element)
    at = skipSpace(text, budget, element.end)
  }
  return { start, end: at + 1, elements }
}

/** Yields the elements of the list in `text`, each opened down to `levels` on demand, in one pass over all. Throws JsonTextError. */
export function* treesFrom(text: string, levels: number): Generator<JsonTree, void, undefined> {
  const budget = budgetOf(ACCEPTED)
  let at = skipSpace(text, budget, skipSpace(text, budget, 0) + 1)
  for (let first = true; text.charCodeAt(at) !== CLOSING_BRACKET; first = false) {
    const tree = treeAt(text, levels, first ? at : skipComma(text, budget, at), budget)
    yield tree
    at = skipSpace(text, budget, tree.end)
  }
}
